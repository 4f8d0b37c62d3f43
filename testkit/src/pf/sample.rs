//! A prefetch file as a test describes it, and its bytes. libyal, *Windows Prefetch File (PF) format*.

/// The versions of the format, of which 30 has two forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PfForm {
    /// Windows XP.
    Seventeen,
    /// Windows 7.
    TwentyThree,
    /// Windows 8.
    TwentySix,
    /// The first versions of Windows 10.
    Thirty,
    /// Later ones.
    ThirtyShorter,
    /// Windows 11.
    ThirtyOne,
}

impl PfForm {
    /// All of them.
    pub const ALL: [PfForm; 6] = [
        PfForm::Seventeen,
        PfForm::TwentyThree,
        PfForm::TwentySix,
        PfForm::Thirty,
        PfForm::ThirtyShorter,
        PfForm::ThirtyOne,
    ];

    /// The number in the header.
    pub fn version(self) -> u32 {
        match self {
            PfForm::Seventeen => 17,
            PfForm::TwentyThree => 23,
            PfForm::TwentySix => 26,
            PfForm::Thirty | PfForm::ThirtyShorter => 30,
            PfForm::ThirtyOne => 31,
        }
    }

    /// Size of what follows the header; places in it of the last times, how many there are, and of
    /// the run count.
    fn information(self) -> (usize, usize, usize, usize) {
        match self {
            PfForm::Seventeen => (68, 36, 1, 60),
            PfForm::TwentyThree => (156, 44, 1, 68),
            PfForm::TwentySix | PfForm::Thirty => (220, 44, 8, 124),
            PfForm::ThirtyShorter | PfForm::ThirtyOne => (212, 44, 8, 116),
        }
    }

    fn has_next(self) -> bool {
        self.version() < 30
    }

    fn volume_bytes(self) -> usize {
        match self.version() {
            17 => 40,
            23 | 26 => 104,
            _ => 96,
        }
    }
}

/// A prefetch file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PfSample {
    /// Its version.
    pub form: PfForm,
    /// Name of the program.
    pub executable: String,
    /// The hash in its name.
    pub hash: u32,
    /// How often the program was launched.
    pub run_count: u32,
    /// FILETIMEs of the last launches. What the version has no room for is left out.
    pub last_runs: Vec<u64>,
    /// The list of files.
    pub files: Vec<PfSampleFile>,
    /// The volumes.
    pub volumes: Vec<PfSampleVolume>,
    /// The further text of version 30 and later.
    pub text: String,
}

/// A listed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PfSampleFile {
    /// Its path.
    pub path: String,
    /// Reference to it; 0 for none. Version 17 has none.
    pub reference: u64,
    /// Where its pages begin, in multiples of 512.
    pub pages: Vec<u64>,
}

/// A volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PfSampleVolume {
    /// Its device.
    pub device_path: String,
    /// Serial number.
    pub serial: u32,
    /// FILETIME of when it was made.
    pub created: u64,
    /// Folders.
    pub directories: Vec<String>,
    /// References to files.
    pub references: Vec<u64>,
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect()
}

fn units(text: &str) -> u32 {
    text.encode_utf16().count() as u32
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

fn put_all(bytes: &mut [u8], at: usize, values: &[u32]) {
    for (place, value) in values.iter().enumerate() {
        put(bytes, at + 4 * place, &value.to_le_bytes());
    }
}

impl PfSample {
    /// The file, not compressed.
    pub fn bytes(&self) -> Vec<u8> {
        let (information, times, most_times, run_count) = self.form.information();
        let start = 84 + information;
        let (entries, names) = self.entries();
        let chains = self.chains();
        let volumes = self.volumes();
        let chains_at = start + entries.len();
        let names_at = chains_at + chains.len();
        let text_at = names_at + names.len();
        let text = if self.form.version() >= 30 { utf16(&self.text) } else { Vec::new() };
        let volumes_at = (text_at + text.len()).next_multiple_of(8);
        let mut bytes = vec![0; start];
        let pages: usize = self.files.iter().map(|file| file.pages.len()).sum();
        put(&mut bytes, 4, b"SCCA");
        put_all(&mut bytes, 0, &[self.form.version()]);
        put_all(&mut bytes, 8, &[17, (volumes_at + volumes.len()) as u32]);
        let executable = utf16(&self.executable);
        put(&mut bytes, 16, &executable[..executable.len().min(60)]);
        put_all(&mut bytes, 76, &[self.hash]);
        put_all(&mut bytes, 84, &[start as u32, self.files.len() as u32, chains_at as u32]);
        put_all(&mut bytes, 96, &[pages as u32, names_at as u32, names.len() as u32]);
        let volume_part = [volumes_at, self.volumes.len(), volumes.len()];
        put_all(&mut bytes, 108, &volume_part.map(|value| value as u32));
        for (place, time) in self.last_runs.iter().take(most_times).enumerate() {
            put(&mut bytes, 84 + times + 8 * place, &time.to_le_bytes());
        }
        put_all(&mut bytes, 84 + run_count, &[self.run_count]);
        if !text.is_empty() {
            put_all(&mut bytes, 84 + run_count + 12, &[text_at as u32, text.len() as u32]);
        }
        bytes.extend([entries, chains, names, text].concat());
        bytes.resize(volumes_at, 0);
        bytes.extend(volumes);
        bytes
    }

    fn entries(&self) -> (Vec<u8>, Vec<u8>) {
        let (mut entries, mut names) = (Vec::new(), Vec::new());
        let mut first = 0;
        for file in &self.files {
            let (pages, at) = (file.pages.len() as u32, names.len() as u32);
            let numbers = match self.form {
                PfForm::Seventeen => vec![first, pages, at, units(&file.path), 2],
                _ => vec![first, pages, pages, at, units(&file.path), 0x200],
            };
            entries.extend(numbers.into_iter().flat_map(u32::to_le_bytes));
            if self.form != PfForm::Seventeen {
                entries.extend(file.reference.to_le_bytes());
            }
            names.extend(utf16(&file.path));
            first += pages;
        }
        (entries, names)
    }

    fn chains(&self) -> Vec<u8> {
        let mut chains = Vec::new();
        let mut next = 0_u32;
        for file in &self.files {
            for (place, page) in file.pages.iter().enumerate() {
                next += 1;
                let is_last = place + 1 == file.pages.len();
                if self.form.has_next() {
                    chains.extend((if is_last { u32::MAX } else { next }).to_le_bytes());
                }
                let unit = if self.form == PfForm::Seventeen { 1 } else { 512 };
                chains.extend(((page / unit) as u32).to_le_bytes());
                chains.extend([2, 1, 0xff, 0xff]);
            }
        }
        chains
    }

    fn volumes(&self) -> Vec<u8> {
        let entry = self.form.volume_bytes();
        let mut bytes = vec![0; entry * self.volumes.len()];
        for (place, volume) in self.volumes.iter().enumerate() {
            let path_at = bytes.len();
            bytes.extend(utf16(&volume.device_path));
            bytes.resize(bytes.len().next_multiple_of(8), 0);
            let references_at = bytes.len();
            let version: u32 = if self.form == PfForm::Seventeen { 1 } else { 3 };
            bytes.extend(version.to_le_bytes());
            bytes.extend((volume.references.len() as u32).to_le_bytes());
            bytes.resize(bytes.len() + if version == 3 { 8 } else { 0 }, 0);
            bytes.extend(volume.references.iter().flat_map(|reference| reference.to_le_bytes()));
            let directories_at = bytes.len();
            for directory in &volume.directories {
                bytes.extend((units(directory) as u16).to_le_bytes());
                bytes.extend(utf16(directory));
            }
            let at = entry * place;
            put_all(&mut bytes, at, &[path_at as u32, units(&volume.device_path)]);
            put(&mut bytes, at + 8, &volume.created.to_le_bytes());
            let rest = [references_at, directories_at - references_at, directories_at];
            let rest = rest.map(|value| value as u32);
            let directories = volume.directories.len() as u32;
            put_all(&mut bytes, at + 16, &[volume.serial, rest[0], rest[1], rest[2], directories]);
        }
        bytes
    }
}

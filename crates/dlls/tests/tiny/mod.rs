//! Small PE images made to measure, for tests. Each test uses a part.
#![allow(dead_code)]

use image::pe::{DataDirectory, Headers, Pe, PeFile, SectionHeader, spec};
use model::{FileOffset, Rva, Va};
use std::path::PathBuf;

/// A PE image with exports and imports.
#[derive(Clone, Debug)]
pub struct Tiny {
    pub wide: bool,
    pub machine: u16,
    pub base: u64,
    pub time_stamp: u32,
    pub dll_characteristics: u16,
    pub first_ordinal: u32,
    pub exports: Vec<(Option<&'static str>, Option<&'static str>)>,
    /// Keeps the names in the order given instead of sorting them.
    pub unsorted: bool,
    pub imports: Vec<(&'static str, Vec<Want>)>,
    pub delayed: Vec<(&'static str, Vec<Want>)>,
    /// Leaves the lookup tables out.
    pub without_lookups: bool,
    /// `SizeOfHeaders` and the section's place in the file.
    pub header_bytes: u32,
    pub checksum: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum Want {
    Name(&'static str, u16),
    Ordinal(u16),
}

impl Default for Tiny {
    fn default() -> Tiny {
        Tiny {
            wide: true,
            machine: 0x8664,
            base: 0x1_8000_0000,
            time_stamp: 0x1234_5678,
            dll_characteristics: 0x100,
            first_ordinal: 1,
            exports: Vec::new(),
            unsorted: false,
            imports: Vec::new(),
            delayed: Vec::new(),
            without_lookups: false,
            header_bytes: 0x400,
            checksum: true,
        }
    }
}

/// Address of the only section.
const SECTION: u32 = 0x1000;

struct Out {
    bytes: Vec<u8>,
}

impl Out {
    fn here(&self) -> u32 {
        SECTION + self.bytes.len() as u32
    }

    fn u16(&mut self, value: u16) {
        self.bytes.extend(value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.bytes.extend(value.to_le_bytes());
    }

    fn text(&mut self, text: &str) -> u32 {
        let at = self.here();
        self.bytes.extend(text.as_bytes());
        self.bytes.push(0);
        at
    }

    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
    }

    fn pointer(&mut self, wide: bool, value: u64) {
        let bytes = value.to_le_bytes();
        self.bytes.extend(&bytes[..if wide { 8 } else { 4 }]);
    }
}

impl Tiny {
    pub fn dll(exports: &[(Option<&'static str>, Option<&'static str>)]) -> Tiny {
        Tiny { exports: exports.to_vec(), ..Tiny::default() }
    }

    pub fn importing(imports: &[(&'static str, Vec<Want>)]) -> Tiny {
        Tiny { imports: imports.to_vec(), ..Tiny::default() }
    }

    pub fn bytes(&self) -> Vec<u8> {
        // A byte of code for each export.
        let mut out = Out { bytes: vec![0xcc; self.exports.len().max(64)] };
        let export = self.export_table(&mut out);
        let import = self.import_table(&mut out);
        let delay = self.delay_table(&mut out);
        out.bytes.resize(out.bytes.len().next_multiple_of(512), 0);
        let directories =
            [(spec::EXPORT, export), (spec::IMPORT, import), (spec::DELAY_IMPORT, delay)];
        let mut file = self.headers(out.bytes.len() as u32, directories);
        file.resize(self.header_bytes as usize, 0);
        file.extend(out.bytes);
        if self.checksum {
            let pe = Pe::parse("tiny", &file).expect("a PE file");
            let (at, sum) = (pe.headers().checksum_offset().index(), pe.computed_checksum());
            file[at..at + 4].copy_from_slice(&sum.to_le_bytes());
        }
        file
    }

    fn export_table(&self, out: &mut Out) -> DataDirectory {
        if self.exports.is_empty() {
            return DataDirectory::EMPTY;
        }
        out.align();
        let start = out.here();
        let mut named: Vec<(usize, &str)> = self
            .exports
            .iter()
            .enumerate()
            .filter_map(|(index, (name, _))| Some((index, (*name)?)))
            .collect();
        if !self.unsorted {
            named.sort_by_key(|(_, name)| name.as_bytes());
        }
        let (functions, names) = (self.exports.len() as u32, named.len() as u32);
        let tables = start + 40;
        for field in [0, 0, 0, 0, self.first_ordinal, functions, names] {
            out.u32(field);
        }
        for at in [tables, tables + 4 * functions, tables + 4 * (functions + names)] {
            out.u32(at);
        }
        let strings = tables + 4 * functions + 6 * names;
        let mut texts = Out { bytes: Vec::new() };
        let mut text = |text: &str| strings + (texts.text(text) - SECTION);
        for (index, (_, forwarder)) in self.exports.iter().enumerate() {
            let target = forwarder.map_or(SECTION + index as u32, &mut text);
            out.u32(target);
        }
        for (_, name) in &named {
            let at = text(name);
            out.u32(at);
        }
        for (index, _) in &named {
            out.u16(*index as u16);
        }
        out.bytes.extend(texts.bytes);
        DataDirectory { rva: Rva(start), size: out.here() - start }
    }

    fn thunks(&self, out: &mut Out, wants: &[Want]) -> Vec<u64> {
        let highest = if self.wide { 1 << 63 } else { 1 << 31 };
        let thunk = |want: &Want| match want {
            Want::Ordinal(ordinal) => highest | u64::from(*ordinal),
            Want::Name(name, hint) => {
                out.bytes.resize(out.bytes.len().next_multiple_of(2), 0);
                let at = out.here();
                out.u16(*hint);
                out.text(name);
                at.into()
            }
        };
        let mut thunks: Vec<u64> = wants.iter().map(thunk).collect();
        thunks.push(0);
        thunks
    }

    fn table(&self, out: &mut Out, thunks: &[u64]) -> u32 {
        out.align();
        let at = out.here();
        thunks.iter().for_each(|thunk| out.pointer(self.wide, *thunk));
        at
    }

    fn import_table(&self, out: &mut Out) -> DataDirectory {
        let mut descriptors = Vec::new();
        for (dll, wants) in &self.imports {
            let name = out.text(dll);
            let thunks = self.thunks(out, wants);
            let lookups = if self.without_lookups { 0 } else { self.table(out, &thunks) };
            descriptors.push([lookups, 0, 0, name, self.table(out, &thunks)]);
        }
        directory(out, &descriptors)
    }

    fn delay_table(&self, out: &mut Out) -> DataDirectory {
        let mut descriptors = Vec::new();
        for (dll, wants) in &self.delayed {
            let name = out.text(dll);
            let thunks = self.thunks(out, wants);
            let lookups = self.table(out, &thunks);
            let stubs: Vec<u64> = thunks
                .iter()
                .map(|thunk| if *thunk == 0 { 0 } else { self.base + u64::from(SECTION) })
                .collect();
            let module = self.table(out, &[0]);
            descriptors.push([1, name, module, self.table(out, &stubs), lookups, 0, 0, 0]);
        }
        directory(out, &descriptors)
    }

    fn headers(&self, section: u32, directories: [(usize, DataDirectory); 3]) -> Vec<u8> {
        let mut headers = Headers::new(self.machine, self.wide);
        headers.characteristics = 0x2022;
        headers.time_stamp = self.time_stamp;
        headers.base = Va(self.base);
        headers.image_bytes = SECTION + section.next_multiple_of(0x1000);
        headers.header_bytes = self.header_bytes;
        headers.dll_characteristics = self.dll_characteristics;
        for (index, directory) in directories {
            headers.directories[index] = directory;
        }
        headers.sections.push(SectionHeader {
            name: *b".all\0\0\0\0",
            rva: Rva(SECTION),
            memory_bytes: section,
            offset: FileOffset(self.header_bytes.into()),
            file_bytes: section,
            flags: 0xe000_0060,
        });
        headers.bytes()
    }
}

fn directory<const N: usize>(out: &mut Out, descriptors: &[[u32; N]]) -> DataDirectory {
    if descriptors.is_empty() {
        return DataDirectory::EMPTY;
    }
    out.align();
    let start = out.here();
    let end = [0; N];
    for field in descriptors.iter().chain([&end]).flatten() {
        out.u32(*field);
    }
    DataDirectory { rva: Rva(start), size: out.here() - start }
}

/// Images under their paths, as a set reads them.
#[derive(Clone)]
pub struct Made(pub Vec<(PathBuf, Vec<u8>)>);

impl std::fmt::Debug for Made {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|(path, bytes)| write!(out, "{path:?}: {} bytes; ", bytes.len()))
    }
}

impl Made {
    pub fn of(images: &[(&str, &Tiny)]) -> Made {
        Made(images.iter().map(|(path, image)| (PathBuf::from(path), image.bytes())).collect())
    }

    pub fn set(&self) -> dlls::Set<'_> {
        dlls::Set::of(
            self.0.iter().map(|(path, bytes)| {
                (path.as_path(), Pe::parse("made", bytes).expect("a PE file"))
            }),
        )
    }

    /// The same with other bytes for one of the images.
    pub fn with(&self, index: usize, bytes: Vec<u8>) -> Made {
        let mut made = Made(self.0.clone());
        made.0[index].1 = bytes;
        made
    }
}

/// All PE files of Wine, where it is installed.
pub fn wine_files() -> Option<Vec<PathBuf>> {
    let libraries = testkit::pe::libraries()?;
    let mut files: Vec<PathBuf> = std::fs::read_dir(libraries)
        .expect("a folder")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| PeFile::open(path).is_ok())
        .collect();
    files.sort();
    Some(files)
}

//! What Windows' prefetch files (`.pf`, SCCA) say of the launches of a program.

use serde::{Deserialize, Serialize};

/// What one prefetch file says.
///
/// Times are UTC as `2013-03-10T10:11:49.2812500Z`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PfFacts {
    /// The file, as it was named.
    pub path: String,
    /// Tells these facts from those of images.
    pub format: PfFormat,
    /// Version of the format: 17, 23, 26, 30 or 31.
    pub version: u32,
    /// The versions of Windows that write it.
    pub windows: String,
    /// Size of the file.
    pub file_bytes: u64,
    /// Size of its content where that is compressed (MAM).
    pub content_bytes: Option<u64>,
    /// Name of the program, of which 29 characters are kept.
    pub executable: String,
    /// The hash in the file's name, in eight hexadecimal digits.
    pub hash: String,
    /// The device path from which that hash follows, where a listed file leads to one.
    pub hashed_path: Option<String>,
    /// Whether the system's own start is recorded and no program's.
    pub boot: bool,
    /// How often the program was launched.
    pub run_count: u32,
    /// When it was launched last, the latest first: one time in versions 17 and 23, later up to 8.
    pub last_runs: Vec<String>,
    /// The files that the launches read, in the file's order.
    pub files: Vec<PfListedFile>,
    /// The volumes that these are on.
    pub volumes: Vec<PfVolume>,
    /// A text that many files of versions 30 and 31 have: as far as known, what is hashed.
    pub text: Option<String>,
    /// Parts of the file that contradict its format; what was read is still reported.
    pub problems: Vec<String>,
}

/// The one format of [`PfFacts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PfFormat {
    /// Windows' prefetch file.
    #[default]
    Prefetch,
}

/// A file that the launches read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PfListedFile {
    /// Its path below a device or a volume.
    pub path: String,
    /// Which file of the volume that was, where the prefetch file tells.
    pub reference: Option<PfReference>,
    /// Where in the file the pages begin that are read ahead (its trace chain), in bytes, ascending.
    pub pages: Vec<u64>,
}

/// A file of an NTFS volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PfReference {
    /// Entry of the master file table.
    pub entry: u64,
    /// How often that entry was used; 0 where that is not told.
    pub sequence: u16,
}

/// A volume that listed files are on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PfVolume {
    /// `\DEVICE\HARDDISKVOLUME2`, or `\VOLUME{…}`.
    pub device_path: String,
    /// Serial number, in eight hexadecimal digits.
    pub serial: String,
    /// When it was made.
    pub created: Option<String>,
    /// Folders that were looked into.
    pub directories: Vec<String>,
    /// Files that were opened.
    pub references: Vec<PfReference>,
}

impl PfFacts {
    /// Pages of all files.
    pub fn pages(&self) -> u64 {
        self.files.iter().map(|file| file.pages.len() as u64).sum()
    }
}

/// Version of the JSON of [`PredictedPfNames`].
pub const PF_NAMES_SCHEMA: u32 = 1;

/// What Windows calls the prefetch file of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PredictedPfNames {
    /// Version of this structure.
    pub schema: u32,
    /// Version of headstart.
    pub headstart: String,
    /// The program, as it was given.
    pub path: String,
    /// The names, for each volume that the program may be on.
    pub names: Vec<PredictedPfName>,
    /// What else decides on the name.
    pub notes: Vec<String>,
}

/// A name, and what it follows from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PredictedPfName {
    /// The versions of Windows that give it.
    pub windows: String,
    /// `NOTEPAD.EXE-D8414F97.pf`.
    pub name: String,
    /// The path that is hashed.
    pub device_path: String,
}

//! The data of a launcher, as it lies in its file and in its memory. Launchers have the same code, so
//! it uses nothing but `core`.
//!
//! All numbers are little-endian; places are offsets from the beginning of the data. Strings end with
//! NUL, and so does the data, so every place in it begins a string.
//!
//! | at | what |
//! |---|---|
//! | 0 | [`MAGIC`] |
//! | 8 | places of: the text, the program; then place and count of: arguments, plans |
//!
//! | a plan | place and count of |
//! |---|---|
//! | 0 | words of its class, a place each; [`ANY_CLASS`] of them: any |
//! | 8 | files: place of the path as `u32`, 4 bytes, size as `u64`, time of the last change as `i64` |
//! | 16 | requests: file and length as `u32`, offset as `u64` |
//! | 24 | paths that are looked up, a place each |
//! | 32 | samples: file as `u32`, 4 bytes, offset as `u64` |
//! | 40 | 1 where the requests are made one after the other; bytes of all requests, in KiB |

/// What the data begins with.
pub const MAGIC: &[u8; 8] = b"HSAHEAD1";
/// Count of words of a class that every launch belongs to.
pub const ANY_CLASS: u32 = u32::MAX;
/// Size of a plan.
pub const PLAN_BYTES: usize = 48;
/// Size of a file.
pub const FILE_BYTES: usize = 24;
/// Size of a request, and of a sample.
pub const REQUEST_BYTES: usize = 16;
/// Size of a place.
pub const PLACE_BYTES: usize = 4;

/// The data of a launcher.
#[derive(Clone, Copy, Debug)]
pub struct Data<'a>(pub &'a [u8]);

/// Things of one size, one behind the other.
#[derive(Clone, Copy, Debug)]
pub struct List {
    at: usize,
    count: u32,
    size: usize,
}

impl List {
    /// How many there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Where the thing with this index is, if there is one.
    pub fn at(&self, index: u32) -> Option<usize> {
        (index < self.count).then(|| self.at.wrapping_add(self.size.wrapping_mul(index as usize)))
    }

    /// Where all of them are.
    pub fn places(self) -> impl Iterator<Item = usize> {
        (0..self.count).filter_map(move |index| self.at(index))
    }
}

/// A plan in the data.
#[derive(Clone, Copy, Debug)]
pub struct PlanEntry {
    /// Words of its class.
    pub class: List,
    /// Its files.
    pub files: List,
    /// What is asked for.
    pub requests: List,
    /// What is looked up.
    pub looked_up: List,
    /// What is looked at.
    pub samples: List,
    /// Whether the requests are made one after the other.
    pub one_by_one: bool,
    /// Of all requests.
    pub kib: u64,
}

/// A file of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Place of its path.
    pub path: usize,
    /// Its size.
    pub size_bytes: u64,
    /// When it was changed last, since 1970.
    pub modified_ns: i64,
}

/// A part of a file, or a place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartEntry {
    /// Index of the file.
    pub file: u32,
    /// How long it is.
    pub bytes: u32,
    /// Where it begins.
    pub offset: u64,
}

impl<'a> Data<'a> {
    /// The number at this place; 0 outside.
    pub fn u32(self, at: usize) -> u32 {
        let bytes = self.0.get(at..).and_then(<[u8]>::first_chunk);
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    fn u64(self, at: usize) -> u64 {
        let bytes = self.0.get(at..).and_then(<[u8]>::first_chunk);
        bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    fn list(self, at: usize, size: usize) -> List {
        List { at: self.u32(at) as usize, count: self.u32(at.wrapping_add(4)), size }
    }

    /// The string at this place, without its NUL.
    pub fn string(self, at: usize) -> &'a [u8] {
        let bytes = self.0.get(at..).unwrap_or_default();
        bytes.split(|byte| *byte == 0).next().unwrap_or_default()
    }

    /// Whether this is the data of a launcher.
    pub fn is_whole(self) -> bool {
        self.0.starts_with(MAGIC) && self.0.ends_with(b"\0")
    }

    /// Place of the text for people and for headstart.
    pub fn text(self) -> usize {
        self.u32(8) as usize
    }

    /// Place of the program's path.
    pub fn program(self) -> usize {
        self.u32(12) as usize
    }

    /// Places of places of arguments.
    pub fn arguments(self) -> List {
        self.list(16, PLACE_BYTES)
    }

    /// Places of plans.
    pub fn plans(self) -> List {
        self.list(24, PLAN_BYTES)
    }

    /// The plan at this place.
    pub fn plan(self, at: usize) -> PlanEntry {
        let list = |offset: usize, size| self.list(at.wrapping_add(offset), size);
        PlanEntry {
            class: list(0, PLACE_BYTES),
            files: list(8, FILE_BYTES),
            requests: list(16, REQUEST_BYTES),
            looked_up: list(24, PLACE_BYTES),
            samples: list(32, REQUEST_BYTES),
            one_by_one: self.u32(at.wrapping_add(40)) != 0,
            kib: self.u32(at.wrapping_add(44)).into(),
        }
    }

    /// The file at this place.
    pub fn file(self, at: usize) -> FileEntry {
        FileEntry {
            path: self.u32(at) as usize,
            size_bytes: self.u64(at.wrapping_add(8)),
            modified_ns: self.u64(at.wrapping_add(16)).cast_signed(),
        }
    }

    /// The request or sample at this place.
    pub fn part(self, at: usize) -> PartEntry {
        PartEntry {
            file: self.u32(at),
            bytes: self.u32(at.wrapping_add(4)),
            offset: self.u64(at.wrapping_add(8)),
        }
    }
}

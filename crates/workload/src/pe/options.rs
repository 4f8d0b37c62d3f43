//! Choices that only PE images have.

/// Choices that only PE images have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeOptions {
    /// Preferred bases of the libraries.
    pub bases: Bases,
    /// Hints of imports by name.
    pub hints: Hints,
    /// `TimeDateStamp` of every image, in seconds since 1970.
    pub timestamp: u32,
    /// Computes `CheckSum`; zero otherwise.
    pub checksum: bool,
    /// `FileAlignment`: 512, 1024, 2048 or 4096 bytes.
    pub file_alignment: u32,
    /// Sets `DYNAMIC_BASE` on the libraries.
    pub dynamic_base: bool,
    /// What the functions' identities are derived from.
    pub seed: u64,
}

/// Preferred bases of libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bases {
    /// The linker's default: all of them collide.
    Default,
    /// None overlaps another.
    Chosen,
}

/// Hints of imports by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hints {
    /// The export's position among the names.
    Right,
    /// Zero, as lld writes them.
    Zero,
}

impl Default for PeOptions {
    /// As a linker of 2000 left its images: colliding bases, right hints, sections of 512 bytes.
    /// The checksum is there because Wine compares all pairs of libraries that share their time
    /// stamp and have none.
    fn default() -> PeOptions {
        PeOptions {
            bases: Bases::Default,
            hints: Hints::Right,
            timestamp: 0x38f0_e0c1,
            checksum: true,
            file_alignment: 512,
            dynamic_base: false,
            seed: 1,
        }
    }
}

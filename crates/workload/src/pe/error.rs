/// Why a workload has no PE images. Nothing has been written when one of these is given.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PeError {
    /// Ordinals and hints are 16 bits wide.
    #[error(
        "{file}: {functions} functions, but ordinals and hints of a PE library end at {limit}; \
         ask for fewer functions and more libraries"
    )]
    Functions {
        /// The library.
        file: String,
        /// Functions asked for.
        functions: u32,
        /// The most there can be.
        limit: u32,
    },
    /// Addresses within an image are signed 32-bit distances.
    #[error(
        "{file} would take {} bytes, but a PE image ends at 2 GiB ({limit} bytes); ask for less",
        at_least(*bytes)
    )]
    Image {
        /// The image.
        file: String,
        /// Bytes of the image or of the file, as far as they were counted; `u64::MAX` for more
        /// than can be.
        bytes: u64,
        /// The most there can be.
        limit: u64,
    },
    /// Bases that do not overlap need room for all libraries at once.
    #[error(
        "{file} would end at address {end:#x}, but the libraries of a process have room up to \
         {limit:#x}; ask for fewer libraries, or for default bases"
    )]
    AddressSpace {
        /// The last library.
        file: String,
        /// Where it would end.
        end: u64,
        /// Where the room ends.
        limit: u64,
    },
    /// `FileAlignment` is a power of two that divides the section alignment of 4096.
    #[error("a file alignment of {found}, which is none of 512, 1024, 2048 and 4096; take one")]
    FileAlignment {
        /// The value asked for.
        found: u32,
    },
    /// Images that the loader places where it likes do not collide.
    #[error(
        "default bases are there to collide, and with DYNAMIC_BASE the loader places every \
         library elsewhere; take chosen bases, or leave DYNAMIC_BASE off"
    )]
    DynamicBase,
    /// An entry is an address, and at most one byte of flags is defined.
    #[error("{file}: Guard CF entries of {found} bytes; take 4, or 5 with a byte of flags")]
    GuardEntry {
        /// The program.
        file: String,
        /// The size asked for.
        found: u32,
    },
    /// The workload has fewer files.
    #[error("file {index} of a workload that has {count} files; count from 0")]
    NoSuchFile {
        /// The index asked for.
        index: u32,
        /// Files there are.
        count: u64,
    },
}

/// Sizes are added up to the largest number and no further.
fn at_least(bytes: u64) -> String {
    if bytes == u64::MAX { "more than 2^64".to_owned() } else { bytes.to_string() }
}

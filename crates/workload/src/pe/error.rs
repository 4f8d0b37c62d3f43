//! Why a workload has no PE images.

use model::Va;

/// Why a workload has no PE images. Nothing has been written when one of these is given.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PeWorkloadError {
    /// Ordinals and hints are 16 bits wide.
    #[error(
        "{file}: {functions} functions, but ordinals and hints of a DLL end at {limit}; use fewer \
         functions and more libraries"
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
        "{file} would have {} bytes, but a PE image has at most 2 GiB ({limit} bytes); use a \
         smaller workload",
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
        "{file} would end at address {end:#x}, but the libraries of a process must end below \
         {limit:#x}; use fewer libraries, or default bases"
    )]
    AddressSpace {
        /// The last library.
        file: String,
        /// Where it would end.
        end: Va,
        /// Where the room ends.
        limit: Va,
    },
    /// `FileAlignment` is a power of two that divides the section alignment of 4096.
    #[error("the file alignment is {found}; use 512, 1024, 2048 or 4096")]
    FileAlignment {
        /// The value asked for.
        found: u32,
    },
    /// Images that the loader places where it likes do not collide.
    #[error(
        "default bases are meant to collide, but with DYNAMIC_BASE the loader ignores them; use \
         chosen bases, or leave DYNAMIC_BASE off"
    )]
    DynamicBase,
    /// An entry is an address, and at most one byte of flags is defined.
    #[error("{file}: Guard CF entries of {found} bytes; use 4, or 5 to include a byte of flags")]
    GuardEntry {
        /// The program.
        file: String,
        /// The size asked for.
        found: u32,
    },
    /// The workload has fewer files.
    #[error("file {index} of a workload with {count} files; indexes start at 0")]
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

//! Windows' prefetch files (`.pf`, SCCA): which pages of which files the launches of a program read,
//! how often and when it was launched.
//!
//! Versions 17 (Windows XP) to 31 (Windows 11) are read, those of Windows 10 and 11 out of their
//! compression (MAM). Microsoft does not document the format; libyal's *Windows Prefetch File (PF)
//! format* does. What is said here of the pages is not in it: the second number of a trace chain's
//! entry is a place in the file, in bytes until version 17 and in units of 512 bytes since then.
//!
//! Nothing in a file is trusted. What takes memory is counted against the size of the content,
//! because no valid file says anything twice.

mod fields;
mod files;
mod hash;
mod mam;
mod name;
mod problem;
mod program;
mod read;
mod time;
mod version;
mod volumes;
mod xpress;

pub use hash::PfHash;
pub use name::{PfHost, PfName, PfNameProblem, device_path, host, name_of, names_device};
pub use problem::{PfError, PfProblem};
pub use read::{MOST_FILE_BYTES, begins_as_one, read, read_bytes};

#[cfg(test)]
mod tests;

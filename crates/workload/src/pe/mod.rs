//! Workloads as PE images, emitted byte by byte.
//!
//! Source of every structure: *PE Format*, Microsoft's specification of PE/COFF images
//! (learn.microsoft.com/windows/win32/debug/pe-format), by its section names: *Optional Header*,
//! *Section Table*, *The .edata Section*, *The .idata Section*, *The .reloc Section*, *The Load
//! Configuration Structure*. `IMAGE_LOAD_CONFIG_DIRECTORY64` and the flags of Guard CF are those
//! of the Windows SDK's `winnt.h`.
//!
//! Sizes are known and checked against the format before the first byte is written; an image is
//! one allocation of its final size.

mod code;
pub mod dawson;
mod error;
mod exports;
mod headers;
mod imports;
mod layout;
mod library;
mod load_config;
pub mod load_records;
pub mod loads;
mod machine;
mod names;
mod notices;
mod options;
pub mod pietrek;
mod program;
mod relocations;

pub use error::PeWorkloadError;
pub use options::{Bases, Hints, PeOptions};

use crate::{Arch, Dawson, Files, Pietrek, Unsupported, WorkloadError};

/// The images of a Pietrek workload.
///
/// # Errors
/// A size beyond the format, or options that contradict each other.
pub(crate) fn pietrek(asked: &Pietrek) -> Result<Files, WorkloadError> {
    pietrek::check(asked)?;
    let mut files = Files::new(names::PROGRAM, pietrek::counts(asked));
    // The program comes last.
    for index in (1..=asked.dlls).chain([0]) {
        let asked = asked.clone();
        let name = if index == 0 { names::PROGRAM.to_owned() } else { names::library(index) };
        files.try_add(name, true, move || Ok(pietrek::file(&asked, index)?.1));
    }
    Ok(files)
}

/// The image of a Dawson workload.
///
/// # Errors
/// As [`pietrek`].
pub(crate) fn dawson(asked: &Dawson) -> Result<Files, WorkloadError> {
    if asked.arch != Arch::X86_64 {
        return Err(Unsupported::DawsonProcessor.into());
    }
    dawson::check(asked)?;
    let mut files = Files::new(dawson::PROGRAM, dawson::counts(asked));
    let asked = asked.clone();
    files.try_add(dawson::PROGRAM, true, move || Ok(dawson::file(&asked)?.1));
    Ok(files)
}

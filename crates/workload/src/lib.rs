//! Synthetic programs of any size, emitted as finished images: no compiler, no linker, the same
//! bytes every time.
//!
//! [`generate`] gives [`Files`] that are made while they are written; [`source`] gives the same
//! programs as C sources and a build script.

mod dawson;
mod elf;
mod error;
mod files;
mod limits;
pub mod pe;
mod pietrek;
mod shape;
mod source;

pub use dawson::Dawson;
pub use error::{Size, Unsupported, WorkloadError};
pub use files::{Counts, Files, Written};
pub use model::Format;
pub use pe::{Bases, Hints, PeOptions};
pub use pietrek::{By, Pietrek};
pub use shape::{Kind, Shape};

/// Processor of the images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arch {
    /// 64-bit x86.
    #[default]
    X86_64,
    /// 32-bit x86; PE only.
    I686,
}

/// What to generate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Many libraries with many functions.
    Pietrek(Pietrek),
    /// Many classes with many virtual functions.
    Dawson(Dawson),
    /// A form of dependencies.
    Shape(Shape),
}

/// The images of a workload. Nothing is written yet.
///
/// # Errors
/// The sizes do not fit into the format, or the format cannot express what is asked for.
pub fn generate(workload: &Workload) -> Result<Files, WorkloadError> {
    match workload {
        Workload::Pietrek(pietrek) => match pietrek.format {
            Format::Elf => elf::pietrek(pietrek),
            Format::Pe => pe::pietrek(pietrek),
        },
        Workload::Dawson(dawson) => match dawson.format {
            Format::Elf => elf::dawson(dawson),
            Format::Pe => pe::dawson(dawson),
        },
        Workload::Shape(shape) => elf::shape(shape),
    }
}

/// Equivalent C sources and a `build.sh` for gcc. Nothing is written yet.
///
/// # Errors
/// As [`generate`]; and sources are there for ELF only.
pub fn source(workload: &Workload) -> Result<Files, WorkloadError> {
    let format = match workload {
        Workload::Pietrek(pietrek) => pietrek.format,
        Workload::Dawson(dawson) => dawson.format,
        Workload::Shape(_) => Format::Elf,
    };
    if format == Format::Pe {
        return Err(Unsupported::SourceOfPe.into());
    }
    // What cannot be emitted is not written as a source either.
    let images = generate(workload)?;
    Ok(match workload {
        Workload::Pietrek(pietrek) => source::pietrek(pietrek, images.counts()),
        Workload::Dawson(dawson) => source::dawson(dawson, images.counts()),
        Workload::Shape(shape) => source::shape(shape, images.counts()),
    })
}

//! ELF files as GNU readelf and llvm-readobj read them.

mod compare;
pub mod readelf;
pub mod readobj;

pub use compare::compare;

//! PE files as llvm-readobj reads them, and any reader that states the same facts.

mod compare;
mod facts;
pub mod readobj;

pub use compare::compare;
pub use facts::Oracle;

//! Whether the result does what the original does, and whether it is still made of what is there.

pub mod kept_files;
pub mod original;
pub(crate) mod simulation;
pub mod sources;

//! The folder that the best variant is kept in, and whether it is still right later.

mod current;
mod folder;

pub use current::{FolderVerification, NextStep, verify};
pub use folder::{ResultFolder, original};

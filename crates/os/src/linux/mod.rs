pub mod clock;
mod error;
pub mod interrupt;
pub mod launcher;
pub mod processes;
pub mod program;
pub mod spawn;

pub use error::LaunchError;

pub mod clock;
mod error;
pub mod program;
pub mod spawn;
pub use error::LaunchError;

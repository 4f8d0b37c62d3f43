pub mod attend;
pub mod clock;
mod error;
pub mod loader_log;
pub mod program;
pub mod spawn;
pub use error::LaunchError;

pub mod clock;
pub mod cpuid;
mod error;
pub mod program;
pub mod spawn;
pub mod trace;
pub use error::LaunchError;

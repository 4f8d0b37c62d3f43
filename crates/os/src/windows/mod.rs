//! What headstart needs of Windows.

pub mod checks;
pub mod clock;
mod debug;
pub mod dll_search;
pub mod host;
pub mod interrupt;
pub mod launcher;
pub mod library_loads;
pub mod program;
mod stream;
mod system_file;
pub mod trace;
mod under_wine;

use crate::LaunchError;
pub use stream::Stream;

//! What hosts do differently.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::{is_root, link, make_executable};
#[cfg(windows)]
pub use windows::{is_root, link, make_executable};

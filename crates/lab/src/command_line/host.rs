//! What is a word to the host.

#[cfg(unix)]
mod posix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use posix::{SHELL, quoted, words_of};
#[cfg(windows)]
pub use windows::{SHELL, quoted, words_of};

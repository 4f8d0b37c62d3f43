//! The recorder library, for programs that are built anew with calls at the start of functions.
//!
//! It is shipped as source: what compiles the program compiles it, too, and its trace is read by
//! [`openoffice`](super::openoffice).

/// The source in C, with instructions at its beginning.
pub const SOURCE: &str = include_str!("../../recorder/headstart_recorder.c");

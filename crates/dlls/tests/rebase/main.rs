//! Images moved to other bases, held against a loader that is written as the specification reads.
#![allow(clippy::unwrap_used)]

mod arbitrary;
mod compiled;
mod emitted;
mod hostile;
mod loader;
mod set;
mod wine_dlls;

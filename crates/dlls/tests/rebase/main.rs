//! Images moved to other bases, held against a loader that is written as the specification reads.
#![allow(clippy::unwrap_used)]

mod arbitrary;
mod compiled;
mod emitted;
mod hostile;
mod loader;
mod set;
mod wine_dlls;

use dlls::Refusal;
use dlls::rebase::{RebaseOptions, Rebased};

/// Moves an image to a base that is given as a number.
fn rebase(
    path: &str,
    file: Vec<u8>,
    base: u64,
    options: RebaseOptions,
) -> Result<Rebased, Refusal> {
    dlls::rebase::rebase(path, file, model::Va(base), options)
}

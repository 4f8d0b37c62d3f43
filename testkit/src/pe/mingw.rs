//! mingw-w64's gcc, with its C library and start-up code.

use super::Machine;
use std::path::{Path, PathBuf};

/// Builds a DLL (with `-shared`) or program by gcc and GNU ld; `None`, after a loud line, where
/// they are missing.
///
/// # Panics
/// With gcc's messages where it fails, and for other machines than the two of x86.
pub fn mingw(
    folder: &Path,
    machine: Machine,
    name: &str,
    source: &str,
    flags: &[&str],
) -> Option<PathBuf> {
    let gcc = match machine {
        Machine::X86_64 => "x86_64-w64-mingw32-gcc",
        Machine::I686 => "i686-w64-mingw32-gcc",
        other => panic!("mingw-w64 is not packaged for {other:?}"),
    };
    built(gcc, folder, name, source, flags)
}

/// Builds an x86-64 program of C++, which holds its C++ library; `None`, after a loud line, where the compiler is
/// missing.
///
/// # Panics
/// With the compiler's messages where it fails.
pub fn mingw_cpp(folder: &Path, name: &str, source: &str, flags: &[&str]) -> Option<PathBuf> {
    built("x86_64-w64-mingw32-g++", folder, name, source, &[flags, &["-static"]].concat())
}

fn built(
    compiler: &str,
    folder: &Path,
    name: &str,
    source: &str,
    flags: &[&str],
) -> Option<PathBuf> {
    let compiler = crate::tool(compiler)?;
    // No day of building in the image.
    let flags = [flags, &["-Wl,--no-insert-timestamp"]].concat();
    Some(crate::compile(&compiler, folder, name, source, &flags))
}

//! Pieces of build files that make a build use an order file: a section for each function, the
//! linker, the file, and another link when the file changes.

mod cargo;
mod cmake;
mod make;
mod meson;
mod names;
mod shell;
#[cfg(test)]
mod tests;
mod words;

pub use names::unfit;

use crate::write::Linker;

/// What builds the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BuildSystem {
    /// `CMakeLists.txt`.
    CMake,
    /// `meson.build`.
    Meson,
    /// A Rust package: `build.rs`.
    Cargo,
    /// A makefile, of GNU make.
    Make,
    /// Commands for a shell, or variables for a `configure` script.
    Shell,
}

impl BuildSystem {
    /// All of them.
    pub const ALL: [BuildSystem; 5] = [
        BuildSystem::CMake,
        BuildSystem::Meson,
        BuildSystem::Cargo,
        BuildSystem::Make,
        BuildSystem::Shell,
    ];
}

/// The words that make gcc or clang link with `linker` and the order `file`, or for Microsoft's
/// linker and lld-link themselves. None for objcopy, which works before linking.
pub fn link_words(linker: Linker, file: &str) -> Option<Vec<String>> {
    match file.contains(',') {
        true => words::with_commas(linker, file),
        false => words::for_linker(linker, file),
    }
}

/// What to put into the build so that `linker` reads the order `file`, with comments that say
/// where; a relative path is relative to the build file. Names of programs are left to the reader. It
/// is of no use for a name that is [`unfit`].
///
/// None for objcopy where a build system compiles and links in one go: a linker script for GNU ld
/// does the same there. None for gold in a Rust package, as Rust advises against it.
pub fn snippet(build: BuildSystem, linker: Linker, file: &str) -> Option<String> {
    match build {
        BuildSystem::CMake => cmake::snippet(linker, file),
        BuildSystem::Meson => meson::snippet(linker, file),
        BuildSystem::Cargo => cargo::snippet(linker, file),
        BuildSystem::Make => Some(make::snippet(linker, file)),
        BuildSystem::Shell => Some(shell::snippet(linker, file)),
    }
}

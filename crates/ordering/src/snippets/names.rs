//! Names of order files that a build cannot pass to a linker.

use super::{BuildSystem, words};
use crate::write::Linker;

/// Signs that mean nothing to make, to a shell, and to what divides variables into words.
const PLAIN: &str = "_-./+@";

/// What of a file's name the lines for this build and linker cannot have; none if they can have all
/// of it.
pub fn unfit(build: BuildSystem, linker: Linker, file: &str) -> Option<char> {
    let ends_word = |sign: char| match build {
        _ if sign.is_control() => true,
        // What stands behind -Wl, is divided there, and behind CMake's LINKER: too.
        _ if sign == ',' => !words::is_for_pe(linker) || build == BuildSystem::CMake,
        BuildSystem::CMake => CMAKE.contains(sign),
        BuildSystem::Meson => MESON.contains(sign),
        BuildSystem::Cargo => false,
        BuildSystem::Make | BuildSystem::Shell => !sign.is_alphanumeric() && !PLAIN.contains(sign),
    };
    file.chars().find(|sign| ends_word(*sign))
}

/// Ends an element of a list; or is no part of a name for the build files that CMake makes.
const CMAKE: &str = ";\\$\"";
/// What Meson's build files do not have in a name.
const MESON: &str = "\\\"";

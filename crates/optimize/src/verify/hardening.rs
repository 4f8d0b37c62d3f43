//! Protection that the original's files ask for and that a variant must not lose.

use super::{Flaw, wrong};
use image::elf::Loadable;
use image::elf::spec::{PF_W, PF_X};
use model::{ElfFacts, Relro};
use std::path::Path;

/// What protects a process against the misuse of one image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Protection {
    /// The image has other addresses at every launch.
    movable: bool,
    executable_stack: bool,
    /// Memory that can be written and executed.
    writable_code: bool,
    relro: Relro,
}

/// Whether the file `variant` is protected as `original` is; without other addresses at every
/// launch only where `keeps_aslr` does not promise them.
pub(super) fn kept(original: &Path, variant: &Path, keeps_aslr: bool) -> Result<(), Flaw> {
    let of = |path: &Path| of(path).map_err(|error| wrong(error.to_string()));
    match lost(of(original)?, of(variant)?, keeps_aslr) {
        Some(what) => Err(wrong(format!("{}: {what}", variant.display()))),
        None => Ok(()),
    }
}

fn of(path: &Path) -> Result<Protection, image::ImageError> {
    let ElfFacts { executable_stack, mut relro, .. } = image::elf::facts(path)?;
    let image = Loadable::open(path)?;
    // What a bundle binds by itself is protected, too.
    if relro == Relro::Partial && bundle::fills_table(&image) {
        relro = Relro::Full;
    }
    let both = PF_W | PF_X;
    let writable_code = image.segments().iter().any(|s| s.loads() && s.flags & both == both);
    Ok(Protection { movable: !image.fixed, executable_stack, writable_code, relro })
}

fn lost(original: Protection, variant: Protection, keeps_aslr: bool) -> Option<&'static str> {
    let rank = |relro: Relro| match relro {
        Relro::None => 0,
        Relro::Partial => 1,
        Relro::Full => 2,
    };
    if keeps_aslr && original.movable && !variant.movable {
        return Some("it has the same addresses at every launch, unlike the original");
    }
    if variant.executable_stack && !original.executable_stack {
        return Some("its stack is executable, unlike the original's");
    }
    if variant.writable_code && !original.writable_code {
        return Some(
            "it has memory that can be written and executed, unlike the program's own file",
        );
    }
    let weaker = rank(variant.relro) < rank(original.relro);
    weaker.then_some("less of it becomes read-only after relocation (RELRO) than of the original")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_protection_counts() {
        let full = Protection {
            movable: true,
            executable_stack: false,
            writable_code: false,
            relro: Relro::Full,
        };
        assert_eq!(lost(full, full, true), None);
        let fixed = Protection { movable: false, ..full };
        assert!(lost(full, fixed, true).is_some_and(|what| what.contains("same addresses")));
        assert_eq!((lost(full, fixed, false), lost(fixed, fixed, true)), (None, None));
        for (weaker, says) in [
            (Protection { executable_stack: true, ..full }, "stack"),
            (Protection { writable_code: true, ..full }, "written and executed"),
            (Protection { relro: Relro::Partial, ..full }, "RELRO"),
        ] {
            assert!(lost(full, weaker, false).is_some_and(|what| what.contains(says)));
            assert_eq!((lost(weaker, full, true), lost(weaker, weaker, true)), (None, None));
        }
    }
}

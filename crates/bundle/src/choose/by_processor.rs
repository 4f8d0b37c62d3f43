//! Modules that the loader takes on some processors only. A bundle that may come to another machine is not
//! to decide that now.

use crate::choose::members;
use image::elf::{Loadable, spec};
use loader::Module;
use loader::search::{CACHE, Cache};
use model::text;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

/// The folder of variants (ld.so(8), "Hardware capabilities").
const VARIANTS: &str = "glibc-hwcaps";
/// GNU_PROPERTY_X86_ISA_1_NEEDED (x86-64 psABI, "Program Property").
const ISA_NEEDED: u32 = 0xc000_8002;
/// GNU_PROPERTY_X86_ISA_1_BASELINE: what every processor can do.
const BASELINE: u32 = 1;

/// Why a library stays outside of a bundle for other machines.
pub(crate) fn of_library(module: &Module) -> Option<String> {
    if has_variants(module) {
        return Some("the loader selects a variant of it by processor".to_owned());
    }
    let needed = newer_needed(&module.image);
    needed.then(|| "it is built for processors newer than the x86-64 baseline".to_owned())
}

/// Why a program has no bundle for other machines.
pub(crate) fn of_program(program: &Loadable) -> Option<String> {
    newer_needed(program).then(|| {
        "it is built for processors newer than the x86-64 baseline, which another machine may not have; \
         bundle it for this one"
            .to_owned()
    })
}

/// Whether there are several files of one name: in a folder of the search and those beside it, of which this
/// processor may need none, or in the loader's cache.
pub(crate) fn has_variants(module: &Module) -> bool {
    if module.path.components().any(|part| part.as_os_str() == VARIANTS) {
        return true;
    }
    // Whatever name it is needed by is that of the paths at which it was missed.
    let missed = || module.missed.iter().filter(|path| path.is_absolute());
    let looked_at = || missed().chain([&module.path]);
    let mut names: BTreeSet<OsString> =
        looked_at().filter_map(|path| Some(path.file_name()?.into())).collect();
    names.insert(text::name(&members::name_of(module)));
    let folders: BTreeSet<&Path> =
        looked_at().filter_map(|path| folder_of_variants(path)).collect();
    let levels = folders.iter().filter_map(|folder| folder.join(VARIANTS).read_dir().ok());
    let mut levels = levels.flatten().flatten().map(|level| level.path());
    if levels.any(|level| names.iter().any(|name| level.join(name).exists())) {
        return true;
    }
    let asked = &module.asked_of_cache;
    let cache = Cache::read(Path::new(CACHE)).filter(|_| !asked.is_empty());
    let machine = &module.image.machine;
    cache.is_some_and(|cache| {
        asked.iter().any(|name| cache.decisive(name.as_bytes(), machine).len() > 1)
    })
}

/// The folder in which the loader looks for a library and its variants.
pub(crate) fn folder_of_variants(library: &Path) -> Option<&Path> {
    let mut folders = library.ancestors().skip(1);
    let within = folders.find(|folder| folder.file_name().is_some_and(|name| name == VARIANTS));
    within.unwrap_or(library).parent()
}

/// Whether its note says that it needs more than the baseline. The loader refuses such a file elsewhere; in
/// a bundle nobody would.
fn newer_needed(image: &Loadable) -> bool {
    let Some(note) = image.segment(spec::PT_GNU_PROPERTY) else { return false };
    let start = note.offset.index();
    let end = start.saturating_add(usize::try_from(note.file_size).unwrap_or_default());
    let Some(mut properties) = image.bytes().get(start..end).and_then(|note| note.get(16..)) else {
        return false;
    };
    // Type, length, data, filled up to 8 bytes.
    while let Some((head, rest)) = properties.split_at_checked(8) {
        let word = |at: usize, bytes: &[u8]| {
            bytes.get(at..).and_then(|bytes| bytes.first_chunk()).map(|it| u32::from_le_bytes(*it))
        };
        let (kind, length) = (word(0, head), word(4, head).unwrap_or_default() as usize);
        if kind == Some(ISA_NEEDED) && word(0, rest).is_some_and(|needed| needed & !BASELINE != 0) {
            return true;
        }
        properties = rest.get(length.next_multiple_of(8)..).unwrap_or_default();
    }
    false
}

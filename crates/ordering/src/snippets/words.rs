//! Words for compilers and linkers.

use crate::write::Linker;

/// Whether the linker has the options of Microsoft's, and no compiler in front of it.
pub(super) fn is_for_pe(linker: Linker) -> bool {
    matches!(linker, Linker::Msvc | Linker::LldLink)
}

/// The same words for a file whose name has commas, at which what stands behind `-Wl,` is divided.
pub(super) fn with_commas(linker: Linker, file: &str) -> Option<Vec<String>> {
    const FILE: &str = "\0";
    let each = for_linker(linker, FILE)?;
    let words = each.iter().flat_map(|word| match word.strip_prefix("-Wl,") {
        Some(words) => words.split(',').flat_map(|word| ["-Xlinker", word]).collect(),
        None => vec![word.as_str()],
    });
    Some(words.map(|word| word.replace(FILE, file)).collect())
}

/// What gives each function a section of its own; linkers for macOS do without.
pub(super) fn for_compiler(linker: Linker) -> Option<&'static str> {
    match linker {
        Linker::Ld64 => None,
        linker if is_for_pe(linker) => Some("/Gy"),
        _ => Some("-ffunction-sections"),
    }
}

/// What makes gcc or clang link with `linker` and the order in `file`, or Microsoft's linker and
/// lld-link themselves; none where the order is no matter of linking.
pub(super) fn for_linker(linker: Linker, file: &str) -> Option<Vec<String>> {
    let words = |linker: &str, option: &str| vec![linker.to_owned(), format!("-Wl,{option}{file}")];
    Some(match linker {
        Linker::Lld => {
            let mut words = words("-fuse-ld=lld", "--symbol-ordering-file=");
            // Functions come and go while a program is worked on.
            words.push("-Wl,--no-warn-symbol-ordering".to_owned());
            words
        }
        Linker::Gold => words("-fuse-ld=gold", "--section-ordering-file="),
        Linker::Bfd => words("-fuse-ld=bfd", "--section-ordering-file="),
        Linker::Script => words("-fuse-ld=bfd", "-T,"),
        Linker::Ld64 => vec![format!("-Wl,-order_file,{file}")],
        Linker::Msvc => vec![format!("/ORDER:@{file}")],
        // Functions come and go here, too.
        Linker::LldLink => vec![format!("/ORDER:@{file}"), "/ignore:4037".to_owned()],
        Linker::Objcopy => return None,
    })
}

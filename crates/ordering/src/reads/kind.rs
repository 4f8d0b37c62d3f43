//! What a section holds, by its name.

use model::ContentKind;

/// What a section is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owned {
    /// An ELF or PE file.
    Image,
    /// Any other.
    File,
}

/// Beginnings of names. The first that fits decides.
const NAMES: &[(&str, ContentKind)] = &[
    (".rela", ContentKind::Relocations),
    (".relr", ContentKind::Relocations),
    (".reloc", ContentKind::Relocations),
    (".rel.", ContentKind::Relocations),
    (".dynsym", ContentKind::Symbols),
    (".dynstr", ContentKind::Symbols),
    (".gnu.hash", ContentKind::Symbols),
    (".hash", ContentKind::Symbols),
    (".gnu.version", ContentKind::Symbols),
    (".symtab", ContentKind::Symbols),
    (".strtab", ContentKind::Symbols),
    (".edata", ContentKind::Symbols),
    (".idata", ContentKind::Symbols),
    (".text", ContentKind::Text),
    (".plt", ContentKind::Text),
    (".init_array", ContentKind::Data),
    (".fini_array", ContentKind::Data),
    (".init", ContentKind::Text),
    (".fini", ContentKind::Text),
    ("malloc_hook", ContentKind::Text),
    (".eh_frame", ContentKind::Unwind),
    (".gcc_except_table", ContentKind::Unwind),
    (".pdata", ContentKind::Unwind),
    (".xdata", ContentKind::Unwind),
    (".debug", ContentKind::Other),
    (".data", ContentKind::Data),
    (".rodata", ContentKind::Data),
    (".rdata", ContentKind::Data),
    (".lrodata", ContentKind::Data),
    (".ldata", ContentKind::Data),
    (".got", ContentKind::Data),
    (".dynamic", ContentKind::Data),
    (".tdata", ContentKind::Data),
    (".ctors", ContentKind::Data),
    (".dtors", ContentKind::Data),
    (".rsrc", ContentKind::Data),
    ("__libc", ContentKind::Data),
];

/// The kind of the section of this name.
pub(super) fn kind_of(owner: Owned, name: &str) -> ContentKind {
    if owner == Owned::File {
        return ContentKind::PlainFile;
    }
    let known = NAMES.iter().find(|(start, _)| name.starts_with(start));
    known.map_or(ContentKind::Other, |(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_told_by_their_names() {
        let kind = |name| kind_of(Owned::Image, name);
        for (name, expected) in [
            (".rela.dyn", ContentKind::Relocations),
            (".relr.dyn", ContentKind::Relocations),
            (".reloc", ContentKind::Relocations),
            (".gnu.version_r", ContentKind::Symbols),
            (".text.hot", ContentKind::Text),
            (".init", ContentKind::Text),
            (".init_array", ContentKind::Data),
            (".data.rel.ro", ContentKind::Data),
            (".eh_frame_hdr", ContentKind::Unwind),
            (".note.gnu.build-id", ContentKind::Other),
            ("headers", ContentKind::Other),
            ("(none)", ContentKind::Other),
        ] {
            assert_eq!(kind(name), expected, "{name}");
        }
        assert_eq!(kind_of(Owned::File, ".text"), ContentKind::PlainFile);
    }
}

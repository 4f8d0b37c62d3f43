//! Damaged files: a sentence or a rewritten file, never a panic, and never a file out of
//! proportion.
#![allow(clippy::unwrap_used)]

use image::elf::Loadable;
use image::elf::edit::Edit;
use image::elf::records::DynamicEntry;
use image::elf::spec;
use proptest::prelude::*;
use rewrite::{no_pie, relr};
use std::sync::OnceLock;

/// A file may grow by what keeps addresses and offsets apart, and its tables.
const GROWTH: usize = 65 << 20;

const SOURCE: &str = "#include <stdio.h>\n\
    const char *words[] = {\"a\", \"b\", \"c\"}; __thread const char *own = \"d\";\n\
    int main(int count, char **all) { (void)all; return puts(words[count % 3]) < 0 || !own; }";

/// A program and a library of each of two linkers; empty without a compiler.
fn files() -> &'static [Vec<u8>] {
    static FILES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    FILES.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let mut files = Vec::new();
        for compiler in ["gcc", "clang-19"] {
            let Some(cc) = testkit::tool(compiler) else { continue };
            let linker = if compiler == "gcc" { "-fuse-ld=bfd" } else { "-fuse-ld=lld" };
            for flags in [&["-pie", "-fPIE"], &["-shared", "-fPIC"]] {
                let flags = [&flags[..], &[linker, "-s"]].concat();
                let file = testkit::compile(&cc, folder.path(), "file", SOURCE, &flags);
                files.push(std::fs::read(file).unwrap());
            }
        }
        files
    })
}

fn rewrite(bytes: &[u8]) {
    let Ok(image) = Loadable::from_bytes("damaged", bytes.to_vec()) else { return };
    let most = bytes.len() + GROWTH;
    if let Ok(packed) = relr::pack(&image, None) {
        let new = packed.edited.to_bytes();
        assert!(new.len() <= most && packed.edited.length() == new.len() as u64);
        // What was rewritten can be rewritten again, or declined.
        if let Ok(image) = Loadable::from_bytes("packed", new) {
            let _ = no_pie::fix(&image, 0x20_0000_0000, None).map(|fixed| fixed.edited.to_bytes());
        }
    }
    if let Ok(fixed) = no_pie::fix(&image, no_pie::base(&image, 5), None) {
        assert!(fixed.edited.to_bytes().len() <= most);
    }
    if let Ok(mut edit) = Edit::of(&image) {
        let name = edit.add_string(b"a-string-that-is-not-there");
        let mut entries = edit.dynamic().to_vec();
        entries.extend([DynamicEntry { tag: spec::DT_NEEDED, value: name }; 30]);
        edit.set_dynamic(entries);
        let _ = edit.rename_version_file(b"libc.so.6", b"/absolute/libc.so.6");
        if let Ok(finished) = edit.finish() {
            let edited = finished.edited;
            assert!(edited.to_bytes().len() <= most);
            let _ = Loadable::from_bytes("edited", edited.to_bytes());
        }
    }
}

#[test]
fn whole_files_are_rewritten_and_cut_ones_survived() {
    for bytes in files() {
        let image = Loadable::from_bytes("whole", bytes.clone()).unwrap();
        assert!(relr::pack(&image, None).is_ok());
        for length in (0..bytes.len()).step_by(31) {
            rewrite(&bytes[..length]);
        }
    }
}

#[test]
fn bytes_of_the_headers_may_be_anything() {
    // A program of one linker, and a library of the other.
    for bytes in files().iter().step_by(3) {
        let mut bytes = bytes.clone();
        let sections = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
        for index in (16..64 + 56 * 13).step_by(2).chain((sections..bytes.len()).step_by(5)) {
            let before = bytes[index];
            for value in [0, 0xff, before ^ 0x10] {
                bytes[index] = value;
                rewrite(&bytes);
            }
            bytes[index] = before;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn damage_is_survived(
        file in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        words in prop::collection::vec((any::<prop::sample::Index>(), any::<u64>()), 0..4),
        dynamic in prop::collection::vec((any::<prop::sample::Index>(), any::<u64>()), 0..4),
    ) {
        if files().is_empty() {
            return Ok(());
        }
        let mut bytes = file.get(files()).clone();
        let image = Loadable::from_bytes("whole", bytes.clone()).unwrap();
        let table = *image.segment(spec::PT_DYNAMIC).unwrap();
        for (index, value) in changes {
            let at = index.index(bytes.len());
            bytes[at] = value;
        }
        for (index, value) in words {
            let at = index.index(1024) / 8 * 8;
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        for (index, value) in dynamic {
            // Most wrong values are near right ones.
            let at = table.offset.index() + index.index(table.file_size as usize) / 8 * 8;
            let old = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
            let value = if value & 1 == 0 { value } else { old.wrapping_add(value % 4096) };
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        rewrite(&bytes);
    }
}

//! Images rewritten by `image::elf::edit`, before the eyes of readelf, strip, patchelf and the loader.
#![allow(clippy::unwrap_used)]

use image::elf::Loadable;
use image::elf::edit::Edit;
use image::elf::records::DynamicEntry;
use image::elf::{relr, spec};
use model::Va;
use proptest::prelude::*;
use std::path::Path;
use std::process::Command;

fn silent(readelf: &Path, file: &Path) {
    let output = Command::new(readelf).args(["-aW"]).arg(file).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{file:?}: {said}");
}

fn written(bytes: &[u8], folder: &Path, name: &str) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Libraries needed many times over: neither the dynamic table nor, with a new string, the strings
/// have room for them.
fn with_needs(path: &Path) -> Vec<u8> {
    let image = Loadable::open(path).unwrap();
    let mut edit = Edit::of(&image).unwrap();
    let name = edit.add_string(b"libm.so.6");
    let mut entries = edit.dynamic().to_vec();
    entries.splice(0..0, [DynamicEntry { tag: spec::DT_NEEDED, value: name }; 20]);
    edit.set_dynamic(entries);
    let finished = edit.finish().unwrap();
    assert!(finished.new_segment);
    let edited = finished.edited;
    let new = Loadable::from_bytes("edited", edited.to_bytes()).unwrap();
    assert_eq!(new.needed.iter().filter(|name| *name == "libm.so.6").count(), 20);
    edited.to_bytes()
}

/// The file at `path` becomes `bytes`; it works, and still does after other tools.
fn check(path: &Path, bytes: &[u8], works: impl Fn(&str)) {
    let Some(readelf) = testkit::tool("readelf") else { return };
    let folder = path.parent().unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    for line in ["", "strip", "strip -g", "llvm-strip-19", "patchelf --set-rpath /nowhere-at-all"] {
        std::fs::remove_file(path).unwrap();
        written(bytes, folder, name);
        let mut words = line.split(' ');
        if let Some(name) = words.next().filter(|name| !name.is_empty()) {
            let Some(tool) = testkit::tool(name) else { continue };
            let done = Command::new(tool).args(words).arg(path).output().unwrap();
            assert!(done.status.success() && done.stderr.is_empty(), "{path:?}: {done:?}");
        }
        silent(&readelf, path);
        works(&format!("{path:?} {line}"));
    }
}

#[test]
fn a_longer_dynamic_table_and_more_strings_get_a_segment() {
    let main = "int plus(int); int main(void) { return plus(1) != 2; }";
    let library = "int plus(int number) { return number + 1; }";
    // What comes behind the program headers differs: notes, the interpreter's name, hash tables,
    // symbols.
    let layouts: [&[&str]; 4] = [
        &["-fuse-ld=bfd"],
        &["-fuse-ld=bfd", "-Wl,--build-id=none", "-Wl,--hash-style=sysv", "-fcf-protection=none"],
        &["-fuse-ld=lld"],
        &["-fuse-ld=lld", "-Wl,--build-id=none"],
    ];
    for layout in layouts {
        let (Some(cc), Some(_)) = (testkit::tool("clang-19"), testkit::tool("ld.lld-19")) else {
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let build = |name: &str, source: &str, flags: &[&str]| {
            testkit::compile(&cc, folder.path(), name, source, &[flags, layout].concat())
        };
        let library = build("libplus.so", library, &["-shared", "-fPIC"]);
        let program = build("program", main, &["-L.", "-lplus"]);
        let works = |case: &str| {
            let mut command = Command::new(&program);
            let done = command.env("LD_LIBRARY_PATH", folder.path()).output().unwrap();
            assert!(done.status.success(), "{layout:?} {case}: {done:?}");
        };
        works("as built");
        for path in [&library, &program] {
            check(path, &with_needs(path), works);
        }
    }
}

proptest! {
    #[test]
    fn packed_addresses_are_those_packed(distances in prop::collection::vec(1_u64..200, 0..300)) {
        let mut addresses = Vec::new();
        for distance in distances {
            // Mostly neighbors, with gaps of all kinds.
            let distance = if distance > 100 { distance } else { 1 + distance / 90 };
            addresses.push(*addresses.last().unwrap_or(&Va(4096)) + 8 * distance);
        }
        let words = relr::encode(addresses.iter().copied());
        prop_assert!(words.len() <= addresses.len());
        let decoded: Vec<Va> = relr::decode(words.into_iter()).collect();
        prop_assert_eq!(decoded, addresses);
    }
}

//! Images rewritten by `image::edit`, before the eyes of readelf, strip, patchelf and the loader.
#![allow(clippy::unwrap_used)]

use image::Loadable;
use image::edit::{Edit, relr};
use proptest::prelude::*;
use std::path::Path;
use std::process::Command;

const PROGRAM: &str = "#include <stdio.h>\n\
    const char *words[] = {\"here\", \"there\"};\n\
    int main(int count, char **all) { (void)all; return puts(words[count > 1]) < 0; }";

fn output(program: &Path) -> String {
    let output = Command::new(program).output().unwrap();
    assert!(output.status.success(), "{program:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

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

#[test]
fn a_longer_dynamic_table_and_more_strings_get_a_segment() {
    let (Some(cc), Some(readelf)) = (testkit::tool("cc"), testkit::tool("readelf")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = testkit::compile(&cc, folder.path(), "program", PROGRAM, &[]);
    let image = Loadable::open(&program).unwrap();
    let mut edit = Edit::of(&image).unwrap();
    let mut entries = edit.dynamic().to_vec();
    for _ in 0..20 {
        let name = edit.add_string(b"libm.so.6");
        entries.insert(0, (image::spec::DT_NEEDED, name));
    }
    edit.set_dynamic(entries);
    let edited = edit.finish().unwrap();
    assert!(edited.new_segment());
    let path = written(&edited.to_bytes(), folder.path(), "edited");
    silent(&readelf, &path);
    assert_eq!(output(&path), "here\n");
    let image = Loadable::open(&path).unwrap();
    assert_eq!(image.needed.iter().filter(|name| *name == "libm.so.6").count(), 20);
    for strip in ["strip", "strip -g", "llvm-strip-19", "patchelf --set-rpath /nowhere-at-all"] {
        let mut words = strip.split(' ');
        let Some(tool) = testkit::find(words.next().unwrap()) else { continue };
        let copy = written(&edited.to_bytes(), folder.path(), "copy");
        let done = Command::new(tool).args(words).arg(&copy).output().unwrap();
        assert!(done.status.success() && done.stderr.is_empty(), "{strip}: {done:?}");
        silent(&readelf, &copy);
        assert_eq!(output(&copy), "here\n", "{strip}");
    }
}

proptest! {
    #[test]
    fn packed_addresses_are_those_packed(distances in prop::collection::vec(1_u64..200, 0..300)) {
        let mut addresses = Vec::new();
        for distance in distances {
            // Mostly neighbours, with gaps of all kinds.
            let distance = if distance > 100 { distance } else { 1 + distance / 90 };
            addresses.push(addresses.last().unwrap_or(&4096) + 8 * distance);
        }
        let words = relr::encode(&addresses);
        prop_assert!(words.len() <= addresses.len());
        prop_assert_eq!(relr::decode(&words), addresses);
    }
}

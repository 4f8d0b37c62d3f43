//! Facts of the committed images of testfiles/pe.
#![allow(clippy::unwrap_used)] // a test that cannot read its input fails

use std::path::PathBuf;

#[test]
fn facts_are_as_reviewed() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testfiles/pe");
    let mut compared = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name != "README.md" {
            let facts = image::pe::facts_of(&name, &std::fs::read(path).unwrap()).unwrap();
            insta::assert_snapshot!(name, serde_json::to_string_pretty(&facts).unwrap());
            compared += 1;
        }
    }
    assert!(compared >= 15, "testfiles/pe is incomplete");
}

//! headstart's facts of an ELF file beside readelf's.

use super::readelf::Facts;
use crate::oracles::Difference;
use model::ElfFacts;
use std::fmt::Debug;

/// Every fact on which headstart's `image` and `readelf` disagree.
pub fn compare(image: &ElfFacts, readelf: &Facts) -> Vec<Difference> {
    let ours = facts(image, readelf);
    let mut differences = Vec::new();
    let mut check = |fact, theirs: &dyn Debug, ours: &dyn Debug| {
        let (oracle, headstart) = (format!("{theirs:?}"), format!("{ours:?}"));
        if oracle != headstart {
            let (path, tool) = (image.path.clone(), "readelf".to_owned());
            let complaints = String::new();
            differences.push(Difference { path, tool, fact, oracle, headstart, complaints });
        }
    };
    check("relocations", &readelf.relocations, &ours.relocations);
    check("imports", &readelf.imports, &ours.imports);
    check("exports", &readelf.exports, &ours.exports);
    check("needed", &readelf.needed, &ours.needed);
    check("soname", &readelf.soname, &ours.soname);
    check("search paths", &readelf.search_paths, &ours.search_paths);
    check("interpreter", &readelf.interpreter, &ours.interpreter);
    check("build-id", &readelf.build_id, &ours.build_id);
    check("version needs", &readelf.version_needs, &ours.version_needs);
    check("load segments", &readelf.load_segments, &ours.load_segments);
    check("initializers at least", &true, &(ours.initializer_bytes <= readelf.initializer_bytes));
    differences
}

/// headstart's facts in readelf's form.
fn facts(image: &ElfFacts, readelf: &Facts) -> Facts {
    let word = u64::from(image.bits / 8);
    let needs = image.version_needs.iter();
    let paths = image.search_paths.iter();
    Facts {
        relocations: image.relocations.clone(),
        imports: image.imports,
        exports: image.exports,
        needed: image.needed.clone(),
        soname: image.soname.clone(),
        search_paths: paths.map(|path| path.folders.join(":")).collect(),
        interpreter: image.interpreter.as_ref().map(|interpreter| interpreter.0.clone()),
        build_id: image.build_id.clone(),
        version_needs: needs.map(|need| (need.library.clone(), need.versions.clone())).collect(),
        load_segments: image.load_segments,
        initializer_bytes: readelf.initializer_bytes.min(image.initializers * word),
    }
}

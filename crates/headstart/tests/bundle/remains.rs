//! What `headstart explain` says of what the start of a bundle still does: counted, by library.

use crate::ahead::recorded;
use crate::common::{stderr, stdout};
use crate::stage::{json, run};
use model::{FileOffset, FileRange, Recording, RecordingMode};
use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Each library has so many pages of addresses.
const LIBRARIES: [(&str, u64); 2] = [("libfew", 4), ("libmany", 512)];
const LIBRARY: &str = "
static int here;
static int *volatile table[PAGES * 512] __attribute__((aligned(4096))) = {
    [0 ... PAGES * 512 - 1] = &here
};
static volatile unsigned long counted;
__attribute__((constructor)) static void begin(void) { counted = 1; }
__attribute__((destructor)) static void end(void) {
    for (unsigned long n = 0; n < PAGES * 10000UL; n++) counted = n;
}
int *NAME(int at) { return table[at]; }
";
const PROGRAM: &str = "
#include <stdio.h>
int *libfew(int), *libmany(int);
int main(int count, char **words) {
    return puts(libfew(count) && libmany(count) ? words[0] : 0) < 0;
}
";

struct Place {
    folder: TempDir,
}

impl Place {
    /// The program and its libraries; `None`, said loudly, without a compiler.
    fn new() -> Option<Place> {
        let cc = testkit::tool("cc")?;
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for (name, pages) in LIBRARIES {
            let (pages, soname) = (format!("-DPAGES={pages}"), format!("-Wl,-soname,{name}.so.1"));
            let flags = ["-shared", "-fPIC", "-O1", &pages, &format!("-DNAME={name}"), &soname];
            testkit::compile(&cc, root, &format!("{name}.so.1"), LIBRARY, &flags);
        }
        let rpath = format!("-Wl,-rpath,{}", root.display());
        let flags = ["-pie", "-fPIE", "-O1", "libfew.so.1", "libmany.so.1", &rpath];
        testkit::compile(&cc, root, "program", PROGRAM, &flags);
        Some(Place { folder })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Its bundle in a folder, made with these options.
    fn bundle(&self, out: &str, options: &[&str]) -> String {
        let (folder, program) = (self.text(out), self.text("program"));
        let made = run(&[&["bundle", "--out", &folder], options, &[&program]].concat());
        assert!(made.status.success(), "{}", stderr(&made));
        // Files that have just changed are changing still.
        std::thread::sleep(std::time::Duration::from_millis(12));
        format!("{folder}/run")
    }
}

/// A recording of the program, made up: its first page.
fn recording(place: &Place) -> String {
    let program = place.text("program");
    let first = FileRange { offset: FileOffset(0), bytes: 4096 };
    let recording = Recording {
        program: program.clone(),
        command: program,
        mode: RecordingMode::Exact,
        approximate_files: 0,
        launches: 1,
        total_us: 1000.0,
        page_bytes: 4096,
        files: vec![recorded(&place.path("program"), vec![first])],
        looked_up: Vec::new(),
        notes: Vec::new(),
    };
    std::fs::write(place.path("record"), prefetch::recording::write(&recording)).unwrap();
    place.text("record")
}

fn explained(program: &str) -> Value {
    json(&["explain", "-r", "2", "--json", "--", program])
}

fn list<'a>(found: &'a Value, name: &str) -> &'a [Value] {
    found[name].as_array().unwrap()
}

fn count(found: &Value) -> u64 {
    found.as_u64().unwrap_or_else(|| panic!("{found:#}"))
}

/// What remains of the start of the only bundle; what holds for each is looked at.
fn remains(found: &Value) -> &Value {
    let [bundle] = list(found, "bundles") else { panic!("{found:#}") };
    let remains = &bundle["remains"];
    assert_eq!(remains["starts"], 1, "{remains:#}");
    let modules = list(found, "modules");
    let own = modules.iter().find(|module| module["path"] == bundle["path"]).unwrap();
    assert_eq!(remains["kernel_parts"], own["facts"]["load_segments"], "{remains:#}");
    assert!(count(&remains["parts"]) > count(&remains["kernel_parts"]), "{remains:#}");
    let libraries = list(remains, "by_library");
    assert_eq!(libraries.last().unwrap()["path"], Value::Null);
    for (of, figure) in [("work", "relocations"), ("copied", "relocate"), ("copied", "initialize")]
    {
        let sum: u64 = libraries.iter().map(|library| count(&library[of][figure])).sum();
        assert_eq!(sum, count(&remains[of][figure]), "{figure}: {remains:#}");
    }
    let sum =
        |figure: &str| libraries.iter().filter_map(|library| library[figure].as_f64()).sum::<f64>();
    for figure in ["relocate_us", "finalize_us"] {
        let whole = remains[figure].as_f64().unwrap();
        assert!((sum(figure) - whole).abs() < 0.1, "{figure}: {remains:#}");
    }
    let phases = list(found, "phases").iter().map(|phase| phase["us"].as_f64().unwrap());
    assert!((phases.sum::<f64>() - found["total_us"].as_f64().unwrap()).abs() < 1e-3);
    let exit = remains["exit_us"].as_f64().unwrap();
    let ending = ["finalize_us", "free_us"].map(|figure| remains[figure].as_f64().unwrap());
    assert!(ending.iter().sum::<f64>() <= exit + 0.1, "{remains:#}");
    assert!(remains["map_parts_us"].as_f64() <= remains["exec_us"].as_f64(), "{remains:#}");
    remains
}

/// What remains for a library.
fn library<'a>(remains: &'a Value, name: &str) -> &'a Value {
    let of = |library: &&Value| {
        let path = library["path"].as_str().map(Path::new);
        path.is_some_and(|path| path.file_name().unwrap().to_str().unwrap().starts_with(name))
    };
    list(remains, "by_library").iter().find(of).unwrap()
}

fn before_main(library: &Value) -> u64 {
    count(&library["copied"]["relocate"]) + count(&library["copied"]["initialize"])
}

/// The finding on it.
fn finding(found: &Value) -> Option<&Value> {
    list(found, "findings").iter().find(|finding| finding["id"] == "bundle-start")
}

#[test]
fn every_page_that_relocations_write_to_is_copied_and_counted_for_its_library() {
    let Some(place) = Place::new() else { return };
    let found = explained(&place.bundle("out", &[]));
    let remains = remains(&found);
    assert_eq!(remains["fixed"], false);
    let [few, many] = LIBRARIES.map(|(name, _)| library(remains, name));
    for library in [few, many] {
        assert_eq!(
            library["copied"]["relocate"], library["work"]["relocated_pages"],
            "{library:#}"
        );
        assert_eq!(library["finalizers"], 1, "{library:#}");
    }
    let pages = |library: &Value| count(&library["work"]["relocated_pages"]);
    let more = LIBRARIES[1].1 - LIBRARIES[0].1;
    assert_eq!(pages(many) - pages(few), more, "{remains:#}");
    let addresses = |library: &Value| count(&library["work"]["relocations"]);
    assert_eq!(addresses(many) - addresses(few), more * 512, "{remains:#}");
    let time = |library: &Value, figure: &str| library[figure].as_f64().unwrap();
    for figure in ["relocate_us", "finalize_us"] {
        assert!(time(many, figure) > time(few, figure), "{remains:#}");
    }
}

#[test]
fn it_does_not_matter_who_applies_relocations() {
    let Some(place) = Place::new() else { return };
    let plain = explained(&place.bundle("plain", &[]));
    // One that reads ahead applies them itself.
    let ahead = explained(&place.bundle("ahead", &["--prefetch", &recording(&place)]));
    for (name, _) in LIBRARIES {
        let [one, other] = [&plain, &ahead].map(|found| library(remains(found), name));
        assert_eq!((&one["work"], &one["copied"]), (&other["work"], &other["copied"]), "{name}");
    }
    assert!(ahead["bundles"][0]["read_ahead_us"].is_number(), "{ahead:#}");
    let remedy = finding(&ahead).unwrap()["remedy"].as_str().unwrap();
    let again = "&& headstart bundle --fixed --prefetch program.record --disk flash --out ";
    assert!(remedy.contains(again), "{remedy}");
}

#[test]
fn at_fixed_addresses_no_page_is_copied_for_its_addresses() {
    let Some(place) = Place::new() else { return };
    let found = explained(&place.bundle("out", &["--fixed"]));
    let remains = remains(&found);
    assert_eq!(remains["fixed"], true);
    let [few, many] = LIBRARIES.map(|(name, _)| library(remains, name));
    assert_eq!(many["work"]["relocated_pages"], 0, "{remains:#}");
    // What its constructor writes to.
    assert_eq!(before_main(many), before_main(few), "{remains:#}");
    assert!(before_main(many) < LIBRARIES[0].1, "{remains:#}");
    let finding = finding(&found).unwrap();
    assert!(!finding["remedy"].as_str().unwrap().contains("headstart bundle"), "{finding:#}");
}

#[test]
fn what_remains_is_a_finding_of_bundles_only_and_keeps_their_options() {
    let Some(place) = Place::new() else { return };
    let program = place.text("program");
    assert!(finding(&explained(&program)).is_none());
    let plain = explained(&place.bundle("plain", &[]));
    let first = &plain["findings"][0];
    assert_eq!(first["id"], "bundle-start", "{plain:#}");
    assert!(
        first["cause"].as_str().unwrap().starts_with("the start of the bundle program, up to ")
    );
    let again = format!("headstart bundle --fixed --out {} {program}", place.text("plain"));
    assert!(first["remedy"].as_str().unwrap().contains(&again), "{first:#}");
    let options = ["--outside", "libfew", "--check", "image"];
    let bundle = place.bundle("other", &options);
    let found = explained(&bundle);
    let again = format!(
        "headstart bundle --outside libfew --fixed --check image --out {} {program}",
        place.text("other")
    );
    let remedy = finding(&found).unwrap()["remedy"].as_str().unwrap();
    assert!(remedy.contains(&again), "{remedy}");
    let read = run(&["explain", "-r", "1", "--", &bundle]);
    let text = stdout(&read);
    assert!(text.contains("\nWhat each start of program (bundle) still does\n"), "{text}");
    assert!(text.contains("\n  + libmany.so.1 ") && text.contains("\n  what is of no library "));
}

#[test]
fn a_sealed_bundle_is_made_again_sealed_with_what_it_carries() {
    let Some(place) = Place::new() else { return };
    let source = "int plug(void) { return 1; }";
    let cc = testkit::tool("cc").unwrap();
    testkit::compile(&cc, place.folder.path(), "plug.so", source, &["-shared", "-fPIC"]);
    let plug = place.text("plug.so");
    let found = explained(&place.bundle("out", &["--sealed", "--include", &plug]));
    let again = format!(
        "headstart bundle --fixed --check sealed --include {plug} --out {} {}",
        place.text("out"),
        place.text("program")
    );
    let remedy = finding(&found).unwrap()["remedy"].as_str().unwrap();
    assert!(remedy.contains(&again), "{remedy}");
}

#[test]
fn a_stale_bundle_has_no_start_to_tell_of() {
    let Some(place) = Place::new() else { return };
    let bundle = place.bundle("out", &["--outside", "libfew"]);
    let library = place.path("libmany.so.1");
    std::fs::copy(&library, place.path("copy")).unwrap();
    std::fs::rename(place.path("copy"), &library).unwrap();
    let found = explained(&bundle);
    assert_eq!(found["bundles"][0]["remains"], Value::Null, "{found:#}");
    assert!(finding(&found).is_none());
    // The command that makes it again has its options.
    let first = &found["findings"][0];
    let again = format!("headstart bundle --outside libfew --out {}", place.text("out"));
    assert!(first["remedy"].as_str().unwrap().contains(&again), "{first:#}");
}

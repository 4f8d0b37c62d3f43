//! `headstart explain` of a bundle: its libraries, their initializers and faults, and a bundle that
//! did not run.

use crate::common::{stderr, stdout};
use crate::stage::{headstart, json, run};
use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use testkit::WhenFree;

/// Each library's constructor counts to so many millions.
const LIBRARIES: [(&str, u32); 3] = [("libshort", 2), ("libmedium", 8), ("liblong", 32)];
const LIBRARY: &str = "
static volatile unsigned long counted;
__attribute__((constructor)) static void begin(void) {
    for (unsigned long n = 0; n < MILLIONS * 1000000UL; n++) counted = n;
}
unsigned long NAME(void) { return counted; }
static int here;
__attribute__((used)) static int *volatile place = &here;
";
const PROGRAM: &str = r#"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
unsigned long libshort(void), libmedium(void), liblong(void);
int main(int count, char **words) {
    if (count > 1 && !strcmp(words[1], "again")) {
        char *again[] = { words[2], "once", 0 };
        execv(words[2], again);
        return 3;
    }
    return puts(libshort() < libmedium() && libmedium() < liblong() ? "counted" : "?") < 0;
}
"#;

struct Place {
    folder: TempDir,
}

impl Place {
    /// The program and its libraries; `None`, said loudly, without a compiler.
    fn new() -> Option<Place> {
        let cc = testkit::tool("cc")?;
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir(root.join("lib")).unwrap();
        for (name, millions) in LIBRARIES {
            let flags = [
                "-shared",
                "-fPIC",
                "-O1",
                &format!("-DMILLIONS={millions}"),
                &format!("-DNAME={name}"),
                &format!("-Wl,-soname,{name}.so.1"),
            ];
            testkit::compile(&cc, root, &format!("lib/{name}.so.1"), LIBRARY, &flags);
        }
        let rpath = format!("-Wl,-rpath,{}", root.join("lib").display());
        let libraries = LIBRARIES.map(|(name, _)| format!("lib/{name}.so.1"));
        let [short, medium, long] = &libraries;
        let flags = ["-pie", "-fPIE", "-O1", short, medium, long, &rpath];
        testkit::compile(&cc, root, "counter", PROGRAM, &flags);
        Some(Place { folder })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Its bundle in a folder.
    fn bundle(&self, out: &str, fixed: bool) -> String {
        let (folder, program) = (self.text(out), self.text("counter"));
        let mut words = vec!["bundle", "--out", &folder];
        words.extend(fixed.then_some("--fixed"));
        words.push(&program);
        let made = run(&words);
        assert!(made.status.success(), "{}", stderr(&made));
        std::thread::sleep(std::time::Duration::from_millis(12));
        format!("{folder}/run")
    }
}

fn explained(words: &[&str]) -> Value {
    json(&[&["explain", "-r", "2", "--json", "--"], words].concat())
}

/// What a person reads of it.
fn told(words: &[&str]) -> String {
    let output = run(&[&["explain", "-r", "1", "--"], words].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output)
}

fn list<'a>(found: &'a Value, name: &str) -> &'a [Value] {
    found[name].as_array().unwrap()
}

fn phase(found: &Value, name: &str) -> f64 {
    let mut phases = list(found, "phases").iter();
    phases.find(|phase| phase["phase"] == name).map_or(0.0, |phase| phase["us"].as_f64().unwrap())
}

fn sums_up(found: &Value) {
    let sum: f64 = list(found, "phases").iter().map(|phase| phase["us"].as_f64().unwrap()).sum();
    let total = found["total_us"].as_f64().unwrap();
    assert!((sum - total).abs() < 1e-3, "{sum} of {total}");
}

/// The modules of a bundle that ran: the libraries in the order of what their initializers take.
fn is_told_by_library(found: &Value, bundle: &str, original: &str) {
    let modules = list(found, "modules");
    let merged: Vec<&Value> = modules.iter().filter(|m| m["merged_in"] == bundle).collect();
    let names: Vec<&str> = merged
        .iter()
        .map(|module| Path::new(module["path"].as_str().unwrap()).file_name().unwrap())
        .map(|name| name.to_str().unwrap())
        .collect();
    assert_eq!(names, ["liblong.so.1", "libmedium.so.1", "libshort.so.1"], "{merged:#?}");
    let init = |module: &Value| module["init_us"].as_f64().unwrap();
    assert!(init(merged[0]) > init(merged[1]) && init(merged[1]) > init(merged[2]), "{merged:#?}");
    for module in &merged {
        assert!(module["minor_faults"].as_u64().unwrap() > 0, "{module:#}");
        assert!(module["work"]["initializers"].as_u64().unwrap() > 0, "{module:#}");
        assert!(module["relocate_us"]["unavailable"].is_string(), "{module:#}");
    }
    let own = modules.iter().find(|module| module["path"] == bundle).unwrap();
    assert_eq!(list(own, "merged").len(), 3);
    assert!(own["relocate_us"].is_number(), "{own:#}");
    assert!(init(own) < init(merged[0]), "what the libraries take is not the bundle's: {own:#}");
    // The program itself does next to nothing.
    assert!(phase(found, "main") < init(merged[0]), "{found:#}");
    assert!(phase(found, "initialise") > init(merged[0]), "{found:#}");
    sums_up(found);
    let [report] = list(found, "bundles") else { panic!("{found:#}") };
    assert_eq!((&report["path"], &report["original"]), (&bundle.into(), &original.into()));
    assert_eq!((&report["libraries"], &report["started_original"]), (&3.into(), &false.into()));
    let check = report["check_us"].as_f64().unwrap();
    assert!(check > 0.0 && check <= init(own), "{report:#}");
    assert_eq!(found["processes"][0]["bundle_of"], original);
    let findings = list(found, "findings");
    let finding = findings.iter().find(|finding| finding["id"] == "initialisers").unwrap();
    assert!(finding["evidence"][0].as_str().unwrap().starts_with("liblong.so.1: "), "{finding:#}");
    assert!(findings.iter().all(|finding| finding["id"] != "stale-bundle"), "{findings:#?}");
}

/// Relocations in the merged libraries.
fn relocations(found: &Value) -> u64 {
    let modules = list(found, "modules").iter().filter(|module| module["merged_in"].is_string());
    modules.map(|module| module["work"]["relocations"].as_u64().unwrap()).sum()
}

#[test]
fn libraries_are_told_by_name() {
    let Some(place) = Place::new() else { return };
    let original = place.text("counter");
    let movable = explained(&[&place.bundle("made/movable", false)]);
    is_told_by_library(&movable, &place.text("made/movable/run"), &original);
    let bundle = place.bundle("made/fixed", true);
    let fixed = explained(&[&bundle]);
    is_told_by_library(&fixed, &bundle, &original);
    // Nothing is adjusted at fixed addresses.
    assert!(relocations(&fixed) < relocations(&movable), "{fixed:#}\n{movable:#}");
    let text = told(&[&bundle]);
    assert!(text.contains("+ liblong.so.1 ") && text.contains("counter (bundle) "), "{text}");
    assert!(text.contains("3 libraries merged; its check at the start "), "{text}");
    // Wherever the file is, it tells what is in it.
    std::fs::create_dir(place.path("made/elsewhere")).unwrap();
    let copied = place.text("made/elsewhere/run");
    std::fs::copy(&bundle, &copied).unwrap();
    is_told_by_library(&explained(&[&copied]), &copied, &original);
}

#[test]
fn that_the_original_was_started_comes_first() {
    let Some(place) = Place::new() else { return };
    for fixed in [false, true] {
        let bundle = place.bundle(&format!("made/{fixed}"), fixed);
        let library = place.path("lib/libmedium.so.1");
        std::fs::copy(&library, place.path("copy")).unwrap();
        std::fs::rename(place.path("copy"), &library).unwrap();
        let found = explained(&[&bundle]);
        sums_up(&found);
        let first = &found["findings"][0];
        assert_eq!(first["id"], "stale-bundle", "{found:#}");
        let why = first["evidence"][0].as_str().unwrap();
        assert!(why.contains("libmedium.so.1 is not what it was"), "{why}");
        let report = &found["bundles"][0];
        assert_eq!(report["started_original"], true, "{report:#}");
        assert!(report["difference"]["subject"].is_string(), "{report:#}");
        assert!(list(&found, "modules").iter().all(|module| module["merged_in"].is_null()));
        let notes: Vec<&Value> =
            list(&found, "processes").iter().flat_map(|process| list(process, "notes")).collect();
        assert!(notes.is_empty(), "{notes:?}");
        let text = told(&[&bundle]);
        assert!(text.starts_with("Stale bundle: "), "{text}");
        assert!(!text.contains("× run") && text.contains("\n  liblong.so.1 "), "{text}");
    }
}

#[test]
fn a_variable_for_which_the_original_was_started_is_named() {
    let Some(place) = Place::new() else { return };
    let bundle = place.bundle("made/out", false);
    let words = ["explain", "-r", "1", "--json", "--", &bundle];
    let output = headstart(&words).env("LD_LIBRARY_PATH", "/nowhere").output_when_free();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let first = &found["findings"][0];
    assert_eq!(first["id"], "stale-bundle", "{found:#}");
    assert!(first["evidence"][0].as_str().unwrap().contains("LD_LIBRARY_PATH"), "{first:#}");
    assert!(!first["remedy"].as_str().unwrap().contains("headstart bundle"), "{first:#}");
}

#[test]
fn a_program_that_executes_itself_is_the_bundle_twice() {
    let Some(place) = Place::new() else { return };
    let (bundle, original) = (place.bundle("made/out", false), place.text("counter"));
    let found = explained(&[&bundle, "again", &original]);
    let processes = list(&found, "processes");
    assert_eq!(processes.len(), 2, "{processes:#?}");
    for process in processes {
        assert_eq!(
            (&process["path"], &process["bundle_of"]),
            (&bundle.as_str().into(), &original.as_str().into())
        );
    }
    let findings = list(&found, "findings");
    assert!(findings.iter().all(|finding| finding["id"] != "stale-bundle"), "{findings:#?}");
    let text = told(&[&bundle, "again", &original]);
    assert_eq!(text.matches("counter (bundle)").count(), 4, "{text}");
    assert!(!text.contains(" exe "), "{text}");
}

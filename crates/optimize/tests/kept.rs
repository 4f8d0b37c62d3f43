//! What is said of the folders that are left: right after they were made, and when something has
//! changed since. What `run` really does is the oracle.
#![allow(clippy::unwrap_used)]

mod bench;

use bench::terms;
use model::RecordingMode;
use model::bundle::{BundleVerification, ChangeKind, Starts};
use model::optimization::Manifest;
use optimize::{
    Baseline, Launches, Optimization, OptimizeError, ResultFolder, Verifier, keep, registry,
};
use os::launcher::Launcher;
use rewrite::selfbind::{self, LibraryChoice};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const LIBRARIES: usize = 6;

/// A program that asks for its libraries in a bad order, with pointers and own symbols all over.
struct Stage {
    folder: TempDir,
    cc: PathBuf,
}

impl Stage {
    fn new() -> Option<Stage> {
        let stage = Stage { folder: tempfile::tempdir().unwrap(), cc: testkit::tool("cc")? };
        fs::create_dir(stage.path("lib")).unwrap();
        (0..LIBRARIES).for_each(|index| stage.library(index, "v1"));
        stage.program("v1");
        Some(stage)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// Made anew and put there by a rename, as packages are upgraded.
    fn library(&self, index: usize, version: &str) {
        let names = (0..20).map(|n| format!("f{index}_{n}")).collect::<Vec<_>>();
        let functions: String =
            names.iter().map(|name| format!("int {name}(void) {{ return {index}; }}\n")).collect();
        let source = format!(
            "{functions} int (*table{index}[])(void) = {{ {} }};\n\
             const char *version{index}(void) {{ return table{index}[3]() == {index} ? \"{version}\" : \"\"; }}",
            names.join(", ")
        );
        let soname = format!("-Wl,-soname,lib{index}.so");
        testkit::compile(
            &self.cc,
            self.folder.path(),
            "lib/new",
            &source,
            &["-shared", "-fPIC", &soname],
        );
        fs::rename(self.path("lib/new"), self.path(&format!("lib/lib{index}.so"))).unwrap();
    }

    fn program(&self, version: &str) {
        let last = LIBRARIES - 1;
        let calls: String = (0..20).map(|n| format!("f{last}_{n}() + ")).collect();
        let declared: String = (0..20).map(|n| format!("int f{last}_{n}(void);\n")).collect();
        let all = (0..LIBRARIES).map(|index| format!("const char *version{index}(void);\n"));
        let printed = (0..LIBRARIES).map(|index| format!("fputs(version{index}(), stdout);"));
        let source = format!(
            "#include <stdio.h>\n{declared}{}static const char *words[] = {{ \"a\", \"b\", \"c\" }};\n\
             const char **where = words;\n\
             int main(void) {{ printf(\"{version} %d %s \", {calls} 0, where[1]); {} puts(\"\"); return 0; }}",
            all.collect::<String>(),
            printed.collect::<String>(),
        );
        let folder = self.path("lib").display().to_string();
        let mut options = vec!["-Wl,--no-as-needed".to_owned(), format!("-L{folder}")];
        options.extend((0..LIBRARIES).map(|index| format!("-l:lib{index}.so")));
        options.push(format!("-Wl,-rpath,{folder},-z,now"));
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        testkit::compile(&self.cc, self.folder.path(), "new", &source, &options);
        fs::rename(self.path("new"), self.path("program")).unwrap();
    }

    /// Leaves one variant, or the original, in a folder.
    fn left(&self, optimization: Option<Optimization>, out: &Path) -> Result<(), OptimizeError> {
        let command = os::program::resolve(&[self.path("program").into_os_string()]).unwrap();
        let terms = terms();
        let mut place = ResultFolder::claim(out)?;
        let mut launches = Launches::new(Launcher::start()?, None)?;
        let baseline = Baseline::new(command, &terms, &mut launches)?;
        let mut verifier = Verifier::new(&baseline, &terms, &mut launches);
        match optimization {
            Some(one) => drop(place.build(&baseline, &mut verifier, one, &mut |_| ())?),
            None => place.start_original(&baseline),
        }
        place.keep(&Manifest {
            schema: 1,
            headstart: String::new(),
            variant: optimization.map_or("default", |one| one.name).to_owned(),
            starts: String::new(),
            command: "program".to_owned(),
            original: keep::original(&baseline),
            figures: Vec::new(),
            replaced: Vec::new(),
            parts: Vec::new(),
            notes: Vec::new(),
            undo: String::new(),
            kept: Default::default(),
        })?;
        Ok(())
    }
}

fn output(program: &Path) -> String {
    let output = Command::new(program).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn verified(out: &Path) -> BundleVerification {
    let keep::FolderVerification { found, next } = keep::verify(out).unwrap();
    assert_eq!(found.current, found.changes.is_empty(), "{found:?}");
    let right = found.current && found.used;
    assert_eq!(found.reason.is_none(), right, "{found:?}");
    assert!(right || next.is_some() || found.remedy.is_some(), "{found:?}");
    found
}

fn current(out: &Path, starts: Starts) {
    let found = verified(out);
    assert!(found.current && found.starts == starts, "{}: {found:?}", out.display());
    assert!(found.files > 0);
}

/// Not current, for this file.
fn stale(out: &Path, starts: Starts, file: &str) {
    let found = verified(out);
    assert!(!found.current && found.starts == starts, "{}: {found:?}", out.display());
    assert!(found.changes.iter().any(|change| change.path.contains(file)), "{file}: {found:?}");
}

/// Whatever is changed among the files that were left is told.
fn each_file(out: &Path) {
    let text = fs::read_to_string(out.join("headstart.json"))
        .or_else(|_| fs::read_to_string(out.join("libraries.json")));
    let manifest: serde_json::Value = serde_json::from_str(&text.unwrap()).unwrap();
    let files = manifest["files"].as_array().unwrap();
    assert!(files.iter().any(|file| file["path"] == "run"), "{files:?}");
    for file in files {
        let name = file["path"].as_str().unwrap();
        let (path, kept) = (out.join(name), out.join("kept-aside"));
        fs::rename(&path, &kept).unwrap();
        stale(out, Starts::Unknown, name);
        if file["link"].is_null() {
            let mode = fs::metadata(&kept).unwrap().permissions();
            let mut bytes = fs::read(&kept).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(&path, &bytes).unwrap();
            fs::set_permissions(&path, mode.clone()).unwrap();
            stale(out, Starts::Unknown, name);
            fs::remove_file(&path).unwrap();
            if file["executable"] == true {
                fs::copy(&kept, &path).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
                stale(out, Starts::Unknown, name);
                fs::remove_file(&path).unwrap();
            }
        } else {
            std::os::unix::fs::symlink("/bin/true", &path).unwrap();
            stale(out, Starts::Unknown, name);
            fs::remove_file(&path).unwrap();
        }
        fs::rename(&kept, &path).unwrap();
    }
}

/// What a change of a library and of the program means to one variant.
struct Case {
    name: &'static str,
    /// What its `run` starts while nothing has changed.
    starts: Starts,
    /// A library is part of it, or of its proof.
    of_library: bool,
    /// It is right in its folder only.
    stays: bool,
}

const fn case(name: &'static str, starts: Starts, of_library: bool, stays: bool) -> Case {
    Case { name, starts, of_library, stays }
}

const CASES: [Case; 7] = [
    case("order", Starts::Copies, true, false),
    case("selfbind + order", Starts::Copies, true, true),
    case("relr", Starts::Copies, false, false),
    case("no-pie", Starts::Copies, false, false),
    case("no-pie + order", Starts::Copies, true, false),
    case("bundle", Starts::Bundle, true, false),
    case("bundle --fixed", Starts::Bundle, true, false),
];

#[test]
fn each_kind_of_variant() {
    let Some(stage) = Stage::new() else { return };
    let all = registry::ALL;
    let others = all.iter().filter(|one| !one.for_cold);
    assert_eq!(others.count(), CASES.len(), "each variant has a case");
    let before = output(&stage.path("program"));
    let out = |case: &Case| stage.path(&format!("out {}", case.name));
    for case in &CASES {
        let variant = all.into_iter().find(|one| one.name == case.name).unwrap();
        stage.left(Some(variant), &out(case)).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(output(&out(case).join("run")), before, "{}", case.name);
        current(&out(case), case.starts);
        each_file(&out(case));
        current(&out(case), case.starts);
    }
    let library = stage.path("lib/lib2.so");
    let former = fs::read(&library).unwrap();
    stage.library(2, "v2");
    let after = output(&stage.path("program"));
    assert_ne!(before, after);
    for case in &CASES {
        let old = output(&out(case).join("run")) == before;
        match (case.of_library, case.starts) {
            // A bundle starts the original.
            (_, Starts::Bundle) => {
                assert!(!old, "{}", case.name);
                stale(&out(case), Starts::Original, "lib2.so");
            }
            (true, _) => {
                assert_eq!(old, case.stays, "{}", case.name);
                stale(&out(case), Starts::Copies, "lib2.so");
            }
            (false, _) => {
                assert!(!old, "{}", case.name);
                current(&out(case), Starts::Copies);
            }
        }
    }
    fs::write(stage.path("lib/former"), former).unwrap();
    fs::rename(stage.path("lib/former"), &library).unwrap();
    for case in &CASES {
        // The bundle sees another file, of the same content.
        let starts = if case.starts == Starts::Bundle { Starts::Original } else { Starts::Copies };
        current(&out(case), starts);
    }
    stage.program("v2");
    for case in &CASES {
        let old = output(&out(case).join("run")) == before;
        assert_eq!(old, case.starts == Starts::Copies, "{}", case.name);
        let starts = if old { Starts::Copies } else { Starts::Original };
        stale(&out(case), starts, "program");
    }
}

/// Bundles for cold launches are found to read ahead, and are declined where that cannot be recorded.
#[test]
fn bundles_that_read_ahead() {
    let Some(stage) = Stage::new() else { return };
    let ahead = registry::ALL.into_iter().filter(|one| one.for_cold);
    for variant in ahead {
        let out = stage.path(&format!("out {}", variant.name));
        if let Err(error) = stage.left(Some(variant), &out) {
            let reason = error.to_string();
            let known = ["run headstart as root", "reads nothing from a disk"];
            let known = known.into_iter().find(|known| reason.contains(known));
            assert!(known.is_some(), "{reason}");
            assert!(!out.join("run").exists());
            testkit::skip(match known {
                Some("run headstart as root") => "recording pages needs root",
                _ => "the folder for temporary files is in memory",
            });
            continue;
        }
        assert_eq!(output(&out.join("run")), output(&stage.path("program")));
        current(&out, Starts::Bundle);
        let list = verified(&out).read_ahead.unwrap();
        assert!(list.recorded == RecordingMode::Exact && list.ranges > 0, "{list:?}");
        assert_eq!(list.command, stage.path("program").display().to_string());
    }
}

#[test]
fn the_original_left_as_it_is() {
    let Some(stage) = Stage::new() else { return };
    let out = stage.path("out");
    stage.left(None, &out).unwrap();
    current(&out, Starts::Original);
    each_file(&out);
    // Whatever version is there is started.
    stage.library(1, "v2");
    stage.program("v2");
    assert_eq!(output(&out.join("run")), output(&stage.path("program")));
    current(&out, Starts::Original);
    fs::remove_file(stage.path("program")).unwrap();
    stale(&out, Starts::Nothing, "program");
}

#[test]
fn a_folder_of_selfbind() {
    let Some(stage) = Stage::new() else { return };
    let (program, out) = (stage.path("program"), stage.path("out"));
    selfbind::program(&program, &out, &LibraryChoice::default()).unwrap();
    current(&out, Starts::Copies);
    each_file(&out);
    let before = output(&out.join("run"));
    stage.library(0, "v2");
    assert_eq!(output(&out.join("run")), before, "it goes on using the copy");
    stale(&out, Starts::Copies, "lib0.so");
    stage.library(0, "v1");
    // Another library that the loader would take now.
    let found = verified(&out);
    assert!(found.current, "{found:?}");
    fs::rename(stage.path("lib/lib1.so"), stage.path("lib/other.so")).unwrap();
    stale(&out, Starts::Copies, "lib1.so");
    fs::rename(stage.path("lib/other.so"), stage.path("lib/lib1.so")).unwrap();
    fs::rename(&out, stage.path("moved")).unwrap();
    let found = verified(&stage.path("moved"));
    assert_eq!(found.changes[0].what, ChangeKind::Moved, "{found:?}");
    assert!(found.reason.unwrap().contains("made in"));
}

#[test]
fn moved_folders() {
    let Some(stage) = Stage::new() else { return };
    for case in &CASES {
        let variant = registry::ALL.into_iter().find(|one| one.name == case.name).unwrap();
        let (out, moved) = (stage.path("made"), stage.path("moved"));
        stage.left(Some(variant), &out).unwrap();
        fs::rename(&out, &moved).unwrap();
        if case.stays {
            stale(&moved, Starts::Unknown, "moved");
        } else {
            assert_eq!(output(&moved.join("run")), output(&stage.path("program")), "{}", case.name);
            current(&moved, case.starts);
        }
        fs::remove_dir_all(&moved).unwrap();
    }
}

#[test]
fn manifests_are_not_trusted() {
    let Some(stage) = Stage::new() else { return };
    let out = stage.path("out");
    let variant = registry::ALL.into_iter().find(|one| one.name == "relr").unwrap();
    stage.left(Some(variant), &out).unwrap();
    let path = out.join("headstart.json");
    let text = fs::read_to_string(&path).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    let with = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut changed = manifest.clone();
        change(&mut changed);
        fs::write(&path, changed.to_string()).unwrap();
        keep::verify(&out).map(|verified| verified.found)
    };
    let refused = |change: &dyn Fn(&mut serde_json::Value), says: &str| {
        let error = with(change).unwrap_err().to_string();
        assert!(error.contains(says) && error.contains("headstart.json"), "{error}");
    };
    refused(&|manifest| manifest["schema"] = 9.into(), "layout 9");
    refused(&|manifest| drop(manifest.as_object_mut().unwrap().remove("files")), "did not record");
    refused(&|manifest| manifest["original"] = 7.into(), "invalid type");
    for name in ["/etc/passwd", "../program", "files/../../program", "/dev/zero", "\0"] {
        let found = with(&|manifest| manifest["files"][0]["path"] = name.into()).unwrap();
        assert!(!found.current && found.reason.is_some(), "{found:?}");
        let found = with(&|manifest| manifest["modules"][0]["path"] = name.into()).unwrap();
        assert!(!found.current && found.reason.is_some(), "{found:?}");
    }
    for length in [0, 1, text.len() / 2] {
        fs::write(&path, &text[..length]).unwrap();
        assert!(keep::verify(&out).is_err(), "{length}");
    }
    fs::remove_file(&path).unwrap();
    assert!(keep::verify(&out).is_err());
}

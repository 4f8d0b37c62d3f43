//! What the commands print and leave.

use crate::common::{stderr, stdout};
use crate::stage::{FIXED, KINDS, LIBRARIES, OUT, Stage, json, names, outcome, run};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use testkit::WhenFree;

#[test]
fn it_is_made_runs_and_is_current() {
    let Some(stage) = Stage::bare() else { return };
    let program = stage.text("program");
    for kind in KINDS {
        let out = stage.text(kind);
        let mut words = vec!["bundle", "--out", &out, &program];
        words.extend((kind == FIXED).then_some("--fixed"));
        let said = stdout(&run(&words));
        assert!(said.contains(&format!("{out}/run")), "{said}");
        let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let fixed = flat.contains("(they are fixed: see headstart rerandomize)");
        assert_eq!(fixed, kind == FIXED, "{said}");
        assert_eq!(names(&stage.path(kind)), ["headstart.json", "run", "symbols.gdb"]);
        let mode = |name: &str| fs::metadata(stage.path(name)).unwrap().permissions().mode();
        assert_eq!(mode(&format!("{kind}/run")), mode("program"));
        let original = outcome(&stage.start("program").output_when_free());
        assert!(original.contains("program v1: one-v1 two-v1/three-v1 three-v1"), "{original}");
        assert_eq!(outcome(&stage.start(&format!("{kind}/run")).output_when_free()), original);
        assert!(stage.runs_merged(kind));
        let verified = run(&["verify", &out]);
        assert!(verified.status.success(), "{}", stderr(&verified));
        assert!(stdout(&verified).contains(&program), "{}", stdout(&verified));
    }
}

#[test]
fn json_of_both() {
    let Some(stage) = Stage::bare() else { return };
    let (program, out) = (stage.text("program"), stage.text(OUT));
    let made =
        json(&["bundle", "--json", "--fixed", "--outside", "libtwo", "--out", &out, &program]);
    assert_eq!((&made["schema"], &made["fixed"]), (&1.into(), &true.into()), "{made}");
    assert_eq!(made["program"], program);
    assert_eq!(made["outside"], serde_json::json!(["libtwo"]));
    let kept: serde_json::Value =
        serde_json::from_slice(&fs::read(stage.path("made/out/headstart.json")).unwrap()).unwrap();
    assert_eq!(kept, made);
    let modules = made["modules"].as_array().unwrap();
    assert!(modules[0].get("name").is_none() && modules[0]["offset"].is_u64(), "{made}");
    for (name, folder) in LIBRARIES {
        let module = modules.iter().find(|module| module["name"] == name).unwrap();
        let path = stage.path(folder).join(name);
        let found = std::path::Path::new(module["path"].as_str().unwrap()).canonicalize().unwrap();
        assert_eq!(found, path.canonicalize().unwrap());
        assert_eq!(module["bytes"], fs::metadata(&path).unwrap().len());
        assert_eq!(module["sha256"].as_str().unwrap().len(), 64);
        // What a library outside needs is outside too.
        let merged = name == "libone.so.1";
        assert_eq!(module["offset"].is_u64(), merged, "{module}");
        assert_eq!(module["outside"].is_string(), !merged, "{module}");
    }
    let mut verified = json(&["verify", "--json", &out]);
    // Whether the file system has large pages is another matter.
    let size = fs::metadata(stage.path("made/out/run")).unwrap().len();
    let pages = verified.as_object_mut().unwrap().remove("large_pages");
    assert_eq!(pages.is_some(), size >= 2 << 20, "{pages:?} of {size}");
    assert!(pages.is_none_or(|pages| pages["file_kib"] == size.div_ceil(1024)));
    // The bundle and symbols.gdb are looked at too.
    let files = modules.len() + 2;
    let wanted = serde_json::json!({
        "schema": 1, "program": program, "current": true, "used": true, "check": "host",
        "files": files, "reason": null,
        "starts": "bundle", "noticed": null, "remedy": null, "changes": []
    });
    assert_eq!(verified, wanted);
    assert_eq!(
        outcome(&stage.start("program").output_when_free()),
        outcome(&stage.start("made/out/run").output_when_free())
    );
}

#[test]
fn made_again_while_it_runs() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;
    let Some(stage) = Stage::bundled() else { return };
    for kind in KINDS {
        let mut command = stage.start(&format!("{kind}/run"));
        command.arg("sleep").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.next().unwrap().unwrap().contains("one-v1"));
        fs::copy(stage.path("v2/libone.so.1"), stage.path("first/libone.so.1")).unwrap();
        stage.bundle_one(kind);
        assert!(stage.runs_merged(kind));
        let now = stdout(&stage.start(&format!("{kind}/run")).output_when_free());
        assert!(now.contains("one-v2"), "{now}");
        child.stdin.take().unwrap().write_all(b"\n").unwrap();
        let line = lines.next().unwrap().unwrap();
        assert!(line.ends_with("one-v1 merged"), "{line}");
        assert_eq!(child.wait().unwrap().code(), Some(7));
        fs::remove_file(stage.path("first/libone.so.1")).unwrap();
    }
}

#[test]
fn a_folder_without_a_bundle() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().to_str().unwrap();
    for verb in ["verify", "rerandomize"] {
        let output = run(&[verb, text]);
        assert_eq!(output.status.code(), Some(6), "{}", stderr(&output));
        assert!(stderr(&output).contains("has no bundle that headstart has made"));
        fs::write(folder.path().join("headstart.json"), "{\"schema\": 1}").unwrap();
        assert_eq!(run(&[verb, text]).status.code(), Some(6));
        fs::remove_file(folder.path().join("headstart.json")).unwrap();
    }
}

//! `headstart inspect` as a command: what it prints where, and its exit codes.
#![allow(clippy::unwrap_used)] // a test that cannot read its input fails

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn inspect(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headstart"));
    command.arg("inspect").args(arguments).output().unwrap()
}

fn survey(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headstart"));
    command.args(["pe", "survey"]).args(arguments).output().unwrap()
}

fn images() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testfiles/elf")
}

fn image(name: &str) -> String {
    images().join(name).to_string_lossy().into_owned()
}

fn pe(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testfiles/pe");
    folder.join(name).to_string_lossy().into_owned()
}

fn json(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{}", stderr(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn paths(output: &Output) -> Vec<String> {
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let objects = json.as_array().unwrap().iter();
    objects.map(|object| object["path"].as_str().unwrap().to_owned()).collect()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn json_is_an_array_in_the_order_of_the_arguments() {
    let files = [image("versions.so"), image("aarch64.so"), image("pie")];
    let output = inspect(&["--json", &files[0], &files[1], &files[2]]);
    assert!(output.status.success());
    assert_eq!(paths(&output), files);
    let one = inspect(&["--json", &files[0]]);
    assert_eq!(paths(&one), files[..1]);
}

#[test]
fn a_file_that_is_not_elf_is_an_error_after_the_others() {
    let (good, bad) = (image("pie"), image("README.md"));
    let output = inspect(&["--json", &bad, &good, "/no/such/file"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(paths(&output), [good]);
    let errors = stderr(&output);
    assert_eq!(errors.lines().count(), 2, "{errors}");
    assert!(errors.contains("README.md is neither an ELF nor a PE file"), "{errors}");
    assert!(errors.contains("/no/such/file"), "{errors}");
}

#[test]
fn nothing_but_errors_is_still_json() {
    let output = inspect(&["--json", "/no/such/file"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(paths(&output).is_empty());
}

#[test]
fn a_folder_is_its_images_without_symbolic_links() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    std::fs::copy(image("pie"), inner.join("b")).unwrap();
    std::fs::copy(image("pie"), folder.path().join("z")).unwrap();
    std::fs::copy(pe("i686.dll"), folder.path().join("dll")).unwrap();
    std::fs::copy(image("README.md"), folder.path().join("text")).unwrap();
    // Programs for DOS begin as PE files do.
    std::fs::write(folder.path().join("dos"), [&b"MZ"[..], &[0; 100]].concat()).unwrap();
    std::fs::write(folder.path().join("short"), b"MZ").unwrap();
    std::fs::write(folder.path().join("empty"), b"").unwrap();
    std::os::unix::fs::symlink("z", folder.path().join("link")).unwrap();
    std::os::unix::fs::symlink("..", inner.join("loop")).unwrap();
    let output = inspect(&["--json", &folder.path().to_string_lossy()]);
    assert!(output.status.success(), "{}", stderr(&output));
    let found: Vec<String> =
        paths(&output).iter().map(|path| path.rsplit('/').next().unwrap().to_owned()).collect();
    assert_eq!(found, ["dll", "b", "z"]);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headstart"));
    command.args(["inspect", "--json"]).args(vec![image("pie"); 200]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(stderr(&output), "");
}

#[test]
fn the_text_fits_into_eighty_columns() {
    let output = inspect(&[&image("versions.so"), &image("powerpc64.so")]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("big-endian") && text.contains("R_PPC64_JMP_SLOT"), "{text}");
    for line in text.lines().filter(|line| line.starts_with(' ')) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

/// Names that scripts rely on.
#[test]
fn pe_files_have_the_promised_fields() {
    let facts = json(&inspect(&["--json", &pe("x86_64-guarded.exe")]))[0].clone();
    let expected = [
        ("format", "\"pe\""),
        ("machine", "\"x86_64\""),
        ("base", "5368709120"),
        ("size_of_image", "20480"),
        ("relocations", r#"{"ABSOLUTE":2,"DIR64":6}"#),
        ("imports", "5"),
        ("wrong_hints", "null"),
        ("exports", "0"),
        ("ordinals_only", "0"),
        ("bound", "[]"),
    ];
    for (name, value) in expected {
        assert_eq!(facts[name].to_string(), value, "{name}");
    }
    assert_eq!(facts["guard"]["functions"], 4);
    assert_eq!((&facts["guard"]["stride"], &facts["guard"]["flags"]), (&0.into(), &0x10500.into()));
    let checksum = &facts["checksum"];
    assert!(checksum["stored"] == 0 && checksum["computed"].as_u64().unwrap() > 0);
}

/// A workload with hints of zero, of which one in each library happens to be right.
fn workload(folder: &Path, hints: workload::Hints) -> Vec<String> {
    let pe = workload::PeOptions { hints, bases: workload::Bases::Default, ..Default::default() };
    let asked = workload::Pietrek {
        dlls: 3,
        functions: 10,
        globals: 2,
        by: workload::By::Name,
        format: workload::Format::Pe,
        arch: workload::Arch::X86_64,
        lazy: false,
        pe,
    };
    let files = (0..=3).map(|index| {
        let (name, bytes) = workload::pe::pietrek::file(&asked, index).unwrap();
        std::fs::write(folder.join(&name), bytes).unwrap();
        folder.join(&name).to_string_lossy().into_owned()
    });
    files.collect()
}

#[test]
fn hints_are_looked_up_in_the_files_own_folder_and_unknown_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let files = workload(folder.path(), workload::Hints::Zero);
    let program = files.iter().find(|path| path.ends_with(".exe")).unwrap();
    let facts = json(&inspect(&["--json", program]))[0].clone();
    assert_eq!((&facts["wrong_hints"], &facts["hints_checked"]), (&27.into(), &30.into()));
    let text = inspect(&[program]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("27 of 30 wrong, 3 unknown"), "{text}");
    // The same DLLs somewhere else, named or not.
    let alone = tempfile::tempdir().unwrap();
    let moved = alone.path().join("program.exe");
    std::fs::rename(program, &moved).unwrap();
    let moved = moved.to_string_lossy().into_owned();
    assert!(json(&inspect(&["--json", &moved]))[0]["wrong_hints"].is_null());
    let mut words = vec!["--json", &moved];
    words.extend(files.iter().filter(|path| path.ends_with(".dll")).map(String::as_str));
    assert_eq!(json(&inspect(&words))[0]["wrong_hints"], 27);
}

fn findings(set: &serde_json::Value) -> Vec<&str> {
    let findings = set["findings"].as_array().unwrap().iter();
    findings.map(|finding| finding["id"].as_str().unwrap()).collect()
}

#[test]
fn a_set_names_what_stands_in_each_others_way() {
    let folder = tempfile::tempdir().unwrap();
    workload(folder.path(), workload::Hints::Zero);
    let path = folder.path().to_string_lossy().into_owned();
    let set = json(&survey(&["--json", &path]));
    assert_eq!(set["files"].as_array().unwrap().len(), 4);
    assert_eq!(findings(&set), ["collisions", "wrong-hints", "file-alignment"]);
    // The first of three keeps its base; each function of ten has two globals.
    assert_eq!(set["collisions"]["moved"].as_array().unwrap().len(), 2);
    assert_eq!(set["collisions"]["relocations"], 40);
    let text = String::from_utf8_lossy(&survey(&[&path]).stdout).into_owned();
    assert!(text.contains("2 of 4 images collide with others [collisions]"), "{text}");
    assert!(text.contains("headstart pe rebase --auto"), "{text}");
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    workload(folder.path(), workload::Hints::Right);
    let set = json(&survey(&["--json", &path]));
    assert_eq!(findings(&set), ["collisions", "file-alignment"]);
}

#[test]
fn a_set_is_of_pe_files() {
    let output = survey(&[&pe("x86_64.dll"), &image("pie"), &image("README.md")]);
    assert_eq!(output.status.code(), Some(1));
    let errors = stderr(&output);
    assert!(errors.contains("pie is an ELF file; pe survey reads PE files"), "{errors}");
    assert_eq!(errors.lines().count(), 2, "{errors}");
    let folder = json(&survey(&["--json", &images().to_string_lossy()]));
    assert_eq!(folder["files"], serde_json::json!([]));
}

/// The size from which on Dawson's quadratic is told.
#[test]
fn a_program_with_very_many_guarded_functions_is_told_with_an_estimate() {
    let folder = tempfile::tempdir().unwrap();
    let asked = workload::Dawson {
        sources: 2,
        classes: 100,
        functions: 900,
        format: workload::Format::Pe,
        ..Default::default()
    };
    let (name, bytes) = workload::pe::dawson::file(&asked).unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let path = path.to_string_lossy().into_owned();
    let facts = json(&inspect(&["--json", &path]))[0].clone();
    assert!(facts["guard"]["functions"].as_u64().unwrap() >= 180_000);
    assert_eq!(
        (&facts["guard"]["sorted"], &facts["guard"]["outside_code"]),
        (&true.into(), &0.into())
    );
    let text = String::from_utf8_lossy(&inspect(&[&path]).stdout).into_owned();
    assert!(text.contains("ESTIMATE: Windows 10 before 1903 does about 1.0 times"), "{text}");
    assert_eq!(findings(&json(&survey(&["--json", &path])))[0], "guard");
}

/// A prefetch file of Windows 10, and a database as SuperFetch leaves it beside it.
fn prefetch_folder() -> tempfile::TempDir {
    use testkit::pf::{Codes, PfForm, PfSample, PfSampleFile, PfSampleVolume, mam};
    let folder = tempfile::tempdir().unwrap();
    let device = r"\DEVICE\HARDDISKVOLUME2";
    let path = format!(r"{device}\WINDOWS\NOTEPAD.EXE");
    let sample = PfSample {
        form: PfForm::ThirtyShorter,
        executable: "NOTEPAD.EXE".to_owned(),
        hash: 0xd841_4f97,
        run_count: 12,
        last_runs: vec![130_073_839_092_812_500],
        files: vec![PfSampleFile { path, reference: 0, pages: vec![0, 4096] }],
        volumes: vec![PfSampleVolume {
            device_path: device.to_owned(),
            serial: 1,
            created: 0,
            directories: Vec::new(),
            references: Vec::new(),
        }],
        text: String::new(),
    };
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("NOTEPAD.EXE-D8414F97.pf", &mam(&sample.bytes(), Codes::Skewed));
    write("AgAppLaunch.db", &mam(&[0; 5000], Codes::Even));
    folder
}

#[test]
fn prefetch_files_of_windows_are_inspected_by_their_content() {
    let folder = prefetch_folder();
    let named = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let output = inspect(&["--json", &folder.path().to_string_lossy(), &image("pie")]);
    let found = json(&output);
    assert_eq!(paths(&output), [named("NOTEPAD.EXE-D8414F97.pf"), image("pie")]);
    assert_eq!((&found[0]["format"], &found[0]["run_count"]), (&"prefetch".into(), &12.into()));
    assert_eq!(found[0]["files"][0]["pages"], serde_json::json!([0, 4096]));
    assert_eq!(found[0]["last_runs"][0], "2013-03-10T10:11:49.2812500Z");
    let database = inspect(&[&named("AgAppLaunch.db")]);
    assert_eq!(database.status.code(), Some(1));
    assert!(stderr(&database).contains("is no prefetch file"), "{}", stderr(&database));
    // Where images are asked for, they are not in the way.
    let survey = survey(&[&folder.path().to_string_lossy()]);
    assert!(!stderr(&survey).contains("NOTEPAD"), "{}", stderr(&survey));
}

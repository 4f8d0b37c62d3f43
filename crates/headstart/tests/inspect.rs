//! `headstart inspect` as a command: what it prints where, and its exit codes.
#![allow(clippy::unwrap_used)] // a test that cannot read its input fails

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn inspect(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headstart"));
    command.arg("inspect").args(arguments).output().unwrap()
}

fn images() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testfiles/elf")
}

fn image(name: &str) -> String {
    images().join(name).to_string_lossy().into_owned()
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
fn a_folder_is_its_elf_files_without_symbolic_links() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    std::fs::copy(image("pie"), inner.join("b")).unwrap();
    std::fs::copy(image("pie"), folder.path().join("z")).unwrap();
    std::fs::copy(image("README.md"), folder.path().join("text")).unwrap();
    std::fs::write(folder.path().join("empty"), b"").unwrap();
    std::os::unix::fs::symlink("z", folder.path().join("link")).unwrap();
    std::os::unix::fs::symlink("..", inner.join("loop")).unwrap();
    let output = inspect(&["--json", &folder.path().to_string_lossy()]);
    assert!(output.status.success(), "{}", stderr(&output));
    let found: Vec<String> =
        paths(&output).iter().map(|path| path.rsplit('/').next().unwrap().to_owned()).collect();
    assert_eq!(found, ["b", "z"]);
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

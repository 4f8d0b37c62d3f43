//! What programs are made of, without making the large ones.

use super::*;
use std::path::PathBuf;

/// The scripts as a shell reads them, and what they are to be told.
#[test]
fn scripts_are_read_by_a_shell_and_take_their_files() {
    for recipe in [vim::RECIPE, clang::RECIPE] {
        for script in [recipe.prepare, recipe.link, LINKER] {
            let output = std::process::Command::new("sh").args(["-nc", script]).output().unwrap();
            assert!(output.status.success(), "{}: {output:?}", recipe.name);
        }
        assert!(recipe.link.contains("\"$1\"") && recipe.link.contains("\"$2\""));
        let folder = Path::new("/made here");
        let tasks = [(recipe.launches)(folder), (recipe.held_out)(folder)].concat();
        assert!(tasks.len() >= 5, "{}: {}", recipe.name, tasks.len());
        let mut titles: Vec<&str> = tasks.iter().map(|task| &*task.title).collect();
        titles.sort_unstable();
        titles.dedup();
        assert_eq!(titles.len(), tasks.len(), "{titles:?}");
    }
}

#[test]
fn an_own_program_is_linked_in_its_folder() {
    let folder = tempfile::Builder::new().prefix("it's ").tempdir().unwrap();
    let task = Task { title: "-v".to_owned(), arguments: vec!["-v".into()] };
    let own = OwnProgram {
        source: folder.path().to_owned(),
        build: format!("pwd > {OUT}; cat {ORDER}"),
        launches: vec![task.clone()],
        held_out: Vec::new(),
    };
    let program = own_program(&own).unwrap();
    assert_eq!(program.launches, [task]);
    let command = crate::attempt::build_line(&program.build, Path::new("/dev/null"), None);
    let out = folder.path().join("out");
    let command = command.replace(OUT, &quoted(&out));
    let status = std::process::Command::new("sh").args(["-c", &command]).status().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    assert!(status.success());
    assert_eq!(fs::read_to_string(out).unwrap().trim_end(), folder.to_str().unwrap());

    let missing = OwnProgram { source: folder.join("missing"), ..own.clone() };
    assert!(matches!(own_program(&missing), Err(OpenOfficeError::Io { .. })));
    let file = folder.join("file");
    fs::write(&file, "").unwrap();
    assert!(matches!(
        own_program(&OwnProgram { source: file, ..own }),
        Err(OpenOfficeError::Io { .. })
    ));
}

/// vim's script without apt: what is missing is named, and nothing is left.
#[test]
fn a_script_that_fails_names_what_is_missing_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (tools, made) = (folder.path().join("tools"), folder.path().join("made"));
    fs::create_dir(&tools).unwrap();
    let script: PathBuf = folder.path().join("prepare.sh");
    fs::write(&script, vim::RECIPE.prepare).unwrap();
    let mut command = std::process::Command::new("/bin/sh");
    let output = command.arg(&script).arg(&made).env("PATH", &tools).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("without apt-get"), "{said}");
    assert!(!made.exists());
}

//! The optimizations of the registry that change a program's own file.
#![allow(clippy::unwrap_used)] // a test that cannot build its program fails

use image::elf::Loadable;
use optimize::registry;
use optimize::{Built, Optimization, Program};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A program with functions of its own in tables, which asks for the library with most of its
/// functions last; both libraries are beside it.
struct Stage {
    folder: TempDir,
    program: PathBuf,
}

const FUNCTIONS: usize = 60;

impl Stage {
    fn new() -> Option<Stage> {
        let cc = testkit::tool("cc")?;
        let folder = tempfile::tempdir().unwrap();
        let each = |text: fn(usize) -> String| (0..FUNCTIONS).map(text).collect::<String>();
        let defined = each(|n| format!("int f{n}(void) {{ return {n}; }}\n"));
        let library = |name: &str, source: &str| {
            let soname = format!("-Wl,-soname,{name}");
            testkit::compile(&cc, folder.path(), name, source, &["-shared", "-fPIC", &soname]);
        };
        library("libone.so", "int one;");
        library("libtwo.so", &(defined + "int (*own)(void) = f1;"));
        let declared = each(|n| format!("int f{n}(void);\n"));
        let named = each(|n| format!("f{n}, "));
        let main = format!(
            "#include <stdio.h>\n{declared}int (*table[])(void) = {{ {named} }};\n\
             int main(void) {{ return printf(\"%d\\n\", table[7]()) < 0; }}"
        );
        let flags = ["-pie", "-fPIE", "-Wl,--no-as-needed,-rpath,$ORIGIN", "-L."];
        let flags = [&flags[..], &["-l:libone.so", "-l:libtwo.so"]].concat();
        let program = testkit::compile(&cc, folder.path(), "program", &main, &flags);
        Some(Stage { folder, program })
    }
}

fn optimization(name: &str) -> Optimization {
    registry::ALL.into_iter().find(|optimization| optimization.name == name).unwrap()
}

fn program_at(path: &Path, file: &Path) -> Program {
    let command = os::program::resolve(&[path]).unwrap();
    Program { path: path.to_owned(), file: file.to_owned(), told: None, command }
}

fn built(name: &str, path: &Path, file: &Path) -> (Built, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let program = program_at(path, file);
    ((optimization(name).build)(&program, folder.path()).unwrap(), folder)
}

fn output(program: &Path) -> String {
    let output = Command::new(program).output().unwrap();
    assert!(output.status.success(), "{program:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_copy_elsewhere_finds_the_libraries_of_the_original() {
    let Some(stage) = Stage::new() else { return };
    let path = stage.folder.path().join("other-name");
    symlink("program", &path).unwrap();
    for name in ["order", "relr", "selfbind + order", "no-pie", "no-pie + order"] {
        let (built, folder) = built(name, &path, &stage.program);
        assert!(built.run.starts_with(folder.path()), "{name}: {built:?}");
        assert!(built.run.ends_with("other-name"), "{name}: {built:?}");
        assert!(built.replaced.contains(&stage.program), "{name}: {built:?}");
        assert_eq!(output(&built.run), "7\n", "{name}");
        let fixed = Loadable::open(&built.run).unwrap().fixed;
        assert_eq!(fixed, !optimization(name).keeps_aslr, "{name}");
    }
}

#[test]
fn a_folder_that_is_not_empty_is_refused() {
    let Some(stage) = Stage::new() else { return };
    let program = program_at(&stage.program, &stage.program);
    for name in ["order", "relr", "selfbind + order"] {
        let (_, folder) = built(name, &stage.program, &stage.program);
        assert!((optimization(name).build)(&program, folder.path()).is_err(), "{name}");
    }
}

/// What is asked for by a path in terms of $ORIGIN is found from elsewhere, too.
#[test]
fn a_copy_elsewhere_finds_what_is_asked_for_beside_the_original() {
    let Some(cc) = testkit::tool("gcc") else { return };
    let libraries = tempfile::tempdir().unwrap();
    let at = libraries.path();
    let flags = ["-shared", "-fPIC", "-Wl,-soname,$ORIGIN/libasked.so"];
    testkit::compile(&cc, at, "libasked.so", "int asked(void) { return 0; }", &flags);
    let main = "extern int asked(void); int (*volatile ask)(void) = asked;\n\
                int main(void) { return ask(); }";
    let flags = ["-pie", "-fPIE", "libasked.so", "-Wl,-rpath,$ORIGINS"];
    let file = testkit::compile(&cc, at, "program", main, &flags);
    for name in ["relr", "no-pie"] {
        let (built, _folder) = built(name, &file, &file);
        assert_eq!(output(&built.run), "", "{name}");
        let image = Loadable::open(&built.run).unwrap();
        let search = image.runpath.as_deref().or(image.rpath.as_deref());
        assert_eq!(search, Some("$ORIGINS"), "another token");
    }
}

#[test]
fn privileged_programs_keep_random_addresses() {
    let Some(stage) = Stage::new() else { return };
    let mode = std::fs::Permissions::from_mode(0o4755);
    std::fs::set_permissions(&stage.program, mode).unwrap();
    let program = program_at(&stage.program, &stage.program);
    let folder = tempfile::tempdir().unwrap();
    let refused = (optimization("no-pie").build)(&program, folder.path()).unwrap_err();
    assert!(refused.to_string().contains("set-user-ID"), "{refused}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

//! Files of this machine, by the answers of `inspect`'s reader, of file(1) and of llvm-readobj.

use image::identify::identify;
use model::{FileKind, Identity, ImageKind, Role, Subsystem};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The regular files right in a folder.
fn files(folder: impl AsRef<Path>) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let entries = entries.flatten().filter(|entry| entry.file_type().unwrap().is_file());
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files
}

fn role(kind: ImageKind) -> Role {
    match kind {
        ImageKind::Executable => Role::Executable,
        ImageKind::PositionIndependentExecutable => Role::Pie,
        ImageKind::StaticExecutable => Role::Static,
        ImageKind::StaticPie => Role::StaticPie,
        ImageKind::SharedLibrary => Role::Library,
        ImageKind::Loader => Role::Loader,
        ImageKind::Object => Role::Object,
        ImageKind::Core => Role::Core,
    }
}

/// The reader that maps the whole file says the same of every one.
#[test]
fn elf_files_are_what_inspect_says() {
    let testfiles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testfiles/elf");
    let mut all = files(testfiles);
    assert!(all.len() > 20);
    all.extend(files("/usr/bin"));
    all.extend(files("/usr/lib/x86_64-linux-gnu"));
    let mut compared = 0;
    for path in all {
        let found = identify(&path).unwrap();
        let Ok(facts) = image::elf::facts(&path) else {
            assert_ne!(found.kind, FileKind::Elf, "{path:?}");
            continue;
        };
        assert_eq!(found.kind, FileKind::Elf, "{path:?}");
        assert_eq!(found.role, Some(role(facts.kind)), "{path:?}: {found:?}");
        assert_eq!(found.machine, Some(facts.machine), "{path:?}");
        assert_eq!(found.interpreter, facts.interpreter.map(|path| path.0), "{path:?}");
        compared += 1;
    }
    assert!(compared > 20, "{compared}");
}

/// Paths and what a tool prints of each, a line for each.
fn mime_types(file: &Path, paths: &[PathBuf]) -> Vec<String> {
    let mut command = Command::new(file);
    let output = command.args(["--brief", "--mime-type"]).args(paths).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Whether the answer is the one that file(1) means by its type.
fn agrees(found: &Identity, mime: &str) -> bool {
    use FileKind::{Archive, Elf, Empty, Script, Text};
    match mime {
        "application/x-pie-executable" => matches!(found.role, Some(Role::Pie | Role::StaticPie)),
        "application/x-executable" => matches!(found.role, Some(Role::Executable | Role::Static)),
        // It calls libraries that can be run so too, such as the loader.
        "application/x-sharedlib" => matches!(found.role, Some(Role::Library | Role::Loader)),
        "application/x-object" => found.kind == Elf && found.role == Some(Role::Object),
        "application/gzip" | "application/zip" | "application/x-xz" => found.kind == Archive,
        "inode/x-empty" => found.kind == Empty,
        "text/x-shellscript" | "text/x-perl" | "text/x-script.python" | "text/x-ruby" => {
            matches!(found.kind, Script | Text)
        }
        _ if mime.starts_with("text/") => matches!(found.kind, Script | Text),
        _ => true,
    }
}

#[test]
fn programs_are_what_file_says() {
    let Some(file) = testkit::tool("file") else { return };
    let paths = files("/usr/bin");
    let types = mime_types(&file, &paths);
    assert_eq!(types.len(), paths.len());
    let mut elf = 0;
    for (path, mime) in paths.iter().zip(&types) {
        let found = identify(path).unwrap();
        assert!(agrees(&found, mime), "{path:?}: {mime}, {found:?}");
        elf += usize::from(found.kind == FileKind::Elf);
    }
    let theirs =
        ["application/x-pie-executable", "application/x-executable", "application/x-sharedlib"];
    assert_eq!(elf, types.iter().filter(|mime| theirs.contains(&mime.as_str())).count());
}

/// `Machine`, `Subsystem` and whether it is a DLL, of each file.
fn headers(readobj: &Path, paths: &[PathBuf]) -> Vec<(String, String, bool)> {
    let output = Command::new(readobj).arg("--file-headers").args(paths).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let field = |text: &str, name: &str| {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(name)).unwrap();
        line.split_whitespace().next().unwrap().to_owned()
    };
    let files = text.split("\nFile: ").skip(1);
    let facts = |text: &str| {
        let is_dll = text.contains("IMAGE_FILE_DLL ");
        (field(text, "Machine:"), field(text, "Subsystem:"), is_dll)
    };
    files.map(facts).collect()
}

#[test]
fn pe_files_are_what_llvm_readobj_says() {
    let Some(readobj) = testkit::tool("llvm-readobj-19") else { return };
    let folders = ["x86_64-windows", "i386-windows"];
    let folders = folders.map(|name| Path::new("/usr/lib/x86_64-linux-gnu/wine").join(name));
    let paths: Vec<PathBuf> = folders.iter().flat_map(files).collect();
    if paths.is_empty() {
        testkit::skip("needs Wine's DLLs: apt-get install wine64");
        return;
    }
    let theirs = headers(&readobj, &paths);
    let mut compared = 0;
    let mut theirs = theirs.into_iter();
    for path in &paths {
        let found = identify(path).unwrap();
        if found.kind == FileKind::Archive {
            continue;
        }
        let (machine, subsystem, is_dll) = theirs.next().unwrap();
        let ours = match found.machine.as_deref() {
            Some("x86_64") => "IMAGE_FILE_MACHINE_AMD64",
            Some("i386") => "IMAGE_FILE_MACHINE_I386",
            other => panic!("{path:?}: {other:?}"),
        };
        assert_eq!(ours, machine, "{path:?}");
        let ours = match found.subsystem {
            Some(Subsystem::Native) => "IMAGE_SUBSYSTEM_NATIVE",
            Some(Subsystem::Gui) => "IMAGE_SUBSYSTEM_WINDOWS_GUI",
            Some(Subsystem::Console) => "IMAGE_SUBSYSTEM_WINDOWS_CUI",
            other => panic!("{path:?}: {other:?}"),
        };
        assert_eq!(ours, subsystem, "{path:?}");
        assert_eq!(found.role == Some(Role::Library), is_dll, "{path:?}");
        let facts = image::pe::facts(path).unwrap();
        assert_eq!(found.machine.as_deref(), Some(&*facts.machine), "{path:?}");
        assert_eq!(found.subsystem.map(Subsystem::word), Some(&*facts.subsystem), "{path:?}");
        assert_eq!((found.runtimes.len(), &found.unknown), (0, &None), "{path:?}");
        compared += 1;
    }
    assert!(compared > 500 && theirs.next().is_none(), "{compared}");
}

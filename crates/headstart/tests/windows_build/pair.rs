//! The same command by both builds, each in a folder of its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;
use testkit::pe::{Printed, Wine};

/// The build for Windows, which `cargo xtask test` makes.
const BUILD: &str = "HEADSTART_EXE";

/// Both builds.
pub struct Pair {
    wine: Arc<Wine>,
    pub exe: PathBuf,
}

/// Two folders with the same files.
pub struct Folders {
    pub linux: TempDir,
    pub windows: TempDir,
}

impl Pair {
    /// None, after a loud line, without the build for Windows or Wine.
    pub fn new() -> Option<Pair> {
        let Some(exe) = std::env::var_os(BUILD) else {
            testkit::skip("needs headstart.exe: cargo xtask test builds it");
            return None;
        };
        let wine = Wine::shared()?;
        wine.runs_rust().then(|| Pair { wine, exe: exe.into() })
    }

    /// A folder that `fill` has filled, and a copy of it with the same times.
    pub fn with(&self, fill: impl FnOnce(&Path)) -> Folders {
        let folders =
            Folders { linux: tempfile::tempdir().unwrap(), windows: tempfile::tempdir().unwrap() };
        fill(folders.linux.path());
        let mut copy = Command::new("cp");
        copy.args(["-a", "."]).arg(folders.windows.path()).current_dir(folders.linux.path());
        assert!(copy.status().unwrap().success());
        folders
    }

    /// Runs the build for Linux, which succeeds.
    pub fn linux(&self, folder: &Path, words: &[&str]) {
        let output = super::common::headstart(folder, words).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Runs the build for Windows.
    pub fn windows(&self, folder: &Path, words: &[&str]) -> Printed {
        let exe = self.exe.to_str().unwrap();
        self.wine.printed(folder, &[&[exe], words].concat())
    }

    /// Runs a command in two new folders; both builds end with this exit code.
    pub fn both(&self, words: &[&str], code: i32) -> Folders {
        let folders = self.with(|_| {});
        self.run_in(&folders, words, code);
        folders
    }

    /// Runs a command in both folders; both builds end with this exit code.
    pub fn run_in(&self, folders: &Folders, words: &[&str], code: i32) {
        let (linux, windows) = self.run(folders, words);
        assert_eq!((linux.code, windows.code), (Some(code), Some(code)), "{words:?}: {windows:?}");
    }

    /// Runs a command in both folders; both builds print the same and end alike.
    pub fn run_alike(&self, folders: &Folders, words: &[&str]) {
        let (linux, windows) = self.run(folders, words);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(text(&windows.stdout), text(&linux.stdout), "{words:?}: {}", windows.stderr);
        assert_eq!(windows.code, linux.code, "{words:?}: {} {}", windows.stderr, linux.stderr);
    }

    /// As [`Pair::run_alike`], where the paths of the folders are printed.
    pub fn run_with_paths(&self, folders: &Folders, words: &[&str]) {
        let (linux, windows) = self.run(folders, words);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let place = |folder: &TempDir| folder.path().to_str().unwrap().to_owned();
        let printed = text(&windows.stdout).replace(r"\\", "/").replace('\\', "/");
        let printed = printed.replace(&format!("Z:{}", place(&folders.windows)), "FOLDER");
        let expected = text(&linux.stdout).replace(&place(&folders.linux), "FOLDER");
        assert_eq!(printed, expected, "{words:?}: {}", windows.stderr);
    }

    fn run(&self, folders: &Folders, words: &[&str]) -> (Printed, Printed) {
        let folder = folders.linux.path();
        let output = super::common::headstart(folder, words).current_dir(folder).output().unwrap();
        let linux = Printed {
            code: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        };
        (linux, self.windows(folders.windows.path(), words))
    }
}

impl Folders {
    /// Names and bytes of what Windows' build has made or left, without undo files.
    pub fn content(&self) -> BTreeMap<String, Vec<u8>> {
        let mut content = tree(self.windows.path());
        content.retain(|name, _| !name.ends_with(".headstart-undo"));
        content
    }

    /// Names in a folder, in order.
    pub fn names(&self, below: &str) -> Vec<String> {
        let entries = fs::read_dir(self.windows.path().join(below)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// All files are as old as each other: undo files keep the time of the original.
pub fn backdated(folder: &Path) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = fs::File::options().write(true).open(&path).unwrap();
        // Windows keeps no mode but this one.
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        file.set_permissions(mode).unwrap();
        file.set_modified(time).unwrap();
    }
}

/// Both folders have the same files with the same bytes.
pub fn assert_same_trees(folders: &Folders, words: &[&str]) {
    let (linux, windows) = (tree(folders.linux.path()), tree(folders.windows.path()));
    assert!(!windows.is_empty(), "{words:?}");
    let names = |tree: &BTreeMap<String, Vec<u8>>| tree.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&windows), names(&linux), "{words:?}");
    for (name, bytes) in &windows {
        assert!(*bytes == linux[name], "{words:?}: {name} differs");
    }
}

fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
            files.insert(name, fs::read(path).unwrap());
        }
    }
    files
}

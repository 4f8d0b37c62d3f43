//! Small programs of a test's own, and their bundles.

use crate::common::stderr;
use crate::stage::{command, outcome, run};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use testkit::WhenFree;

/// A folder of files that a test builds.
pub struct Place {
    pub folder: TempDir,
    cc: PathBuf,
}

impl Place {
    pub fn new() -> Option<Place> {
        let cc = testkit::tool("cc")?;
        let folder = tempfile::tempdir().unwrap();
        Some(Place { folder, cc })
    }

    pub fn built(&self, name: &str, source: &str, flags: &[&str]) -> PathBuf {
        testkit::compile(&self.cc, self.folder.path(), name, source, flags)
    }

    pub fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// It is bundled, and runs as the original.
    pub fn same(&self, program: &Path) -> String {
        let original = outcome(&command(program).output_when_free());
        let mut said = String::new();
        for (kind, words) in [("out", &[][..]), ("fixed", &["--fixed"])] {
            let out = self.path(kind).display().to_string();
            let made =
                run(&[&["bundle", "--out", &out, program.to_str().unwrap()], words].concat());
            assert!(made.status.success(), "{}", stderr(&made));
            said = String::from_utf8(made.stdout).unwrap();
            let bundle = command(&self.path(kind).join("run")).output_when_free();
            assert_eq!(outcome(&bundle), original, "{kind}");
            let current = run(&["verify", &out]);
            assert!(current.status.success(), "{}", String::from_utf8_lossy(&current.stdout));
        }
        said
    }
}

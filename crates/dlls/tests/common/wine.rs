//! Wine with a prefix of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Wine, and a prefix that goes away with it. It takes seconds to make: one for all.
pub struct Wine {
    wine: PathBuf,
    prefix: TempDir,
}

impl Wine {
    pub fn new() -> Option<Wine> {
        let wine = testkit::tool("wine64")?;
        let wine = Wine { wine, prefix: tempfile::tempdir().expect("a folder") };
        let status = wine.command(&wine.wine).args(["cmd", "/c", "exit 3"]).status();
        assert_eq!(status.expect("wine runs").code(), Some(3));
        Some(wine)
    }

    /// Exit code of a program. Nothing is kept open: Wine's server outlives it.
    pub fn run(&self, folder: &Path, words: &[&str]) -> Option<i32> {
        let mut command = self.command(&self.wine);
        command.args(words).current_dir(folder);
        command.status().expect("wine runs").code()
    }

    /// Exit code and standard output of a program.
    pub fn output(&self, folder: &Path, words: &[&str]) -> (Option<i32>, Vec<u8>) {
        let file = folder.join(".output");
        let mut command = self.command(&self.wine);
        let out = std::fs::File::create(&file).expect("a file");
        command.args(words).current_dir(folder).stdout(out);
        let code = command.status().expect("wine runs").code();
        let text = std::fs::read(&file).expect("the output");
        std::fs::remove_file(&file).expect("it was there");
        (code, text)
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env("WINEPREFIX", self.prefix.path())
            .env("WINEDEBUG", "-all")
            .env("WINEDLLOVERRIDES", "mscoree=;mshtml=;winedbg.exe=d")
            .env_remove("DISPLAY");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

impl Drop for Wine {
    fn drop(&mut self) {
        for server in ["wineserver64", "wineserver"] {
            let Some(server) = testkit::find(server) else { continue };
            // Ends this prefix's server only, and waits for it.
            for flag in ["-k", "-w"] {
                let _ = self.command(&server).arg(flag).status();
            }
            return;
        }
    }
}

/// The output of a tool that has to succeed.
pub fn succeeds(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    output
}

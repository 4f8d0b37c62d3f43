//! Programs run by Wine, for tests: one prefix for all tests of a process.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::{Mutex, PoisonError, Weak};
use std::time::Duration;
use tempfile::TempDir;

/// Wine with a prefix of its own, which goes, with everything that runs in it, with the last
/// value of this process.
///
/// The prefix is small and made in a moment: Wine leaves one as it is where `.update-timestamp`
/// says `disable`, and its own files are links.
#[derive(Debug)]
pub struct Wine {
    wine: PathBuf,
    prefix: TempDir,
}

/// What a program did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its exit code, of which Wine passes on the low 8 bits; `None` where it was killed.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
}

/// Longer than any test runs.
const LIMIT: Duration = Duration::from_secs(60);
/// How often a launch that Wine itself may have ended is made again.
const AGAIN: u32 = 2;
const PREFIX_UPDATE_OFF: &str = "disable\n";
/// Seconds for which the server stays without a program: between two tests, and not for ever.
const SERVER_STAYS: &str = "-p300";

/// The folder of Wine's own DLLs and programs for x86-64; `None`, after a loud line, without Wine.
pub fn libraries() -> Option<PathBuf> {
    let wine = crate::tool("wine64")?;
    let beside = wine.parent().unwrap_or(Path::new("/")).to_owned();
    let ways = ["../x86_64-linux-gnu/wine", "../lib64/wine", "../lib/wine"];
    let folders = ways.map(|way| beside.join(way).join("x86_64-windows"));
    folders.into_iter().find(|folder| folder.join("kernel32.dll").is_file())
}

impl Wine {
    /// The Wine of this process; `None`, after a loud line, where it is not installed.
    ///
    /// # Panics
    /// Where it is, and does not run.
    pub fn shared() -> Option<Arc<Wine>> {
        static SHARED: Mutex<Weak<Wine>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(wine) = shared.upgrade() {
            return Some(wine);
        }
        let wine = Arc::new(Wine::new()?);
        *shared = Arc::downgrade(&wine);
        Some(wine)
    }

    fn new() -> Option<Wine> {
        let (wine, libraries) = (crate::tool("wine64")?, libraries()?);
        let prefix = tempfile::Builder::new().prefix("headstart-test-wine-").tempdir();
        let prefix = prefix.unwrap_or_else(|error| panic!("a folder: {error}"));
        let system = prefix.path().join("drive_c/windows/system32");
        std::fs::create_dir_all(&system).unwrap_or_else(|error| panic!("{system:?}: {error}"));
        crate::write(&prefix.path().join(".update-timestamp"), PREFIX_UPDATE_OFF.as_bytes());
        let links = || -> std::io::Result<()> {
            for entry in std::fs::read_dir(&libraries)? {
                let entry = entry?;
                crate::host::link(entry.path(), system.join(entry.file_name()))?;
            }
            Ok(())
        };
        links().unwrap_or_else(|error| panic!("links to {libraries:?}: {error}"));
        let wine = Wine { wine, prefix };
        wine.start_server();
        let first = wine.run(&libraries, &["hostname.exe"]);
        assert_eq!(first.code, Some(0), "Wine's own hostname.exe: {first:?}");
        Some(wine)
    }

    /// Runs a program with its arguments in a folder, the program named from there.
    ///
    /// Wine 8.0 now and then ends a launch itself with exit code 1 and without a word, most often
    /// on a busy machine. Such a launch is made again; a program that always ends so still does.
    ///
    /// # Panics
    /// Where Wine cannot be started, or the program does not end.
    pub fn run(&self, folder: &Path, words: &[&str]) -> Run {
        let wine_failed = Run { code: Some(1), stdout: String::new() };
        let mut run = self.run_once(folder, words);
        for _ in 0..AGAIN {
            if run != wine_failed {
                break;
            }
            run = self.run_once(folder, words);
        }
        run
    }

    fn run_once(&self, folder: &Path, words: &[&str]) -> Run {
        // A file, not a pipe: what a program leaves running keeps a pipe open.
        let mut stdout = tempfile::tempfile().unwrap_or_else(|error| panic!("a file: {error}"));
        let copy = stdout.try_clone().unwrap_or_else(|error| panic!("a file: {error}"));
        let mut command = self.command(&self.wine);
        command.args(words).current_dir(folder).stdout(copy);
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let began = std::time::Instant::now();
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if began.elapsed() < LIMIT => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                other => {
                    let _ = child.kill();
                    panic!("{command:?} does not end: {other:?}");
                }
            }
        };
        let text = read(&mut stdout).unwrap_or_else(|error| panic!("{command:?}: {error}"));
        Run { code: status.code(), stdout: text }
    }

    /// A command in this Wine's surroundings, for those who start Wine by another program: what
    /// Wine is called by, and the command that has still to be told that.
    pub fn beneath(&self, program: &Path) -> (PathBuf, Command) {
        (self.wine.clone(), self.command(program))
    }

    /// Starts the server before any program. A launch that had to start it would take it along
    /// when it is ended, and the programs of other tests would end with it: with exit code 0.
    fn start_server(&self) {
        let mut server =
            self.server().unwrap_or_else(|| panic!("no server beside {:?}", self.wine));
        let status = server.arg(SERVER_STAYS).status();
        assert!(status.as_ref().is_ok_and(|status| status.success()), "{server:?}: {status:?}");
    }

    /// The command of Wine's server.
    fn server(&self) -> Option<Command> {
        let beside = self.wine.parent().unwrap_or(Path::new("/")).to_owned();
        let servers = ["wineserver64", "wineserver"].map(|name| beside.join(name));
        servers.into_iter().find(|path| path.is_file()).map(|server| self.command(&server))
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env("WINEPREFIX", self.prefix.path())
            // Debian's server never removes the folder that it makes there.
            .env("TMPDIR", self.prefix.path())
            .env("WINEDEBUG", "-all")
            .env("WINEDLLOVERRIDES", "mscoree=;mshtml=;winedbg.exe=d");
        for name in ["DISPLAY", "WINEARCH", "WINEDLLPATH", "WINELOADER", "WINESERVER"] {
            command.env_remove(name);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

fn read(file: &mut std::fs::File) -> std::io::Result<String> {
    use std::io::{Read, Seek};
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl Drop for Wine {
    fn drop(&mut self) {
        // Ends this prefix's server only, and waits for it.
        for flag in ["-k", "-w"] {
            let _ = self.server().map(|mut server| server.arg(flag).status());
        }
    }
}

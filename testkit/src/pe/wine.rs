//! Programs run by Wine, for tests: one prefix for all tests of a process, unless one asks for a Wine of its own.

use std::ffi::{OsStr, OsString};
use std::fs::File;
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
    /// The CPU on which the server and all programs run; any CPU if `None`.
    cpu: Option<u32>,
}

/// What a program did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its exit code, of which Wine passes on the low 8 bits; `None` where it was killed.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
}

/// All that a program printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// As in [`Run`].
    pub code: Option<i32>,
    /// To standard output.
    pub stdout: Vec<u8>,
    /// To standard error.
    pub stderr: String,
}

/// Random bytes, as Windows 8 and later have them (BCryptPrimitives.dll).
const PROCESS_PRNG: &str = "\
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) {
    return SystemFunction036(data, (ULONG)size);
}
";

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
        let wine = Arc::new(Wine::new(None)?);
        *shared = Arc::downgrade(&wine);
        Some(wine)
    }

    /// A Wine with a prefix of its own, whose server and programs all run on one CPU; `None`, after a loud line, if
    /// Wine is not installed.
    ///
    /// # Panics
    /// Where it is, and does not run.
    pub fn on_one_cpu(cpu: u32) -> Option<Wine> {
        Wine::new(Some(cpu))
    }

    fn new(cpu: Option<u32>) -> Option<Wine> {
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
        let wine = Wine { wine, prefix, cpu };
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
        let printed = self.printed_once(folder, words);
        Run { code: printed.code, stdout: String::from_utf8_lossy(&printed.stdout).into_owned() }
    }

    /// As [`Wine::run`], with all that the program prints.
    ///
    /// # Panics
    /// As there.
    pub fn printed(&self, folder: &Path, words: &[&str]) -> Printed {
        let wine_failed = Printed { code: Some(1), ..Printed::default() };
        let mut printed = self.printed_once(folder, words);
        for _ in 0..AGAIN {
            if printed != wine_failed {
                break;
            }
            printed = self.printed_once(folder, words);
        }
        printed
    }

    fn printed_once(&self, folder: &Path, words: &[&str]) -> Printed {
        // Files, not pipes: what a program leaves running keeps a pipe open.
        let file = || tempfile::tempfile().unwrap_or_else(|error| panic!("a file: {error}"));
        let copy = |file: &File| file.try_clone().unwrap_or_else(|error| panic!("a file: {error}"));
        let (mut stdout, mut stderr) = (file(), file());
        let mut command = self.command(&self.wine);
        command.args(words).current_dir(folder).stdout(copy(&stdout)).stderr(copy(&stderr));
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
        let read =
            |file: &mut File| read(file).unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let (stdout, stderr) = (read(&mut stdout), read(&mut stderr));
        Printed {
            code: status.code(),
            stdout,
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
        }
    }

    /// Gives it what every program has to have that today's Rust makes, and Wine 8.0 lacks: a
    /// bcryptprimitives.dll. False, after a loud line, where there is no compiler for that.
    ///
    /// # Panics
    /// Where there is one, and it cannot build that.
    pub fn runs_rust(&self) -> bool {
        static ONE: Mutex<()> = Mutex::new(());
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.prefix.path().join("drive_c/windows/system32/bcryptprimitives.dll");
        if path.exists() {
            return true;
        }
        let Some(compiler) = crate::tool("x86_64-w64-mingw32-gcc") else { return false };
        let folder = self.prefix.path();
        let flags = ["-shared", "-O1", "-ladvapi32"];
        let built = crate::compile(&compiler, folder, "built.dll", PROCESS_PRNG, &flags);
        std::fs::rename(built, &path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        true
    }

    /// Variables with which programs run in this Wine, and Wine itself. They do not keep programs on one CPU.
    pub fn surroundings(&self) -> (PathBuf, Vec<(OsString, Option<OsString>)>) {
        let command = self.command(&self.wine);
        let variables = command.get_envs();
        let owned = variables.map(|(name, value)| (name.to_owned(), value.map(OsStr::to_owned)));
        (self.wine.clone(), owned.collect())
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
        let mut command = match self.cpu {
            Some(cpu) => {
                let mut command = Command::new("taskset");
                command.args(["-c", &cpu.to_string()]).arg(program);
                command
            }
            None => Command::new(program),
        };
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

fn read(file: &mut File) -> std::io::Result<Vec<u8>> {
    use std::io::{Read, Seek};
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl Drop for Wine {
    fn drop(&mut self) {
        // Ends this prefix's server only, and waits for it.
        for flag in ["-k", "-w"] {
            let _ = self.server().map(|mut server| server.arg(flag).status());
        }
    }
}

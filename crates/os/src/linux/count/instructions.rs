//! Instructions, counted by valgrind's cachegrind without its cache simulation: the same count
//! as callgrind's (events: Ir), in two thirds of the time.

use super::{CountError, Counted};
use crate::linux::attend::{AttendOptions, unwatched};
use crate::linux::program;
use model::{Command, Ending, Reading};
use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::iter;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// Ending of the files that hold counts, one for each process.
const COUNTS: &str = "counts";
const LOG: &str = "log";

/// Launches `command` under valgrind and counts the user-mode instructions of all its processes:
/// the loader's, the initializers' and the program's own. stdin, stdout and stderr are
/// `/dev/null`.
///
/// Valgrind preloads a small library of its own, a constant addition. An image that is replaced
/// by execve within its process leaves no count, nor does a process that is killed.
///
/// # Errors
/// [`CountError::NoValgrind`], [`CountError::NoCount`] with what valgrind said, or what any
/// launch meets.
pub fn instructions(command: &Command, options: &AttendOptions) -> Result<Counted, CountError> {
    let valgrind = program::resolve(&["valgrind"]).map_err(|_| CountError::NoValgrind)?.program;
    let folder = tempfile::Builder::new()
        .prefix("headstart-count-")
        .tempdir()
        .map_err(|source| files(&std::env::temp_dir(), source))?;
    let under = under_valgrind(command, valgrind, folder.path());
    let ending = unwatched(&under, options)?.launch.ending;
    let count = match sum(folder.path()).map_err(|source| files(folder.path(), source))? {
        Some(count) => Reading::Value(count),
        None if ending == Ending::TimedOut => {
            Reading::unavailable("it timed out", "allow it more time")
        }
        None => {
            let said = said(folder.path());
            return Err(CountError::NoCount {
                command: command.line(),
                said,
                by_hand: under_valgrind(command, "valgrind".into(), Path::new("/tmp")).line(),
            });
        }
    };
    Ok(Counted { count, ending })
}

fn under_valgrind(command: &Command, valgrind: std::path::PathBuf, folder: &Path) -> Command {
    let folder = escaped(folder);
    let into = |option: &str, ending: &str| {
        let mut word = OsString::from(option);
        word.push(&folder);
        word.push(format!("/%p.{ending}"));
        word
    };
    let mut argv: Vec<OsString> = vec!["valgrind".into()];
    argv.extend(
        ["-q", "--tool=cachegrind", "--cache-sim=no", "--branch-sim=no"].map(OsString::from),
    );
    argv.extend(["--trace-children=yes", "--vgdb=no"].map(OsString::from));
    argv.push(into("--cachegrind-out-file=", COUNTS));
    argv.push(into("--log-file=", LOG));
    argv.push("--".into());
    argv.push(command.program.clone().into());
    argv.extend(command.argv.iter().skip(1).cloned());
    let (directory, environment) = (command.directory.clone(), command.environment.clone());
    Command { argv, program: valgrind, directory, environment }
}

/// Valgrind expands %p to the process id, and writes %% as one.
fn escaped(folder: &Path) -> OsString {
    let bytes = folder.as_os_str().as_bytes();
    let doubled = |&byte: &u8| iter::repeat_n(byte, if byte == b'%' { 2 } else { 1 });
    OsString::from_vec(bytes.iter().flat_map(doubled).collect())
}

/// The sum over the processes; `None` where no process left a count.
fn sum(folder: &Path) -> io::Result<Option<u64>> {
    let mut total = None;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == COUNTS)
            && let Some(count) = summary(&path)?
        {
            total = Some(total.unwrap_or(0) + count);
        }
    }
    Ok(total)
}

/// The line `summary: N` of a cachegrind output file (Valgrind manual, "Cachegrind File Format").
fn summary(path: &Path) -> io::Result<Option<u64>> {
    for line in BufReader::new(fs::File::open(path)?).split(b'\n') {
        if let Some(count) = line?.strip_prefix(b"summary:") {
            let text = String::from_utf8_lossy(count);
            let first = text.split_whitespace().next().map(|word| word.replace(',', ""));
            return Ok(first.and_then(|word| word.parse().ok()));
        }
    }
    Ok(None)
}

/// The last lines that valgrind wrote.
fn said(folder: &Path) -> String {
    let logs = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let logs = logs.filter(|path| path.extension().is_some_and(|extension| extension == LOG));
    let text: String = logs.filter_map(|path| fs::read_to_string(path).ok()).collect();
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.iter().skip(lines.len().saturating_sub(4));
    let quoted: String = last.map(|line| format!("\n  | {line}")).collect();
    if quoted.is_empty() { quoted } else { format!("; it wrote:{quoted}\n") }
}

fn files(path: &Path, source: io::Error) -> CountError {
    CountError::Files { path: path.display().to_string(), source }
}

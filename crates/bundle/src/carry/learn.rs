//! What a launch opens, so that it can be carried.

use image::elf::Loadable;
use model::text::name;
use model::{Command, Ending, FileCall, FileOperation};
use os::LaunchError;
use os::attend::AttendOptions;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What the launch of a command has opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learnt {
    /// Shared libraries, by every path by which they were opened.
    pub libraries: BTreeSet<PathBuf>,
    /// Those of them that only other programs have opened, which the command executes.
    pub of_others: BTreeSet<PathBuf>,
    /// The program that the command executes in its own place, where it does so.
    pub replaced_by: Option<PathBuf>,
    /// Other files.
    pub other: BTreeSet<PathBuf>,
    /// What could not be seen, where there is something.
    pub missing: Option<String>,
    /// How the launch ended, where it failed or took too long.
    pub failed: Option<Ending>,
}

/// Launches `command` twice, and looks at the files that it and its children open.
///
/// # Errors
/// It cannot be started.
pub fn learn(command: &Command) -> Result<Learnt, LaunchError> {
    let observed = os::cache::observed_files(command, &AttendOptions::default())?;
    let failed = observed.ending.filter(|ending| !ending.is_success());
    let mut learnt = Learnt { failed, ..Learnt::default() };
    let mut paths: BTreeSet<PathBuf> = observed.files.files.into_iter().collect();
    let mut of_others = BTreeSet::new();
    match observed.calls {
        Ok(calls) => {
            let opened = Opened::new(&calls, &command.program);
            learnt.replaced_by = opened.replaced_by;
            let own: BTreeSet<PathBuf> = opened.own.iter().map(|path| real(path)).collect();
            of_others = opened.by_others.iter().map(|path| real(path)).collect();
            of_others.retain(|path| !own.contains(path));
            paths.extend(opened.own.into_iter().chain(opened.by_others));
        }
        Err(error) => learnt.missing = Some(error.to_string()),
    }
    for path in paths.into_iter().filter(|path| is_stored(path)) {
        match is_library(&path) {
            true => {
                if of_others.contains(&real(&path)) {
                    learnt.of_others.insert(path.clone());
                }
                learnt.libraries.insert(path)
            }
            false => learnt.other.insert(path),
        };
    }
    Ok(learnt)
}

/// Who has opened what.
#[derive(Default)]
struct Opened {
    own: BTreeSet<PathBuf>,
    by_others: BTreeSet<PathBuf>,
    replaced_by: Option<PathBuf>,
}

impl Opened {
    fn new(calls: &[FileCall], program: &Path) -> Opened {
        let mut opened = Opened::default();
        let program = real(program);
        let first = calls.first().map(|call| call.pid);
        // Whether a process runs another program.
        let mut is_other: BTreeMap<u32, bool> = BTreeMap::new();
        for call in calls.iter().filter(|call| call.error == 0) {
            let path = PathBuf::from(name(&call.path));
            match call.operation {
                FileOperation::Execute => {
                    // In /proc it is the program itself.
                    let other = !path.starts_with("/proc") && real(&path) != program;
                    is_other.insert(call.pid, other);
                    if Some(call.pid) == first {
                        opened.replaced_by = other.then_some(path);
                    }
                }
                FileOperation::Open => {
                    // One that has executed nothing yet runs what the process that made it runs, the first most likely.
                    let maker = first.and_then(|first| is_other.get(&first));
                    match *is_other.get(&call.pid).or(maker).unwrap_or(&false) {
                        true => opened.by_others.insert(path),
                        false => opened.own.insert(path),
                    };
                }
                _ => {}
            }
        }
        opened
    }
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// A regular file that is not made up by the kernel.
fn is_stored(path: &Path) -> bool {
    const OF_KERNEL: [&str; 3] = ["/dev", "/proc", "/sys"];
    path.is_absolute() && path.is_file() && !OF_KERNEL.iter().any(|folder| path.starts_with(folder))
}

fn is_library(path: &Path) -> bool {
    // Some can be started, too, as the C library can.
    let is = |image: Loadable| image.soname.is_some() || image.interpreter.is_none();
    Loadable::open(path).is_ok_and(is)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(pid: u32, operation: FileOperation, path: &str) -> FileCall {
        FileCall { pid, at_us: 0.0, operation, path: path.to_owned(), error: 0 }
    }

    #[test]
    fn what_executed_programs_open_is_not_the_programs_own() {
        use FileOperation::{Execute, Open};
        let calls = [
            call(7, Open, "/x/own.so"),
            call(8, Open, "/x/forked.so"),
            call(8, Execute, "/x/other"),
            call(8, Open, "/x/others.so"),
            FileCall { error: 2, ..call(7, Execute, "/x/missing") },
            call(9, Execute, "/x/program"),
            call(9, Open, "/x/again.so"),
        ];
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<BTreeSet<PathBuf>>();
        let opened = Opened::new(&calls, Path::new("/x/program"));
        assert_eq!(opened.own, paths(&["/x/again.so", "/x/forked.so", "/x/own.so"]));
        assert_eq!(opened.by_others, paths(&["/x/others.so"]));
        assert_eq!(opened.replaced_by, None);
        let launcher = [&calls[..1], &[call(7, Execute, "/x/other"), call(7, Open, "/x/late.so")]];
        let opened = Opened::new(&launcher.concat(), Path::new("/x/program"));
        assert_eq!(opened.by_others, paths(&["/x/late.so"]));
        assert_eq!(opened.replaced_by, Some(PathBuf::from("/x/other")));
    }
}

//! No file that a variant replaces is mapped by a launch of it: else the program would have the
//! same library twice, or would have given way to its original.

use super::{Flaw, wrong};
use crate::Built;
use model::{Command, MemoryChange, PageFaults, text};
use os::LaunchError;
use os::attend::AttendOptions;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Launches until no record of the kernel's is lost.
const TRIES: u32 = 3;

/// Whether a launch of the variant maps neither what it replaces nor, after another execve of
/// its own, the original program.
pub(super) fn none_replaced(
    built: &Built,
    original: &Path,
    command: &Command,
    options: &AttendOptions,
) -> Result<(), Flaw> {
    let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let replaced: HashSet<PathBuf> = built.replaced.iter().map(real).collect();
    let mapped = match of_kernel(command, options)? {
        Some(faults) => {
            if gave_way(&faults, original) {
                return Err(wrong("it started the original program instead"));
            }
            files(&faults)
        }
        None => of_loader(command, options)?,
    };
    match mapped.iter().find(|path| replaced.contains(*path)) {
        Some(path) => Err(wrong(format!("it maps {}, which it replaces", path.display()))),
        None => Ok(()),
    }
}

/// The kernel's record; `None` where it is not permitted, or has no room for all.
fn of_kernel(command: &Command, options: &AttendOptions) -> Result<Option<PageFaults>, Flaw> {
    for _ in 0..TRIES {
        match os::faults::record(command, options) {
            Ok(faults) if faults.lost == 0 => return Ok(Some(faults)),
            Ok(_) => {}
            Err(LaunchError::NotPermitted { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

/// Libraries that the loader initializes, at start or later.
fn of_loader(command: &Command, options: &AttendOptions) -> Result<Vec<PathBuf>, Flaw> {
    let log = os::loader_log::record(command, "files", options)?;
    let own = log.lines.iter().filter(|line| line.pid == log.pid);
    let libraries = own.filter_map(|line| line.text.strip_prefix("calling init: "));
    Ok(libraries.filter_map(|path| Path::new(path).canonicalize().ok()).collect())
}

fn is_execve(change: &MemoryChange) -> bool {
    matches!(change, MemoryChange::Executed { .. })
}

fn mapped_file(change: &MemoryChange) -> Option<&str> {
    change.mapping()?.file()
}

/// Files mapped by the program and by what it forks, up to another execve: other programs may
/// well map the originals.
fn files(faults: &PageFaults) -> Vec<PathBuf> {
    // The launched process begins with an execve.
    let mut allowed = HashMap::from([(faults.pid, 1)]);
    let mut files = Vec::new();
    for change in &faults.mappings {
        let left = allowed.entry(change.pid()).or_insert(0);
        if is_execve(change) {
            *left -= 1;
        } else if *left >= 0
            && let Some(file) = mapped_file(change)
        {
            files.push(PathBuf::from(text::name(file)));
        }
    }
    files
}

/// Whether the launched process executed the original in the end.
fn gave_way(faults: &PageFaults, original: &Path) -> bool {
    let own = faults.mappings.iter().filter(|change| change.pid() == faults.pid);
    let mut later = own.skip_while(|change| !is_execve(change)).skip(1);
    let again = later.by_ref().any(is_execve);
    let mut later_files = later.filter_map(mapped_file);
    again && later_files.any(|file| text::name(file) == *original.as_os_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Mapping, Reading};

    const EXECVE: &str = "";

    fn faults(mapped: &[(u32, &str)]) -> PageFaults {
        let change = |&(pid, path): &(u32, &str)| {
            let at_us = 0.0;
            if path == EXECVE {
                return MemoryChange::Executed { pid, at_us };
            }
            let (start, bytes, file_offset, executable) = (0x1000, 0x1000, 0, true);
            let path = path.to_owned();
            Mapping { pid, at_us, start, bytes, file_offset, executable, path }.into()
        };
        PageFaults {
            total_us: 1.0,
            pid: 1,
            source: String::new(),
            mappings: mapped.iter().map(change).collect(),
            faults: Vec::new(),
            read_bytes_by_file: Reading::unavailable("", ""),
            read_bytes: Reading::Value(0),
            lost: 0,
        }
    }

    #[test]
    fn other_programs_are_not_the_variant() {
        let record = faults(&[
            (1, "/launcher"),
            (1, EXECVE),
            (1, "/run"),
            (2, "/run"),
            (2, "/plug-in"),
            (2, EXECVE),
            (2, "/other"),
            (1, EXECVE),
            (1, "/next"),
        ]);
        let found = files(&record);
        for (path, mapped) in [("/run", true), ("/plug-in", true), ("/other", false)] {
            assert_eq!(found.contains(&PathBuf::from(path)), mapped, "{path}");
        }
        assert!(!found.contains(&PathBuf::from("/next")));
        assert!(gave_way(&record, Path::new("/next")));
        assert!(!gave_way(&record, Path::new("/run")) && !gave_way(&record, Path::new("/other")));
    }

    /// Without perf events the loader tells of libraries, those opened later too.
    #[test]
    fn the_loader_tells_what_it_loads() {
        let Some(cc) = testkit::tool("cc") else { return };
        let folder = tempfile::tempdir().unwrap();
        let library = testkit::compile(&cc, folder.path(), "late.so", "", &["-shared", "-fPIC"]);
        let library = library.canonicalize().unwrap();
        let source = format!(
            "#include <dlfcn.h>\nint main(void) {{ return !dlopen(\"{}\", RTLD_LAZY); }}",
            library.display()
        );
        let program = testkit::compile(&cc, folder.path(), "program", &source, &["-ldl"]);
        let command = os::program::resolve(&[program]).unwrap();
        let found = of_loader(&command, &AttendOptions::default()).unwrap();
        assert!(found.contains(&library), "{found:?}");
        assert!(found.iter().any(|path| path.ends_with("libc.so.6")), "{found:?}");
    }
}

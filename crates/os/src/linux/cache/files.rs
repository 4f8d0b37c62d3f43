//! The files that a launch maps: what has to leave memory for a cold start.

use crate::linux::attend::Options;
use crate::linux::error::LaunchError;
use crate::linux::program::resolve;
use crate::linux::{faults, loader_log};
use model::{Command, PageFaults};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Files of an untimed launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedFiles {
    /// How they were found, and what that cannot see.
    pub source: String,
    /// Regular files that still exist, sorted.
    pub files: Vec<PathBuf>,
}

/// Launches `command` once and lists the files that it and its children map; as root also those
/// that they read from storage. Without perf events the loader's log gives the libraries alone.
///
/// # Errors
/// Where the program cannot be started.
pub fn mapped_files(command: &Command, options: &Options) -> Result<MappedFiles, LaunchError> {
    match faults::record(command, options) {
        Ok(faults) => Ok(from_mappings(command, &faults)),
        Err(LaunchError::NotPermitted { .. }) => from_loader_log(command, options),
        Err(error) => Err(error),
    }
}

fn from_mappings(command: &Command, faults: &PageFaults) -> MappedFiles {
    let mapped = faults.mappings.iter().filter_map(|mapping| mapping.file().map(PathBuf::from));
    let read = faults.read_bytes_by_file.value().into_iter().flatten();
    let paths = mapped.chain(read.map(|(path, _)| PathBuf::from(path)));
    let caveat = if faults.lost > 0 {
        format!("; {} records were lost, so files may be missing", faults.lost)
    } else {
        String::new()
    };
    MappedFiles {
        source: format!(
            "files mapped by a launch (perf); warm files that it only read are missing{caveat}"
        ),
        files: existing(command, paths),
    }
}

fn from_loader_log(command: &Command, options: &Options) -> Result<MappedFiles, LaunchError> {
    let log = loader_log::record(command, "files", options)?;
    let named = log.lines.iter().filter_map(|line| {
        if let Some(library) = line.text.strip_prefix("calling init: ") {
            return Some(PathBuf::from(library));
        }
        // The loader names programs as they were called.
        let name = line.text.strip_prefix("initialize program: ")?;
        resolve(&[name.to_owned()]).ok().map(|command| command.program)
    });
    Ok(MappedFiles {
        source: "libraries of a launch (LD_DEBUG, as perf events are refused); other files that \
                 it maps or reads are missing"
            .to_owned(),
        files: existing(command, named),
    })
}

/// The program and those of `paths` that are regular files now, each once. Below `/dev` lies
/// shared memory.
fn existing(command: &Command, paths: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let all = paths.chain(std::iter::once(command.program.clone()));
    let is_file =
        |path: &PathBuf| path.is_absolute() && !path.starts_with("/dev") && path.is_file();
    let files: BTreeSet<PathBuf> = all.filter(is_file).collect();
    files.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sources_name_program_library_and_loader() {
        let command = resolve(&["sh".to_owned(), "-c".to_owned(), "ls /".to_owned()]).unwrap();
        let options = Options::default();
        let by_log = from_loader_log(&command, &options).unwrap();
        if by_log.files.len() <= 1 {
            eprintln!("SKIPPED: sh has no glibc loader here");
            return;
        }
        let by_default = mapped_files(&command, &options).unwrap();
        for found in [&by_log, &by_default] {
            let has =
                |part: &str| found.files.iter().any(|path| path.to_string_lossy().contains(part));
            assert!(has("/libc.so") || has("/libc-2"), "{found:?}");
            assert!(has("/ld-linux") || has("/ld-2"), "{found:?}");
            assert!(has("/ls"), "the child's program: {found:?}");
            assert!(found.files.contains(&command.program), "{found:?}");
            assert!(found.files.is_sorted() && found.files.iter().all(|path| path.is_file()));
        }
    }
}

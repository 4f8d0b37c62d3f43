//! The files that a launch maps: what has to leave memory for a cold start.

use crate::linux::attend::AttendOptions;
use crate::linux::error::LaunchError;
use crate::linux::launcher::Stdio;
use crate::linux::program::resolve;
use crate::linux::trace::{TraceRequest, TracedLaunch, trace};
use crate::linux::{faults, loader_log};
use model::{Command, Ending, FileCall, FileOperation, PageFaults, PhaseTrace, text};
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

/// What two untimed launches show of the files that they use.
#[derive(Debug)]
pub struct ObservedFiles {
    /// The files, and how they were found.
    pub files: MappedFiles,
    /// Mappings and page faults of the first launch; why there are none.
    pub faults: Result<PageFaults, LaunchError>,
    /// Calls on the file system of the second launch; why there are none.
    pub calls: Result<Vec<FileCall>, LaunchError>,
    /// How that launch ended; none where it was refused.
    pub ending: Option<Ending>,
}

/// Launches `command` twice and lists the files that it and its children map, and those that they
/// open or execute: scripts, interpreters, libraries however loaded, data.
///
/// The first launch is recorded with perf events (mappings; as root also what was read from
/// storage), or where they are refused with the loader's log (libraries alone); the second is
/// traced. `source` says what was refused and what is missing for it.
///
/// # Errors
/// Where the program cannot be started.
pub fn mapped_files(
    command: &Command,
    options: &AttendOptions,
) -> Result<MappedFiles, LaunchError> {
    observed_files(command, options).map(|observed| observed.files)
}

/// [`mapped_files`], with the records.
///
/// # Errors
/// Where the program cannot be started.
pub fn observed_files(
    command: &Command,
    options: &AttendOptions,
) -> Result<ObservedFiles, LaunchError> {
    let faults = permitted(faults::record(command, options))?;
    let (mut source, mut paths) = match &faults {
        Ok(faults) => from_mappings(faults),
        Err(_) => from_loader_log(command, options)?,
    };
    let traced = permitted(traced(command, options))?;
    match &traced {
        Ok(launch) => {
            source.push_str("; files opened by a launch (ptrace)");
            paths.extend(opened(&launch.trace));
        }
        Err(error) => {
            source.push_str(&format!("; files that are only read are missing: {error}"));
        }
    }
    let files = MappedFiles { source, files: existing(command, paths) };
    let ending = traced.as_ref().ok().map(|launch| launch.ending);
    Ok(ObservedFiles { files, faults, calls: traced.map(|launch| launch.trace.file_calls), ending })
}

/// The inner error is a refusal, which leaves less to be seen; the outer one any other.
fn permitted<T>(found: Result<T, LaunchError>) -> Result<Result<T, LaunchError>, LaunchError> {
    match found {
        Err(error @ LaunchError::NotPermitted { .. }) => Ok(Err(error)),
        Err(error) => Err(error),
        Ok(found) => Ok(Ok(found)),
    }
}

fn from_mappings(faults: &PageFaults) -> (String, Vec<PathBuf>) {
    let mapped = faults
        .mappings
        .iter()
        .filter_map(|change| change.mapping()?.file().map(|path| PathBuf::from(text::name(path))));
    let read = faults.read_bytes_by_file.value().into_iter().flatten();
    let caveat = match faults.lost {
        0 => String::new(),
        lost => format!(" ({lost} records were lost, so files may be missing)"),
    };
    let paths = mapped.chain(read.map(|(path, _)| PathBuf::from(text::name(path)))).collect();
    (format!("files mapped by a launch (perf){caveat}"), paths)
}

fn from_loader_log(
    command: &Command,
    options: &AttendOptions,
) -> Result<(String, Vec<PathBuf>), LaunchError> {
    let log = loader_log::record(command, "files", options)?;
    let named = log.lines.iter().filter_map(|line| {
        if let Some(library) = line.text.strip_prefix("calling init: ") {
            return Some(PathBuf::from(text::name(library)));
        }
        // The loader names programs as they were called.
        let name = line.text.strip_prefix("initialize program: ")?;
        resolve(&[text::name(name)]).ok().map(|command| command.program)
    });
    let source = "libraries of a launch (LD_DEBUG, as perf events are refused)".to_owned();
    Ok((source, named.collect()))
}

fn traced(command: &Command, options: &AttendOptions) -> Result<TracedLaunch, LaunchError> {
    let mut request = TraceRequest::new(Stdio::null()?);
    request.record_files = true;
    request.timeout = options.timeout;
    request.cpu = options.cpu.or(request.cpu);
    trace(command, &request)
}

/// What the launch opens and executes.
fn opened(trace: &PhaseTrace) -> Vec<PathBuf> {
    let images = trace.processes.iter().flat_map(|process| &process.images);
    let executed = images.flat_map(|image| [Some(&image.path), image.loader.as_ref()]);
    let calls = trace.file_calls.iter().filter(|call| {
        matches!(call.operation, FileOperation::Open | FileOperation::Execute) && call.error == 0
    });
    let paths = executed.flatten().chain(calls.map(|call| &call.path));
    paths.map(|path| PathBuf::from(text::name(path))).collect()
}

/// The program and those of `paths` that are regular files now, each once, whatever links lead
/// to it. What lies in the kernel's own file systems is in no storage.
fn existing(command: &Command, mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    const WITHOUT_STORAGE: [&str; 3] = ["/dev", "/proc", "/sys"];
    paths.push(command.program.clone());
    let absolute = paths.iter().filter(|path| path.is_absolute());
    let real = absolute.filter_map(|path| path.canonicalize().ok());
    let stored = real.filter(|path| {
        path.is_file() && !WITHOUT_STORAGE.iter().any(|folder| path.starts_with(folder))
    });
    stored.collect::<BTreeSet<_>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn command(argv: &[&str]) -> Command {
        let argv: Vec<String> = argv.iter().map(|&argument| argument.to_owned()).collect();
        resolve(&argv).unwrap()
    }

    #[test]
    fn every_source_names_program_library_and_loader() {
        let command = command(&["sh", "-c", "ls /"]);
        let options = AttendOptions::default();
        let log = from_loader_log(&command, &options).unwrap().1;
        if log.is_empty() {
            testkit::skip("sh has no glibc loader here");
            return;
        }
        let by_default = mapped_files(&command, &options).unwrap().files;
        let by_trace = existing(&command, opened(&traced(&command, &options).unwrap().trace));
        let program = command.program.canonicalize().unwrap();
        for found in [existing(&command, log), by_trace, by_default] {
            let has = |part: &str| found.iter().any(|path| path.to_string_lossy().contains(part));
            assert!(has("/libc.so") || has("/libc-2"), "{found:?}");
            assert!(has("/ld-linux") || has("/ld-2"), "{found:?}");
            assert!(has("/ls"), "the child's program: {found:?}");
            assert!(found.contains(&program), "{found:?}");
            assert!(found.is_sorted() && found.iter().all(|path| path.is_file()));
        }
    }

    const OPENS: &str = r#"
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>
int main(int argc, char **argv) {
    char byte;
    return !dlopen(argv[1], RTLD_NOW) || read(open(argv[2], O_RDONLY), &byte, 1) != 1;
}"#;

    #[test]
    fn scripts_plug_ins_and_data_are_named_warm_or_cold() {
        let Some(cc) = testkit::tool("gcc") else { return };
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        let library = testkit::compile(&cc, folder.path(), "plug-in.so", "", &["-shared", "-fPIC"]);
        let program = testkit::compile(&cc, folder.path(), "program", OPENS, &["-ldl"]);
        std::fs::write(at("data"), "data").unwrap();
        let quoted = |path: &Path| format!("'{}'", path.display());
        let (library, data) = (quoted(&library), quoted(&at("data")));
        let text = format!("#!/bin/sh\nexec {} {library} {data}\n", quoted(&program));
        let inner = testkit::script(folder.path(), "inner", &text);
        let text = format!("#!/bin/sh\n. {}\n", quoted(&inner));
        let outer = testkit::script(folder.path(), "outer", &text);
        let found = mapped_files(&command(&[outer.to_str().unwrap()]), &AttendOptions::default());
        let found = found.unwrap();
        for name in ["outer", "inner", "program", "plug-in.so", "data"] {
            assert!(found.files.contains(&at(name)), "{name}: {found:?}");
        }
        assert!(found.files.contains(&Path::new("/bin/sh").canonicalize().unwrap()), "{found:?}");
        let without_storage = found.files.iter().any(|path| path.starts_with("/proc"));
        assert!(!without_storage && found.source.contains("ptrace"), "{found:?}");
    }
}

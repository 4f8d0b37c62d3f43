//! Names the DLL that is missing where Windows ended a program for that.

use model::{Command, DebuggedLaunch, DebuggedProcess, Ending, file_name, text};
use os::dll_search::DllSearch;
use os::launcher::{LaunchSpec, Launcher, Slot};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// `STATUS_DLL_NOT_FOUND` and `STATUS_DLL_INIT_FAILED`.
const DLL_NOT_FOUND: u32 = 0xc000_0135;
const DLL_INIT_FAILED: u32 = 0xc000_0142;
/// Names that the loader replaces with those of other DLLs (API sets).
const API_SETS: [&str; 2] = ["api-ms-win-", "ext-ms-"];
/// DLLs named in one message.
const MOST_NAMED: usize = 4;

/// What is missing where a launch ended for want of a DLL, to follow the words on how it ended; empty where that is
/// not known. The program may be launched once more, under the debug API, which tells what had been loaded by then.
pub(super) fn words(
    launcher: &mut Launcher,
    slot: Option<Slot>,
    spec: &LaunchSpec,
    command: &Command,
    ending: Ending,
) -> String {
    let Ending::Status(status @ (DLL_NOT_FOUND | DLL_INIT_FAILED)) = ending else {
        return String::new();
    };
    let debugged = slot.and_then(|slot| launcher.debugged(slot, spec).ok());
    let ended = debugged.as_ref().and_then(|launch| ended_so(launch, status));
    if status == DLL_INIT_FAILED {
        return ended.map_or_else(String::new, uninitialized);
    }
    let loaded = ended.map_or_else(|| vec![command.program.clone()], loaded);
    let mut search = DllSearch::of(command);
    // A child may be in another folder than the command.
    if let Some(folder) = ended.and_then(|process| process.directory.as_ref()) {
        search.working = Some(PathBuf::from(text::name(folder)));
    }
    let own = loaded.first().and_then(|program| program.parent()).map(Path::to_owned);
    let folders: Vec<PathBuf> = own.into_iter().chain(folders(&search)).collect();
    told(&missing(&loaded, &[], &folders), "beside the program")
}

/// The DLL whose initializer was called last, where that of a DLL has failed.
fn uninitialized(process: &DebuggedProcess) -> String {
    let called = process.dlls.iter().filter_map(|dll| Some((dll, dll.initialized_us?)));
    let last = called.max_by(|(_, a), (_, b)| a.total_cmp(b));
    last.map_or_else(String::new, |(dll, _)| {
        format!("; the last DLL to be initialized was {}", printable(&dll.path))
    })
}

/// What is missing where a program could not load a library, to follow the words on why; empty where that is not
/// known. `command`: how the program is launched, which is in a folder of its own; `loaded`: what it has loaded.
pub(crate) fn of_library(file: &Path, command: &Command, loaded: &[PathBuf]) -> String {
    let search = DllSearch::of(command);
    let (folders, wanted) = (folders(&search), machine(file));
    let (mut images, mut at) = (vec![file.to_owned()], 0);
    while let Some(image) = images.get(at) {
        at += 1;
        let needed = imported(image);
        let found = needed.iter().filter_map(|dll| {
            folders.iter().map(|folder| folder.join(dll)).find(|path| path.is_file())
        });
        // What the system's own libraries need, the system has.
        let own = found.filter(|path| !search.system.iter().any(|folder| path.starts_with(folder)));
        let new = own.filter(|path| !images.contains(path) && machine(path) == wanted);
        let new: Vec<PathBuf> = new.collect();
        images.extend(new);
    }
    told(&missing(&images, loaded, &folders), "in the current folder")
}

/// The file that a program in a folder of its own loads as the DLL `name`; none where no folder has it.
pub(crate) fn found(name: &OsStr, command: &Command) -> Option<PathBuf> {
    let folders = folders(&DllSearch::of(command));
    folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// The folders that are searched after that of the program.
fn folders(search: &DllSearch) -> Vec<PathBuf> {
    search.system.iter().chain(&search.working).chain(&search.path).cloned().collect()
}

/// The DLLs that an image imports, without those whose loading is delayed.
fn imported(image: &Path) -> Vec<String> {
    let imported = image::pe::facts(image).map(|facts| facts.imported).unwrap_or_default();
    imported.into_iter().filter(|dll| !dll.delayed).map(|dll| dll.name).collect()
}

/// The process of a launch that ended with this status: of several the last, as others pass the status on.
fn ended_so(launch: &DebuggedLaunch, status: u32) -> Option<&DebuggedProcess> {
    let ended = launch.processes.iter().filter(|it| it.exit_code == Some(status));
    ended.max_by(|a, b| a.started_us.total_cmp(&b.started_us))
}

/// The program of a process, and the DLLs that had been loaded into it.
fn loaded(process: &DebuggedProcess) -> Vec<PathBuf> {
    let paths = std::iter::once(&process.path).chain(process.dlls.iter().map(|dll| &dll.path));
    paths.map(|path| PathBuf::from(text::name(path))).collect()
}

/// A DLL that was not loaded.
struct Missing {
    name: String,
    imported_by: String,
    /// A file of that name that cannot be loaded, and what it is for.
    unfit: Option<(PathBuf, String)>,
}

/// DLLs that are in no folder of the search path, or for another machine there, each with the image that imports
/// it. `there`: other DLLs that are in the process.
fn missing(loaded: &[PathBuf], there: &[PathBuf], folders: &[PathBuf]) -> Vec<Missing> {
    let name = |path: &Path| file_name(&text::text(path)).to_lowercase();
    let there: BTreeSet<String> = loaded.iter().chain(there).map(|path| name(path)).collect();
    let wanted = loaded.first().and_then(|program| machine(program));
    let mut missing = Vec::new();
    for image in loaded {
        let imported_by = file_name(&text::text(image)).to_owned();
        for dll in imported(image) {
            let file = with_extension(&dll);
            if there.contains(&file.to_lowercase()) || is_api_set(&file) {
                continue;
            }
            let mut found = folders.iter().map(|folder| folder.join(&file));
            let found = found.find(|path| path.is_file());
            let unfit = match (&found, &wanted) {
                (None, _) => None,
                (Some(path), Some(wanted)) => match machine(path) {
                    Some(machine) if machine != *wanted => Some((path.clone(), machine)),
                    _ => continue,
                },
                (Some(_), None) => continue,
            };
            missing.push(Missing { name: file, imported_by: imported_by.clone(), unfit });
        }
    }
    missing
}

/// The machine that an image is for; none where it is no image.
fn machine(path: &Path) -> Option<String> {
    image::pe::facts(path).ok().map(|facts| facts.machine)
}

/// The name of the file: the loader adds an extension where a name has none.
fn with_extension(dll: &str) -> String {
    if dll.contains('.') { dll.to_owned() } else { format!("{dll}.dll") }
}

/// Whether the loader takes another DLL in its place. Wine has files of these names.
fn is_api_set(dll: &str) -> bool {
    let dll = dll.to_lowercase();
    API_SETS.iter().any(|start| dll.starts_with(start)) && os::host::wine().is_none()
}

/// Without characters that would act on the terminal.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// `place`: where they may be put.
fn told(missing: &[Missing], place: &str) -> String {
    let (unfit, absent): (Vec<&Missing>, Vec<&Missing>) =
        missing.iter().partition(|dll| dll.unfit.is_some());
    let words = |dlls: &[&Missing], each: fn(&Missing) -> String| {
        let named: Vec<String> = dlls.iter().take(MOST_NAMED).map(|dll| each(dll)).collect();
        let more = match dlls.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        printable(&(named.join(", ") + &more))
    };
    let mut told = String::new();
    if !absent.is_empty() {
        let named = words(&absent, |dll| format!("{} (imported by {})", dll.name, dll.imported_by));
        told += &format!(
            "; no folder that the loader searches has {named}: put what is missing {place}, or add its folder \
             to PATH"
        );
    }
    if !unfit.is_empty() {
        let named = words(&unfit, |dll| match &dll.unfit {
            Some((path, machine)) => {
                format!("{} (for {machine}; imported by {})", path.display(), dll.imported_by)
            }
            None => String::new(),
        });
        told += &format!("; of another machine: {named}: put the one for the program's {place}");
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(n: usize, unfit: Option<(PathBuf, String)>) -> Missing {
        Missing { name: format!("{n}.dll"), imported_by: "app.exe".to_owned(), unfit }
    }

    #[test]
    fn only_so_many_are_named() {
        assert_eq!(told(&[], "here"), "");
        let text = told(&[one(1, None)], "here");
        let expected = "; no folder that the loader searches has 1.dll (imported by app.exe): ";
        assert!(text.starts_with(expected), "{text}");
        let many: Vec<_> = (0..7).map(|n| one(n, None)).collect();
        assert!(told(&many, "here").contains("3.dll (imported by app.exe) and 3 more: "));
    }

    #[test]
    fn a_dll_of_another_machine_is_told_from_a_missing_one() {
        let unfit = Some((PathBuf::from(r"C:\x\1.dll"), "aarch64".to_owned()));
        let text = told(&[one(1, unfit), one(2, None)], "here");
        assert!(text.contains("has 2.dll (imported by app.exe): "), "{text}");
        assert!(
            text.contains(r"machine: C:\x\1.dll (for aarch64; imported by app.exe): "),
            "{text}"
        );
    }

    #[test]
    fn names_are_those_of_files() {
        assert_eq!(
            (with_extension("one"), with_extension("a.b")),
            ("one.dll".into(), "a.b".into())
        );
        assert_eq!(printable("a\nb\u{1b}c"), "a\u{fffd}b\u{fffd}c");
    }
}

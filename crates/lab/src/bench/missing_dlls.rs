//! Names the DLL that is missing where Windows ended a program for that.

use model::{Command, DebuggedLaunch, Ending, file_name, text};
use os::dll_search::DllSearch;
use os::launcher::{LaunchSpec, Launcher, Slot};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// `STATUS_DLL_NOT_FOUND`.
const DLL_NOT_FOUND: u32 = 0xc000_0135;
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
    if ending != Ending::Status(DLL_NOT_FOUND) {
        return String::new();
    }
    let debugged = slot.and_then(|slot| launcher.debugged(slot, spec).ok());
    let loaded = debugged.map_or_else(|| vec![command.program.clone()], |launch| loaded(&launch));
    let own = loaded.first().and_then(|program| program.parent()).map(Path::to_owned);
    let folders: Vec<PathBuf> = own.into_iter().chain(folders(&DllSearch::of(command))).collect();
    told(&missing(&loaded, &[], &folders), "beside the program")
}

/// What is missing where a program could not load a library, to follow the words on why; empty where that is not
/// known. `command`: how the program is launched, which is in a folder of its own; `loaded`: what it has loaded.
pub(crate) fn of_library(file: &Path, command: &Command, loaded: &[PathBuf]) -> String {
    let search = DllSearch::of(command);
    let folders = folders(&search);
    let (mut images, mut at) = (vec![file.to_owned()], 0);
    while let Some(image) = images.get(at) {
        at += 1;
        let needed = imported(image);
        let found = needed.iter().filter_map(|dll| {
            folders.iter().map(|folder| folder.join(dll)).find(|path| path.is_file())
        });
        // What the system's own libraries need, the system has.
        let own = found.filter(|path| !search.system.iter().any(|folder| path.starts_with(folder)));
        let new: Vec<PathBuf> = own.filter(|path| !images.contains(path)).collect();
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

/// The program that lacks a DLL, and the DLLs that had been loaded into it.
fn loaded(launch: &DebuggedLaunch) -> Vec<PathBuf> {
    let lacking = launch.processes.iter().filter(|it| it.exit_code == Some(DLL_NOT_FOUND));
    let Some(process) = lacking.max_by(|a, b| a.started_us.total_cmp(&b.started_us)) else {
        return Vec::new();
    };
    let paths = std::iter::once(&process.path).chain(process.dlls.iter().map(|dll| &dll.path));
    paths.map(|path| PathBuf::from(text::name(path))).collect()
}

/// DLLs that are in no folder of the search path, each with the image that imports it. `there`: other DLLs that
/// are in the process.
fn missing(loaded: &[PathBuf], there: &[PathBuf], folders: &[PathBuf]) -> Vec<(String, String)> {
    let name = |path: &Path| file_name(&text::text(path)).to_lowercase();
    let there: BTreeSet<String> = loaded.iter().chain(there).map(|path| name(path)).collect();
    let is_found = |dll: &str| folders.iter().any(|folder| folder.join(dll).is_file());
    let is_api_set = |dll: &str| API_SETS.iter().any(|start| dll.to_lowercase().starts_with(start));
    let mut missing = Vec::new();
    for image in loaded {
        let lacking = imported(image).into_iter().filter(|dll| {
            !there.contains(&dll.to_lowercase()) && !is_api_set(dll) && !is_found(dll)
        });
        missing.extend(lacking.map(|dll| (dll, file_name(&text::text(image)).to_owned())));
    }
    missing
}

/// `place`: where they may be put.
fn told(missing: &[(String, String)], place: &str) -> String {
    let named = missing.iter().take(MOST_NAMED);
    let named: Vec<String> = named.map(|(dll, by)| format!("{dll} (imported by {by})")).collect();
    let more = match missing.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match missing.is_empty() {
        true => String::new(),
        false => format!(
            "; no folder that the loader searches has {}{more}: put what is missing {place}, or add its \
             folder to PATH",
            named.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_are_named() {
        let one = |n: usize| (format!("{n}.dll"), "app.exe".to_owned());
        assert_eq!(told(&[], "here"), "");
        let text = told(&[one(1)], "here");
        assert!(
            text.starts_with(
                "; no folder that the loader searches has 1.dll (imported by app.exe): "
            )
        );
        let many: Vec<_> = (0..7).map(one).collect();
        assert!(told(&many, "here").contains("3.dll (imported by app.exe) and 3 more: "));
    }
}

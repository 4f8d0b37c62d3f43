//! Names the DLL that is missing where Windows ended a program for that.

use model::{Command, DebuggedLaunch, Ending, file_name, text};
use os::dll_search::DllSearch;
use os::launcher::{LaunchSpec, Launcher, Slot};
use std::collections::BTreeSet;
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
    told(&missing(&loaded, &DllSearch::of(command)))
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

/// DLLs that are in no folder of the search path, each with the image that imports it. The first of the loaded
/// images is the program.
fn missing(loaded: &[PathBuf], search: &DllSearch) -> Vec<(String, String)> {
    let Some(program) = loaded.first() else { return Vec::new() };
    let name = |path: &Path| file_name(&text::text(path)).to_lowercase();
    let there: BTreeSet<String> = loaded.iter().map(|path| name(path)).collect();
    let own = program.parent().map(Path::to_owned);
    let folders = own.iter().chain(&search.system).chain(&search.working).chain(&search.path);
    let folders: Vec<&PathBuf> = folders.collect();
    let is_found = |dll: &str| folders.iter().any(|folder| folder.join(dll).is_file());
    let is_api_set = |dll: &str| API_SETS.iter().any(|start| dll.to_lowercase().starts_with(start));
    let mut missing = Vec::new();
    for image in loaded {
        let Ok(facts) = image::pe::facts(image) else { continue };
        let imported = facts.imported.into_iter().filter(|dll| !dll.delayed).map(|dll| dll.name);
        let lacking = imported.filter(|dll| {
            !there.contains(&dll.to_lowercase()) && !is_api_set(dll) && !is_found(dll)
        });
        missing.extend(lacking.map(|dll| (dll, file_name(&text::text(image)).to_owned())));
    }
    missing
}

fn told(missing: &[(String, String)]) -> String {
    let named = missing.iter().take(MOST_NAMED);
    let named: Vec<String> = named.map(|(dll, by)| format!("{dll} (imported by {by})")).collect();
    let more = match missing.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match missing.is_empty() {
        true => String::new(),
        false => format!(
            "; no folder that the loader searches has {}{more}: put what is missing beside the program, or add \
             its folder to PATH",
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
        assert_eq!(told(&[]), "");
        let text = told(&[one(1)]);
        assert!(
            text.starts_with(
                "; no folder that the loader searches has 1.dll (imported by app.exe): "
            )
        );
        let many: Vec<_> = (0..7).map(one).collect();
        assert!(told(&many).contains("3.dll (imported by app.exe) and 3 more: "));
    }
}

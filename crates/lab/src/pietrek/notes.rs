//! What to know about the figures of PE, by what loads it.

use super::Setting;
use crate::Runner;
use workload::Format;

const LOADER: &str = "These are times of Wine's loader, not of the Windows loader.";

/// What is true of the rows and columns of PE images here; nothing of those of ELF images.
pub fn of(setting: &Setting<'_>) -> Vec<String> {
    let Setting { request, forms, runner, .. } = setting;
    if request.workload.format == Format::Elf {
        return Vec::new();
    }
    let is_wine = runner.wine().is_some();
    let bound = forms.iter().any(|form| form.bound);
    let own = Runner::OWN == Format::Pe;
    let mut notes = Vec::new();
    notes.extend(is_wine.then_some(LOADER));
    notes.push(match own {
        true => "All launches are warm: headstart for Windows has no cold ones.",
        false => {
            "All launches are warm: Wine's server runs on between them and keeps its files in memory."
        }
    });
    notes.extend(match (bound, is_wine) {
        (true, true) => Some(
            "Wine ignores bound imports, so it loads bound rows like based ones.",
        ),
        (true, false) => Some(
            "Whether bound imports spare anything depends on where the loader puts the libraries. These \
             have chosen bases that do not overlap, and no DYNAMICBASE (ASLR); if Windows moves them \
             all the same, it looks their functions up again. The program is not bound to KERNEL32.",
        ),
        (false, true) if !own => Some("No row is bound, because Wine ignores bound imports."),
        (false, _) => Some(
            "No row is bound: the headers of the program have no room for the names of so many libraries.",
        ),
    });
    notes.into_iter().map(str::to_owned).collect()
}

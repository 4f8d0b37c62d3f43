//! What to know about the figures of PE images, by what loads them.

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
        true => "All launches are warm: headstart for Windows has no cold launches.",
        false => {
            "All launches are warm: Wine's server keeps running between them and keeps its files in memory."
        }
    });
    notes.extend(match (bound, is_wine) {
        (true, true) => Some(
            "Wine ignores bound imports, so it loads the bound rows like the based ones.",
        ),
        (true, false) => Some(
            "Bound imports can save time only if the loader leaves the libraries at their preferred bases. \
             These bases do not overlap, and the libraries do not have DYNAMICBASE (ASLR); if Windows moves \
             one all the same, it looks its functions up again. The program is not bound to KERNEL32.",
        ),
        (false, true) if !own => Some("No row is bound, because Wine ignores bound imports."),
        (false, _) => Some(
            "No row is bound: the program's headers have no room for the names of so many libraries.",
        ),
    });
    notes.into_iter().map(str::to_owned).collect()
}

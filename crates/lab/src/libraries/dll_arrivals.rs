//! The DLLs that came with each library, as the loader reported them.

use model::CameWith;
use model::figures::plural;
use workload::pe::load_records::{LoadRecord, ModuleArrival};

/// Counts over all loads, for notes.
#[derive(Debug, Default)]
pub struct Arrivals {
    /// DLLs that were loaded while no library of the list was.
    between: u64,
    /// Loads of which some reports of the loader were lost.
    lost: u64,
    /// Other loads for which there are no reports.
    untold: u64,
    /// DLLs that had been mapped before the load during which they were reported.
    mapped_before: u64,
}

impl Arrivals {
    /// Adds the counts of one load.
    pub fn count(&mut self, record: &LoadRecord) {
        self.between += record.between;
        self.mapped_before += record.mapped_before;
        self.lost += u64::from(record.lost);
        self.untold += u64::from(record.arrivals.is_none() && !record.lost);
    }

    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.between > 0 {
            let (were, others, are) = match self.between {
                1 => ("was", "another thread", "is"),
                _ => ("were", "other threads", "are"),
            };
            notes.push(format!(
                "{} {were} loaded by {others} while no library of the list was being loaded, and {are} not in \
                 any row",
                plural(self.between, "DLL", "DLLs")
            ));
        }
        if self.mapped_before > 0 {
            notes.push(format!(
                "{} that came with a library had already been mapped when its load began (a load that \
                 fails may leave DLLs that it needed in the process); the time does not include that mapping",
                plural(self.mapped_before, "DLL", "DLLs")
            ));
        }
        let unknown = |count: u64, why: &str| {
            let which = plural(count, "library", "libraries");
            format!(
                "which DLLs came with {which} is not known, because {why}; files is the number of \
                 modules after the load minus the number before it"
            )
        };
        if self.lost > 0 {
            notes.push(unknown(self.lost, "some of the loader's reports were lost"));
        }
        if self.untold > 0 {
            notes.push(unknown(self.untold, "the loader's reports are missing"));
        }
        notes
    }
}

/// The DLLs, as a report has them.
pub fn told(arrivals: &[ModuleArrival]) -> Vec<CameWith> {
    let told = |arrival: &ModuleArrival| CameWith {
        path: path(&arrival.path, arrival.is_whole),
        at_us: arrival.at_us,
        left_at_us: arrival.left_at_us,
        by_other_thread: arrival.by_other_thread,
    };
    arrivals.iter().map(told).collect()
}

/// The path as text. It ends with an ellipsis if only its beginning is known.
pub fn path(units: &[u16], is_whole: bool) -> String {
    String::from_utf16_lossy(units) + if is_whole { "" } else { "…" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_say_what_is_not_known() {
        assert!(Arrivals::default().notes().is_empty());
        let notes = Arrivals { between: 1, lost: 2, untold: 1, mapped_before: 0 }.notes();
        assert!(
            notes[0].starts_with("1 DLL was loaded by another thread while no library"),
            "{notes:?}"
        );
        assert!(notes[1].starts_with("which DLLs came with 2 libraries is not known"), "{notes:?}");
        assert!(
            notes[2].contains("1 library is not known, because the loader's reports are missing")
        );
        let notes = Arrivals { between: 5, mapped_before: 2, ..Arrivals::default() }.notes();
        assert!(notes[0].starts_with("5 DLLs were loaded by other threads"), "{notes:?}");
        assert!(
            notes[1].starts_with("2 DLLs that came with a library had already been mapped"),
            "{notes:?}"
        );
    }

    #[test]
    fn a_path_that_was_cut_off_ends_with_an_ellipsis() {
        let mut arrival = ModuleArrival {
            path: "C:\\\u{1f600}".encode_utf16().collect(),
            is_whole: true,
            at_us: 1.0,
            left_at_us: None,
            by_other_thread: false,
        };
        assert_eq!(told(std::slice::from_ref(&arrival))[0].path, "C:\\\u{1f600}");
        arrival.is_whole = false;
        assert_eq!(told(&[arrival])[0].path, "C:\\\u{1f600}…");
    }
}

//! The DLLs that came with others, as the loader told it.

use model::CameWith;
use model::figures::plural;
use workload::pe::load_records::{LoadRecord, ModuleArrival};

/// What is to be known of them besides.
#[derive(Debug, Default)]
pub struct Arrivals {
    /// DLLs that came between two loads.
    between: u64,
    /// Loads of which the loader told more than there was room for.
    lost: u64,
    /// Other loads of which it told nothing.
    untold: u64,
    /// DLLs of which it told after they had been mapped.
    mapped_before: u64,
}

impl Arrivals {
    /// Adds what is to be known of a load.
    pub fn count(&mut self, record: &LoadRecord) {
        self.between += record.between;
        self.mapped_before += record.mapped_before;
        self.lost += u64::from(record.lost);
        self.untold += u64::from(record.arrivals.is_none() && !record.lost);
    }

    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.between > 0 {
            let were = if self.between == 1 { "was" } else { "were" };
            notes.push(format!(
                "{} {were} loaded between two loads of the list, by other threads: no row counts them",
                plural(self.between, "DLL", "DLLs")
            ));
        }
        if self.mapped_before > 0 {
            let was = if self.mapped_before == 1 { "was" } else { "were" };
            notes.push(format!(
                "{} that came with a library {was} mapped before its load began, as a load that fails \
                 may leave what it needs: the time is without the mapping",
                plural(self.mapped_before, "DLL", "DLLs")
            ));
        }
        let unknown = |count: u64, why: &str| {
            let which = plural(count, "library", "libraries");
            format!(
                "which DLLs came with {which} is not known, because {why}: files are counted \
                 before and behind the load"
            )
        };
        if self.lost > 0 {
            notes.push(unknown(self.lost, "more came and went than is kept of one load"));
        }
        if self.untold > 0 {
            notes.push(unknown(self.untold, "the loader did not tell"));
        }
        notes
    }
}

/// For the report.
pub fn told(arrivals: &[ModuleArrival]) -> Vec<CameWith> {
    let told = |arrival: &ModuleArrival| CameWith {
        path: path(&arrival.path, arrival.is_whole),
        at_us: arrival.at_us,
        left_at_us: arrival.left_at_us,
        by_other_thread: arrival.by_other_thread,
    };
    arrivals.iter().map(told).collect()
}

/// A path of which only the beginning is known ends with an ellipsis.
pub fn path(units: &[u16], is_whole: bool) -> String {
    String::from_utf16_lossy(units) + if is_whole { "" } else { "…" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_said() {
        assert!(Arrivals::default().notes().is_empty());
        let notes = Arrivals { between: 1, lost: 2, untold: 1, mapped_before: 0 }.notes();
        assert!(notes[0].starts_with("1 DLL was loaded between two loads"), "{notes:?}");
        assert!(notes[1].starts_with("which DLLs came with 2 libraries is not known"), "{notes:?}");
        assert!(notes[2].contains("1 library is not known, because the loader did not tell"));
        let notes = Arrivals { between: 5, mapped_before: 2, ..Arrivals::default() }.notes();
        assert!(notes[0].starts_with("5 DLLs were loaded"), "{notes:?}");
        assert!(notes[1].starts_with("2 DLLs that came with a library were mapped"), "{notes:?}");
    }

    #[test]
    fn a_path_that_was_cut_off_does_not_look_whole() {
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

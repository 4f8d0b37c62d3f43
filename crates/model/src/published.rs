//! Figures of the published experiments, to stand beside our own. Facts only; each names its source,
//! machine, system and year, and none shares a column with a figure of ours.

mod loaddlls;
mod memory;
mod openoffice;
mod probes;

pub use loaddlls::PublishedPrefetch;
pub use memory::{PublishedAddress, PublishedMemory, PublishedSection, PublishedSum};
pub use openoffice::{
    PublishedModule, PublishedOrder, PublishedReadSums, PublishedReads, PublishedStart,
};
pub use probes::PublishedProbes;
use serde::{Deserialize, Serialize};

/// Load times of a published table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedLoads {
    /// Author, title, where and when.
    pub source: String,
    /// What it was measured on.
    pub machine: String,
    /// What was launched, and what is counted.
    pub method: String,
    /// Seconds by system.
    pub rows: Vec<PublishedLoad>,
    /// What the source itself says of them.
    pub summary: String,
}

/// One row of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedLoad {
    /// Operating system and file system.
    pub system: String,
    /// The same for the head of a column.
    pub short: String,
    /// Imports are by ordinal, not by name.
    pub by_ordinal: bool,
    /// Seconds with all libraries at one base.
    pub default_s: f64,
    /// Seconds with libraries at bases of their own.
    pub based_s: f64,
    /// Seconds with libraries at bases of their own, and bound.
    pub bound_s: f64,
}

impl PublishedLoads {
    /// Figure 2 of Matt Pietrek's column.
    pub fn pietrek() -> PublishedLoads {
        let nt = ("Windows 2000, FAT16", "W2000 FAT16");
        let nine = ("Windows 98 SE, FAT16", "W98 FAT16");
        let compressed = ("Windows 2000, compressed NTFS", "W2000 NTFS");
        let rows = [
            (nt, false, [0.016283, 0.014698, 0.013691]),
            (nt, true, [0.016154, 0.014138, 0.013759]),
            (nine, false, [0.027438, 0.025269, 0.024258]),
            (nine, true, [0.026662, 0.024782, 0.024735]),
            (compressed, false, [0.017066, 0.015039, 0.014077]),
            (compressed, true, [0.016373, 0.014459, 0.014025]),
        ];
        let row = |((system, short), by_ordinal, seconds): ((&str, &str), bool, [f64; 3])| {
            let [default_s, based_s, bound_s] = seconds;
            let (system, short) = (system.to_owned(), short.to_owned());
            PublishedLoad { system, short, by_ordinal, default_s, based_s, bound_s }
        };
        PublishedLoads {
            source: "Matt Pietrek, Optimizing DLL Load Time Performance, MSDN Magazine, May 2000, \
                     Figure 2"
                .to_owned(),
            machine: "Dell XPS T550, Pentium III 550 MHz".to_owned(),
            method: "10 DLLs of 100 functions with 5 globals each; fastest of 30 launches at \
                     real-time priority; bound means based and bound"
                .to_owned(),
            rows: rows.map(row).into(),
            summary:
                "Windows 2000: basing about 12 %, basing and binding about 18 %, ordinals 4 %; \
                      Windows 98: 8 %, 12 %, 2 %"
                    .to_owned(),
        }
    }
}

impl PublishedLoad {
    /// Change against default: of basing, then of basing and binding.
    pub fn changes(&self) -> [f64; 2] {
        [self.based_s, self.bound_s].map(|seconds| seconds / self.default_s - 1.0)
    }
}

/// Figures of a published experiment on growth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedGrowth {
    /// Author, title, and when.
    pub source: String,
    /// Systems.
    pub machine: String,
    /// What was measured, and the figure.
    pub figures: Vec<(String, String)>,
    /// The law that was found, in a word.
    pub law: String,
}

impl PublishedGrowth {
    /// Bruce Dawson's article.
    pub fn dawson() -> PublishedGrowth {
        let figures = [
            ("Chromium's unit_tests.exe", "122 MB, about 180,000 entries in its Guard CF table"),
            ("CreateProcess of it, Windows 10", "about 0.320 s (780 million cycles)"),
            ("10,900 tests in 1,090 processes, Windows 10", "618 s"),
            ("the same, Windows 7", "125 s"),
            ("the same without Guard CF, Windows 10", "5 times as fast; CreateProcess 20 times"),
            ("share of one function in the samples", "98.4 %"),
            ("generated programs", "17, of 0 to 1,280,000 entries and 845 more"),
        ];
        PublishedGrowth {
            source: "Bruce Dawson, O(n²) in CreateProcess, April 2019".to_owned(),
            machine: "Windows 10, and Windows 7 beside it; the machine is not named here"
                .to_owned(),
            figures: figures.map(|(what, figure)| (what.to_owned(), figure.to_owned())).into(),
            law: "quadratic".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ticks of the performance counter, which the table has too.
    #[test]
    fn seconds_are_the_ticks_of_the_same_table() {
        let ticks = [
            (3_579_545.0, [58286.0, 52611.0, 49006.0]),
            (3_579_545.0, [57824.0, 50609.0, 49251.0]),
            (1_193_180.0, [32738.0, 30150.0, 28944.0]),
            (1_193_180.0, [31812.0, 29569.0, 29513.0]),
            (3_579_545.0, [61087.0, 53834.0, 50388.0]),
            (3_579_545.0, [58607.0, 51755.0, 50204.0]),
        ];
        let published = PublishedLoads::pietrek();
        assert_eq!(published.rows.len(), ticks.len());
        for (row, (a_second, ticks)) in published.rows.iter().zip(ticks) {
            let seconds = [row.default_s, row.based_s, row.bound_s];
            for (seconds, ticks) in seconds.into_iter().zip(ticks) {
                assert!((seconds - ticks / a_second).abs() < 1e-6, "{row:?}: {ticks}");
            }
        }
    }
}

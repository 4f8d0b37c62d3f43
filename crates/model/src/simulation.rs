//! What a loader would do with a program, counted.

use serde::{Deserialize, Serialize};
use std::iter::Sum;
use std::ops::AddAssign;

/// Version of the JSON shape of [`Simulation`].
pub const SIMULATION_SCHEMA: u32 = 1;

/// A simulated launch up to the program's entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Simulation {
    /// [`SIMULATION_SCHEMA`].
    pub schema: u32,
    /// Version of headstart that simulated.
    pub headstart: String,
    /// The program.
    pub program: String,
    /// Its loader.
    pub interpreter: String,
    /// In the order of loading, which is the order of look-ups too; the program is the first.
    pub modules: Vec<SimulatedModule>,
    /// What finding the files took.
    pub search: SearchWork,
    /// Paths in the order of initialization.
    #[serde(rename = "initialised")]
    pub initialized: Vec<String>,
    /// All modules together.
    pub total: RelocationWork,
    /// What references bind to, where that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<BoundReference>,
}

/// A module of a simulated launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SimulatedModule {
    /// As the loader names it.
    pub path: String,
    /// Who needed it first; none for the program and for preloaded libraries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded_for: Option<String>,
    /// Its relocations.
    pub work: RelocationWork,
    /// Look-ups of all modules that found their definition here.
    pub definitions: u64,
}

/// Work of finding libraries, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchWork {
    /// Files opened: those found, and those of another class or machine.
    pub opened: u64,
    /// Files tried that are not there.
    pub missed: u64,
    /// Folders looked at because a file in them was not there.
    pub folders: u64,
    /// Look-ups in the cache (/etc/ld.so.cache).
    pub cache_lookups: u64,
}

/// Work of relocating, counted: the same for the same files on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelocationWork {
    /// Relocations that need no look-up, packed ones (RELR) included.
    pub relative: u64,
    /// References to symbols that are resolved at start.
    pub references: u64,
    /// References that wait until their first call.
    pub waiting: u64,
    /// References that were looked up; the others are local, or to the symbol of the one before.
    pub lookups: u64,
    /// Modules that were asked, for all look-ups.
    pub probes: u64,
    /// Entries of hash chains that were looked at.
    pub steps: u64,
    /// Look-ups that found nothing.
    pub missing: u64,
}

impl AddAssign for RelocationWork {
    fn add_assign(&mut self, other: RelocationWork) {
        let RelocationWork { relative, references, waiting, lookups, probes, steps, missing } =
            other;
        self.relative += relative;
        self.references += references;
        self.waiting += waiting;
        self.lookups += lookups;
        self.probes += probes;
        self.steps += steps;
        self.missing += missing;
    }
}

impl Sum for RelocationWork {
    fn sum<I: Iterator<Item = RelocationWork>>(works: I) -> RelocationWork {
        works.fold(RelocationWork::default(), |mut sum, work| {
            sum += work;
            sum
        })
    }
}

/// A reference and its definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundReference {
    /// Module that refers.
    pub object: String,
    /// Symbol.
    pub symbol: String,
    /// The version asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Module that defines it; none where nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definer: Option<String>,
}

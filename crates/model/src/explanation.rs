//! Where the time of a launch goes, as `explanation.json` holds it.

use crate::{
    BundleDifference, BundleRemains, CalledCode, Command, ElfFacts, Hot, PartWork, PeModule, Phase,
    PhaseTime, Reading, Waits,
};
use serde::{Deserialize, Serialize};

/// Version of `explanation.json`.
pub const EXPLANATION_SCHEMA: u32 = 1;

/// Where a group of figures comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Which figures: `phases`, `modules`, `faults`, `files`, `cpuid`, `waits`,
    /// `functions`, and `bundle` where one was executed.
    pub figures: String,
    /// The mechanism: `ptrace`, `LD_DEBUG`, `perf`, …
    pub mechanism: String,
    /// What it cannot see or how far it disturbs; empty where there is nothing to say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub caveat: String,
}

/// One process image of the launch (a script, its interpreter, the program it runs).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProcessReport {
    /// Process id in the traced launch.
    pub pid: u32,
    /// The executed file.
    pub path: String,
    /// For a bundle: the program that it was made of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle_of: Option<String>,
    /// Its arguments.
    pub argv: Vec<String>,
    /// `glibc`, `musl`, `static`, `other loader PATH`, …
    pub loader: String,
    /// From when, within the launch.
    pub started_us: f64,
    /// Until when.
    pub ended_us: f64,
    /// The part of the launch charged to it: at every instant the image started last of those
    /// alive is charged, so that waiting parents cost nothing. One that outlives the launch and
    /// sleeps is charged nothing. These sum to the launch's total.
    pub charged_us: f64,
    /// Its own phases; they sum to `ended_us − started_us`.
    pub phases: Vec<PhaseTime>,
    /// What could not be told apart, and why.
    pub notes: Vec<String>,
}

impl ProcessReport {
    /// The program: of a bundle, what it was made of.
    pub fn program(&self) -> &str {
        self.bundle_of.as_deref().unwrap_or(&self.path)
    }
}

/// One module of the launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModuleReport {
    /// The module's file.
    pub path: String,
    /// The executed file whose process loaded it.
    pub program: String,
    /// Finding, opening and mapping it.
    pub map_us: Reading<f64>,
    /// Relocating it, symbol look-ups included.
    pub relocate_us: Reading<f64>,
    /// Its initializers.
    pub init_us: Reading<f64>,
    /// Faults on its pages served without input.
    pub minor_faults: Reading<u64>,
    /// Faults on its pages that waited for input.
    pub major_faults: Reading<u64>,
    /// Bytes of its file read from storage.
    pub read_bytes: Reading<u64>,
    /// Failed attempts of the loader to open it elsewhere first.
    pub search_misses: Reading<u64>,
    /// Static facts of its file.
    pub facts: Reading<ElfFacts>,
    /// Of a Windows program or DLL: what is known of its loading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pe: Option<Box<PeModule>>,
    /// For a bundle: the libraries that are merged in it. Its own figures do not contain theirs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<String>,
    /// For a library that is merged in a bundle: the bundle's file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_in: Option<String>,
    /// For a bundle and what is merged in it: what each start still does for this part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<PartWork>,
}

impl ModuleReport {
    /// The functions that initialize it.
    pub fn initializers(&self) -> u64 {
        let own = self.work.map(|work| work.initializers);
        own.or_else(|| Some(self.facts.value()?.initializers)).unwrap_or(0)
    }
}

/// A bundle that the launch executed: a program and its libraries, merged into one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BundleReport {
    /// The bundle's file.
    pub path: String,
    /// The program that it was made of; none where another version of headstart has made it.
    pub original: Option<String>,
    /// How many libraries are merged in it.
    pub libraries: u64,
    /// It did not run, but started the original.
    pub started_original: bool,
    /// Why: what its check finds changed now. None where it ran, or where nothing differs any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<BundleDifference>,
    /// Its check at the start, before any initializer runs: a part of initializing.
    pub check_us: Reading<f64>,
    /// Reading itself ahead, as far as the launch waits for it: a part of relocating. None where it
    /// was not made to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead_us: Option<Reading<f64>>,
    /// What its start still does. None where it started the original, or where no process was followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remains: Option<Box<BundleRemains>>,
}

/// Page faults of the whole launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaultTotals {
    /// Served without input.
    pub minor: Reading<u64>,
    /// Waited for input.
    pub major: Reading<u64>,
    /// Bytes read from storage.
    pub read_bytes: Reading<u64>,
    /// Minor faults on memory that belongs to no file (stack, heap, zeroed data).
    pub anonymous: Reading<u64>,
}

/// File-system work below one folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FolderWork {
    /// The folder.
    pub folder: String,
    /// Successful opens of files in it.
    pub opens: u64,
    /// Failed look-ups of names in it.
    pub failed: u64,
    /// stat, access and readlink calls on names in it that succeeded.
    pub stats: u64,
    /// Reads of its listing.
    pub scans: u64,
}

/// File-system work of the whole launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileWork {
    /// Successful opens.
    pub opens: u64,
    /// Failed look-ups of every kind.
    pub failed: u64,
    /// Successful stat, access and readlink calls.
    pub stats: u64,
    /// Reads of folder listings.
    pub scans: u64,
    /// What the failed look-ups take when they are repeated untraced on this machine.
    pub failed_us: Reading<f64>,
    /// What the successful stat, access and readlink calls take when repeated untraced.
    pub stats_us: Reading<f64>,
    /// Folders by the number of calls, busiest first.
    pub folders: Vec<FolderWork>,
    /// The same calls by the folders that they have in common, those with the most failed
    /// look-ups, stats and listings first.
    #[serde(default)]
    pub groups: Vec<FolderGroup>,
}

/// CPUID instructions: each leaves the virtual machine, so the hypervisor answers it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CpuidTax {
    /// Executed up to `main`.
    pub count: u64,
    /// Cost of one on this machine.
    pub each_us: f64,
    /// By image, most first.
    pub by_image: Vec<(String, u64)>,
}

/// A cause of start-up time, with what supports it and what helps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable short name, such as `relocations`.
    pub id: String,
    /// The cause, one sentence.
    pub cause: String,
    /// The figures behind it, one a line.
    pub evidence: Vec<String>,
    /// Estimated time that it costs this launch.
    pub cost_us: Reading<f64>,
    /// The phase that this time is a part of; `None` where it lies in several. The costs of one
    /// phase's findings that are part of no other never sum to more than the phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// The finding that this one is a part of, by its id: of the same phase, or about the
    /// processes. The costs of all parts never sum to more than that finding's, and those of
    /// findings that are no parts never to more than the launch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_of: Option<String>,
    /// What to do.
    pub remedy: String,
}

/// A folder and all below it that look-ups went to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FolderGroup {
    /// The folder that all of them have in common.
    pub folder: String,
    /// How many folders, itself included where it was one of them.
    pub folders: u64,
    /// Successful opens of files in them.
    pub opens: u64,
    /// Failed look-ups of names in them.
    pub failed: u64,
    /// stat, access and readlink calls on names in them that succeeded.
    pub stats: u64,
    /// Reads of their listings.
    pub scans: u64,
}

/// A field that older programs did not write.
fn not_recorded<T>() -> Reading<T> {
    Reading::unavailable("it was not recorded", "explain the program again")
}

/// The answer of `explain`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// [`EXPLANATION_SCHEMA`] of the program that wrote it.
    pub schema: u32,
    /// What was launched.
    pub command: Command,
    /// Bundles that it executed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bundles: Vec<BundleReport>,
    /// Median of untraced launches made beside the traced ones.
    pub untraced_median_us: Reading<f64>,
    /// Median CPU time of those launches: the program's and that of children it waited for.
    #[serde(default = "not_recorded")]
    pub untraced_cpu_us: Reading<f64>,
    /// The launch that the phases divide: the most typical of the phase launches.
    pub total_us: f64,
    /// Phases in order; they sum to `total_us`.
    pub phases: Vec<PhaseTime>,
    /// What a reader of the figures should know, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Where the figures come from.
    pub sources: Vec<Source>,
    /// Every executed image, in order of start.
    pub processes: Vec<ProcessReport>,
    /// Modules, costliest first; those of Windows programs in the order in which they were loaded.
    pub modules: Vec<ModuleReport>,
    /// Page faults.
    pub faults: FaultTotals,
    /// File-system work.
    pub files: Reading<FileWork>,
    /// CPUID instructions.
    pub cpuid: Reading<CpuidTax>,
    /// Time in which no thread of the launch had anything to do.
    #[serde(default = "not_recorded")]
    pub waits: Reading<Waits>,
    /// The functions that the launch calls, and the pages that they lie in.
    #[serde(default = "not_recorded")]
    pub called_code: Reading<CalledCode>,
    /// What costs time, most first.
    pub findings: Vec<Finding>,
    /// The hottest functions, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot: Option<Reading<Hot>>,
}

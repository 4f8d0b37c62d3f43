//! What `optimize` found: variants of a program, and the best of them.

use crate::Verdict;
use serde::{Deserialize, Serialize};

/// Version of the object that `optimize --json` prints, and of `headstart.json`.
pub const OPTIMIZATION_SCHEMA: u32 = 1;

/// What became of a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VariantState {
    /// The unmodified program.
    Baseline,
    /// It does what the original does.
    Verified,
    /// It was built and does something else, so it is not offered.
    Failed,
    /// It does not apply to this program, or would not be safe.
    Declined,
    /// It was not asked for.
    NotTried,
}

/// One variant of the program. Figures are there for those that were measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VariantReport {
    /// `default` for the unmodified program.
    pub name: String,
    /// The program that it is of, where that is not the launched one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Whether the program has other addresses at every launch.
    pub keeps_aslr: bool,
    /// Whether it does what the original does.
    pub verified: bool,
    /// What became of it.
    pub state: VariantState,
    /// Why it is not verified.
    pub reason: Option<String>,
    /// Warm launches.
    #[serde(flatten)]
    pub warm: VariantFigures,
    /// Cold launches, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold: Option<VariantFigures>,
    /// Whether it looks, when it is started, at what it was made of; none where that is the
    /// original itself, or where it was not built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked_at_start: Option<bool>,
    /// What a user should know of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Figures of a variant's launches. Ratio and interval are variant ÷ unmodified program, of
/// launches paired by round; 1 for that program itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VariantFigures {
    /// Fastest launch.
    pub min_us: Option<f64>,
    /// Median.
    pub median_us: Option<f64>,
    /// Below 1 is faster.
    pub ratio: Option<f64>,
    /// Lower end of the interval.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// What the interval allows to be said.
    pub verdict: Option<Verdict>,
    /// Rounds behind ratio and interval.
    pub rounds: Option<u32>,
    /// Page faults served without input, median.
    pub minor_faults: Option<u64>,
    /// Memory that belongs to the process alone. None in reports of earlier versions.
    #[serde(default)]
    pub private_kib: Option<u64>,
    /// Largest resident set, median.
    pub peak_rss_kib: Option<u64>,
}

/// What `optimize` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OptimizationReport {
    /// [`OPTIMIZATION_SCHEMA`].
    pub schema: u32,
    /// Version of headstart.
    pub headstart: String,
    /// The command as one would type it into a shell.
    pub command: String,
    /// Its program.
    pub program: String,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// The unmodified program, then the others as they were tried.
    pub variants: Vec<VariantReport>,
    /// Name of the best variant.
    pub best: String,
    /// The folder whose `run` starts the best one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out: Option<String>,
    /// The programs that the launch starts; those with the largest shares first.
    #[serde(default)]
    pub programs: Vec<ProgramReport>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// A program of the launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProgramReport {
    /// The executed file.
    pub path: String,
    /// Its part of the time of the launch, over all its starts, from 0 to 1: at each moment the program
    /// counts that was executed last of those that do not wait. None where the launch could not be
    /// followed.
    pub share: Option<f64>,
    /// The part of the launch from its execve to its `main`, over all its starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loading_share: Option<f64>,
    /// How often it is started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts: Option<u32>,
    /// Name of its best variant; none where the original is the best, or where none was tried.
    pub best: Option<String>,
    /// Time of the whole launch with that variant ÷ without.
    pub ratio: Option<f64>,
    /// Lower end of the interval of the ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// The variable by which a launch finds a variant: `PATH`. None where it has to take the program's
    /// place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// Why it has no best variant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why the launch would not start what is installed for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_replaced: Option<String>,
    /// What the environment tells the loader when the launch starts it: names and values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<(String, String)>,
}

/// `headstart.json` of the folder that the best variant is left in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`OPTIMIZATION_SCHEMA`].
    pub schema: u32,
    /// Version of headstart.
    pub headstart: String,
    /// What was done: name of the variant.
    pub variant: String,
    /// What `run` leads to.
    pub starts: String,
    /// The command that was measured.
    pub command: String,
    /// The program, unmodified and where it was.
    pub original: OriginalFile,
    /// Its figures, then those of the variant left here.
    pub figures: Vec<VariantReport>,
    /// Files of the system that the variant does not use any more: where one of them is
    /// upgraded, the variant has to be made anew.
    pub replaced: Vec<String>,
    /// Programs of the launch of which a variant is left, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<KeptPart>,
    /// What a user should know.
    pub notes: Vec<String>,
    /// How to get rid of it.
    pub undo: String,
    /// Everything that was left, and what it was made of.
    #[serde(flatten)]
    pub kept: crate::bundle::Inventory,
}

/// A variant of a program that the launch finds by a variable, which `run` sets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptPart {
    /// The program.
    pub program: String,
    /// Name of the variant.
    pub variant: String,
    /// Where it is, from the folder of the manifest.
    pub folder: String,
    /// The variable.
    pub variable: String,
}

/// A file as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OriginalFile {
    /// As it was found.
    pub path: String,
    /// The file itself, links followed.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// Its build-id, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
}

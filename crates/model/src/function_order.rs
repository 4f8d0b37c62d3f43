//! What an order of functions would change, and what it has changed.

use crate::{Effect, ReadFile, Reading};
use serde::{Deserialize, Serialize};

/// Version of the JSON of [`OrderReport`].
pub const ORDER_REPORT_SCHEMA: u32 = 1;

/// An order that was made of traces, and what it would change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrderReport {
    /// Version of this structure.
    pub schema: u32,
    /// Version of headstart.
    pub headstart: String,
    /// The image whose functions are ordered.
    pub image: String,
    /// Its functions.
    pub functions: u64,
    /// Runs that the traces have of it.
    pub runs: u64,
    /// Calls that were matched by address.
    pub matched_by_address: u64,
    /// Calls that were matched by name, as they are of another build.
    pub matched_by_name: u64,
    /// Calls that no function of the image is for.
    pub unmatched: u64,
    /// Functions in the order.
    pub ordered: u64,
    /// Names that the order file lists.
    pub names: u64,
    /// Functions that it does not list, and why.
    pub left_out: Vec<LeftOutGroup>,
    /// What a run does now, on average.
    pub now: LayoutFigures,
    /// What it would do in the order.
    pub predicted: LayoutFigures,
    /// What a run would do that the order does not know, where that was asked for and there are
    /// several runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_out: Option<LayoutFigures>,
    /// What that costs on devices.
    pub devices: Vec<DeviceCosts>,
    /// How much the kernel is taken to read ahead.
    #[serde(default = "usual_read_ahead")]
    pub read_ahead_bytes: u64,
    /// Runs whose seek distance would grow, and why.
    pub rises: Vec<RiseReport>,
    /// What else is to be known.
    pub notes: Vec<String>,
    /// The order file, where one was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// What reports without it were made with: Linux's usual 128 KiB.
fn usual_read_ahead() -> u64 {
    128 << 10
}

/// Functions that an order file does not list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOutGroup {
    /// Why, in words.
    pub reason: String,
    /// How many.
    pub functions: u64,
    /// The first of them that has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
}

/// What runs do in one layout of an image, on average, if nothing of it is in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LayoutFigures {
    /// Pages of code that are touched.
    pub pages: f64,
    /// Windows of 64 KiB that are touched.
    pub windows: f64,
    /// Pages that would do if the called functions were side by side.
    pub floor: f64,
    /// Reads from storage.
    pub reads: f64,
    /// Bytes that these read.
    pub bytes: f64,
    /// The seek distance: bytes between successive reads.
    pub distance: f64,
    /// Page faults that wait for a read.
    pub major_faults: f64,
}

/// What reading costs on a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceCosts {
    /// Its name.
    pub device: String,
    /// Now.
    pub now_us: f64,
    /// In the order.
    pub predicted_us: f64,
}

/// Why the seek distance of a run grows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RiseReport {
    /// Which run, from 0 on.
    pub run: u64,
    /// Bytes between successive reads now.
    pub before: u64,
    /// And in the order.
    pub after: u64,
    /// Reads of ordered functions that come next to reads of others.
    pub crossings: u64,
    /// The functions outside the order that lie farthest.
    pub far: Vec<String>,
}

/// Version of the JSON of [`OrderVerification`].
pub const ORDER_VERIFICATION_SCHEMA: u32 = 1;

/// Two builds of a program compared: before and after its functions were ordered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrderVerification {
    /// Version of this structure.
    pub schema: u32,
    /// Version of headstart.
    pub headstart: String,
    /// The build before.
    pub old: BuildFigures,
    /// The build after.
    pub new: BuildFigures,
    /// Traced launches of each build.
    #[serde(default)]
    pub traces: u64,
    /// Functions that the old build called and the new one called too, by name, in percent of the
    /// former.
    pub resolved_percent: Reading<f64>,
    /// What each module that was linked again waits for, cold.
    pub modules: Vec<ModuleChange>,
    /// Further launches that the order may not know.
    pub held_out: Vec<HeldOutLaunch>,
    /// Start-up time with everything in memory, new against old.
    pub warm: Reading<Effect>,
    /// Start-up time with nothing of the builds in memory.
    pub cold: Reading<Effect>,
    /// What follows.
    pub verdict: OrderVerdict,
    /// Why, and what else is to be known.
    pub notes: Vec<String>,
}

/// What follows from a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderVerdict {
    /// Fewer pages, and nothing that is worse.
    Better,
    /// Nothing has changed by more than can be told.
    Same,
    /// A launch has more pages or reads than before, takes longer, or ends in another way.
    Rejected,
    /// Nobody knows: the builds or their launches cannot be compared.
    Unavailable,
}

impl OrderVerdict {
    /// Whether the order may be used: one that nothing is known of may not.
    pub fn is_accepted(self) -> bool {
        match self {
            OrderVerdict::Better | OrderVerdict::Same => true,
            OrderVerdict::Rejected | OrderVerdict::Unavailable => false,
        }
    }
}

/// What a launch of one build does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BuildFigures {
    /// The command, as one would type it.
    pub command: String,
    /// Pages of code that its called functions lie in, in the launch with the median of them.
    pub pages: u64,
    /// Windows of 64 KiB that they lie in.
    pub windows: u64,
    /// Pages that would do if they were side by side.
    pub floor: u64,
    /// Reads of the modules that were linked again, cold.
    pub reads: Reading<u64>,
    /// Bytes that these read.
    pub bytes: Reading<u64>,
    /// The seek distance: bytes between successive reads.
    pub distance: Reading<u64>,
    /// Page faults on these modules that waited for a read.
    pub major_faults: Reading<u64>,
    /// Time of all these reads.
    pub read_us: Reading<f64>,
    /// Median of the start-up time, warm.
    pub median_us: Reading<f64>,
    /// Median of the start-up time, cold.
    pub cold_median_us: Reading<f64>,
    /// The reads of one cold launch, module by module.
    pub read_list: Vec<ReadFile>,
}

/// What a cold launch waits for in one module, before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModuleChange {
    /// Its file name.
    pub module: String,
    /// Page faults that waited for a read, before.
    pub major_faults_before: u64,
    /// And after.
    pub major_faults_after: u64,
    /// Time of its reads, before.
    pub read_us_before: f64,
    /// And after.
    pub read_us_after: f64,
}

/// A further launch of both builds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldOutLaunch {
    /// The command of the old build, as one would type it.
    pub command: String,
    /// What it does in the old build.
    pub old: LayoutFigures,
    /// And in the new one.
    pub new: LayoutFigures,
}

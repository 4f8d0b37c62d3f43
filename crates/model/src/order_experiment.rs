//! OpenOffice's experiment made again: an order of functions tried on a real program, and compared
//! with reading the whole file ahead.

use crate::{Effect, Machine, OrderReport, OrderVerification, Reading};
use serde::{Deserialize, Serialize};

/// Version of the JSON of [`OrderExperiment`].
pub const ORDER_EXPERIMENT_SCHEMA: u32 = 1;

/// What the experiment found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrderExperiment {
    /// Version of this structure.
    pub schema: u32,
    /// Version of headstart.
    pub headstart: String,
    /// Where it was made.
    pub machine: Machine,
    /// Folder with the order and the tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// What the program is, in words.
    pub program: String,
    /// The order, and what it was to change.
    pub order: OrderReport,
    /// What it has changed.
    pub verification: OrderVerification,
    /// Reading the whole file ahead and ordering, each with and without the other.
    pub pagein: Vec<PageinRow>,
    /// Type of the file system that it was launched from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<String>,
    /// How far the kernel reads ahead there.
    pub read_ahead_kib: Reading<u64>,
}

/// What is done for a cold start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageinForm {
    /// Nothing.
    Neither,
    /// The script that starts the program reads all of its file first.
    Pagein,
    /// The program's functions are in order.
    Order,
    /// All of the file is read first, and its functions are in order.
    Both,
}

impl PageinForm {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            PageinForm::Neither => "neither",
            PageinForm::Pagein => "pagein",
            PageinForm::Order => "order",
            PageinForm::Both => "both",
        }
    }
}

/// Cold launches in one form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageinRow {
    /// Which.
    pub form: PageinForm,
    /// Reads of the program's file.
    pub reads: Reading<u64>,
    /// Bytes that these read.
    pub bytes: Reading<u64>,
    /// Bytes between successive reads.
    pub distance: Reading<u64>,
    /// Page faults on the file that waited for a read.
    pub major_faults: Reading<u64>,
    /// Time of all these reads.
    pub read_us: Reading<f64>,
    /// Median of the start-up time, from the start of the script on.
    pub median_us: Reading<f64>,
    /// That time against the first form's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
}

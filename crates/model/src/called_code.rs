//! The functions that a launch calls: the pages that they lie in, and what an order would change.

use crate::ModuleCalls;
use serde::{Deserialize, Serialize};

/// The functions that one launch calls, all its processes together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalledCode {
    /// Functions that were watched.
    pub watched: u64,
    /// Modules of which any were called, those with the most called functions first.
    pub modules: Vec<CalledModule>,
    /// What could not be recorded, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What a launch calls of one module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalledModule {
    /// Called functions and their pages.
    #[serde(flatten)]
    pub calls: ModuleCalls,
    /// What an order would change; absent where there is next to nothing to gain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordered: Option<OrderForecast>,
}

/// What a launch with nothing in memory would do with a module's functions, by prediction: as they
/// are, and in an order made of what it calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderForecast {
    /// Touched pages.
    pub pages: u64,
    /// Reads of the file as it is.
    pub reads_now: u64,
    /// Reads in the order.
    pub reads: u64,
}

impl CalledCode {
    /// Called functions of all modules.
    pub fn called(&self) -> u64 {
        self.modules.iter().map(|module| module.calls.called).sum()
    }

    /// Pages that hold them.
    pub fn touched_pages(&self) -> u64 {
        self.modules.iter().map(|module| module.calls.touched_pages).sum()
    }

    /// Pages that would do if the functions of each module were side by side.
    pub fn floor_pages(&self) -> u64 {
        self.modules.iter().map(|module| module.calls.floor_pages).sum()
    }
}

impl CalledModule {
    /// Pages that an order would save.
    pub fn saved_pages(&self) -> u64 {
        self.ordered.map_or(0, |ordered| self.calls.touched_pages.saturating_sub(ordered.pages))
    }

    /// Reads that an order would save a cold launch.
    pub fn saved_reads(&self) -> u64 {
        self.ordered.map_or(0, |ordered| ordered.reads_now.saturating_sub(ordered.reads))
    }
}

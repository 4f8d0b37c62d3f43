//! `sweep.json`: what a sweep is of, and how far it is.

use super::SweepSubject;
use crate::folder::check_schema;
use crate::{LabError, RunFolder};
use model::growth::Unit;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

pub use crate::folder::SWEEP_PLAN as PLAN;

/// Version of `sweep.json`.
pub const PLAN_SCHEMA: u32 = 1;

/// `sweep.json` of a run folder: what `experiment.json` does not say about a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepPlan {
    /// [`PLAN_SCHEMA`] of the program that wrote it.
    pub schema: u32,
    /// What changes its size.
    pub subject: SweepSubject,
    /// What is measured: microseconds are in the run's `launches.jsonl`, counts here.
    pub unit: Unit,
    /// Sizes asked for, ascending.
    pub sizes: Vec<u64>,
    /// Seconds for the whole sweep, or for what a resumed one still lacks.
    pub budget_s: f64,
    /// Size of each variant of the experiment, in their order; empty until they are chosen.
    pub chosen: Vec<u64>,
    /// Counts by size, where work is counted.
    pub counts: Vec<(u64, u64)>,
    /// What was left out.
    pub notes: Vec<String>,
}

impl SweepPlan {
    /// Reads the plan of a run folder.
    ///
    /// # Errors
    /// Where there is none, such as in the folder of another kind of run.
    pub fn read(folder: &Path) -> Result<SweepPlan, LabError> {
        let path = folder.join(PLAN);
        let remedy = "give the folder of a sweep; resume other runs with measure or compare";
        let bytes = fs::read(&path).map_err(|error| LabError::folder(&path, error, remedy))?;
        let plan: SweepPlan = serde_json::from_slice(&bytes)
            .map_err(|error| LabError::folder(&path, error, "start a new sweep"))?;
        check_schema(&path, plan.schema, PLAN_SCHEMA)?;
        Ok(plan)
    }

    /// Writes the plan, whole or not at all.
    ///
    /// # Errors
    /// Where the folder cannot be written.
    pub fn write(&self, folder: &RunFolder) -> Result<(), LabError> {
        folder.write_json(PLAN, self)
    }
}

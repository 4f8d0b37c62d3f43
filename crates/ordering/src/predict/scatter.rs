//! How scattered the functions of a launch are over a module, and what an order would save.

use super::{ForecastMeans, Forecaster, TextPlacement};
use crate::{Algorithm, CalledFunctions, order};

/// How scattered the functions are that launches call of one module.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModuleScatter {
    /// As it is.
    pub now: ForecastMeans,
    /// In signature order.
    pub ordered: ForecastMeans,
    /// Called functions that the linker can move.
    pub movable: u64,
    /// Called functions that it cannot.
    pub immovable: u64,
}

impl ModuleScatter {
    /// Pages that an order would save.
    pub fn saved_pages(&self) -> f64 {
        (self.now.pages - self.ordered.pages).max(0.0)
    }

    /// Reads that an order would save.
    pub fn saved_reads(&self) -> f64 {
        (self.now.reads - self.ordered.reads).max(0.0)
    }

    /// Touched pages for each page that would do: 1 where nothing is scattered, or called.
    pub fn pages_per_floor(&self) -> f64 {
        if self.now.function_floor > 0.0 { self.now.pages / self.now.function_floor } else { 1.0 }
    }
}

/// How scattered the functions are that these runs call, and what signature order would save of
/// that, for runs like these.
pub fn module_scatter(module: &Forecaster<'_>, runs: &[CalledFunctions]) -> ModuleScatter {
    let present = TextPlacement::present(module.functions);
    let made = order(Algorithm::Signature, module.functions, runs);
    let ordered = TextPlacement::reordered(module.functions, &made);
    let mut is_called = vec![false; module.functions.len()];
    for call in runs.iter().flat_map(|run| &run.first_calls) {
        if let Some(is_called) = is_called.get_mut(call.index()) {
            *is_called = true;
        }
    }
    let called = is_called.iter().filter(|is_called| **is_called).count() as u64;
    let movable = made.len() as u64;
    ModuleScatter {
        now: module.layout(&present, runs).means(),
        ordered: module.layout(&ordered, runs).means(),
        movable,
        immovable: called - movable,
    }
}

//! What runs do in one layout of an image: pages, reads and faults, run by run and on average.

use super::{
    DeviceProfile, KernelReadAhead, Replay, TextMapping, TextPlacement, TouchedPages,
    WeightedReplay, expected_cost, function_floor, replay, touched_pages,
};
use crate::{CalledFunctions, PlacedFunction};
use rayon::prelude::*;
use std::time::Duration;

/// What predictions are made from, apart from the layout and the runs.
#[derive(Clone, Copy, Debug)]
pub struct Forecaster<'a> {
    /// The functions of the image.
    pub functions: &'a [PlacedFunction],
    /// The mapping that has them. An order does not change it: the text stays as large.
    pub mapping: TextMapping,
    /// How the kernel reads ahead.
    pub read_ahead: KernelReadAhead,
}

/// What one run does in one layout.
#[derive(Clone, Debug, PartialEq)]
pub struct RunForecast {
    /// How much the run counts among others.
    pub weight: f64,
    /// The pages that it touches.
    pub touched: TouchedPages,
    /// The fewest pages with which it could do.
    pub function_floor: u64,
    /// What the kernel reads for it, if nothing is in memory.
    pub replay: Replay,
}

/// What runs do in one layout.
#[derive(Clone, Debug, PartialEq)]
pub struct LayoutForecast {
    /// One forecast for each run, in the order in which the runs were given.
    pub runs: Vec<RunForecast>,
}

/// Averages over runs by their weights.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ForecastMeans {
    /// Touched pages.
    pub pages: f64,
    /// Touched windows of 64 KiB.
    pub windows: f64,
    /// The fewest pages with which the runs could do.
    pub function_floor: f64,
    /// Reads from storage.
    pub reads: f64,
    /// Bytes that these read.
    pub bytes: f64,
    /// The seek distance, in bytes.
    pub distance: f64,
    /// Faults that wait for a read.
    pub major_faults: f64,
}

impl Forecaster<'_> {
    /// What a run does in a layout.
    pub fn run(&self, placement: &TextPlacement, run: &CalledFunctions) -> RunForecast {
        let touched = touched_pages(placement, &run.first_calls);
        RunForecast {
            weight: run.weight,
            function_floor: function_floor(self.functions, &run.first_calls),
            replay: replay(&touched.pages, &self.mapping, &self.read_ahead),
            touched,
        }
    }

    /// What several runs do in a layout.
    pub fn layout(&self, placement: &TextPlacement, runs: &[CalledFunctions]) -> LayoutForecast {
        LayoutForecast { runs: runs.par_iter().map(|run| self.run(placement, run)).collect() }
    }
}

impl LayoutForecast {
    /// Averages over the runs by their weights; zero where none counts.
    pub fn means(&self) -> ForecastMeans {
        let counting = || self.runs.iter().filter(|run| run.weight.is_finite() && run.weight > 0.0);
        let weights: f64 = counting().map(|run| run.weight).sum();
        let mean = |of: &dyn Fn(&RunForecast) -> u64| {
            let sum: f64 = counting().map(|run| run.weight * of(run) as f64).sum();
            if weights > 0.0 { sum / weights } else { 0.0 }
        };
        ForecastMeans {
            pages: mean(&|run| run.touched.count()),
            windows: mean(&|run| run.touched.windows()),
            function_floor: mean(&|run| run.function_floor),
            reads: mean(&|run| run.replay.reads.len() as u64),
            bytes: mean(&|run| run.replay.bytes()),
            distance: mean(&|run| run.replay.distance()),
            major_faults: mean(&|run| run.replay.major_faults),
        }
    }

    /// What reads and faults of a launch cost on a device, on average; `None` where no run counts.
    pub fn cost(&self, device: &DeviceProfile) -> Option<Duration> {
        let replays = self.runs.iter();
        let replays = replays.map(|run| WeightedReplay { replay: &run.replay, weight: run.weight });
        expected_cost(device, &replays.collect::<Vec<_>>())
    }
}

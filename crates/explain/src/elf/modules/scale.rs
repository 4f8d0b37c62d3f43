//! Scales module times of a logged launch to a launch that wrote no log.

use super::phase_ns;
use crate::elf::loader_log::{LoggedModule, Run};
use crate::phases::Life;
use crate::time::{ns, us};
use model::{MarkKind, Phase};

/// Factors that bring the times of one logged run to the phases of the same image in a launch
/// that wrote no log. Writing the log makes a loader 10 to 22 % slower, each line about equally.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    pub map: f64,
    pub relocate: f64,
    pub init: f64,
    /// The loader's own start, before it looks for the first library: part of Map.
    pub start: Option<f64>,
    /// For a bundle whose own initializers are known from elsewhere: what the log does not show of
    /// those that are not merged.
    pub outside: Option<f64>,
}

impl Scale {
    /// Factors for `run` by the phases of `life`; all 1 where there is no life to compare with.
    /// `start` is what the loader's own start took in an earlier run, or in this one.
    /// `outside`: what the initializers take that are not merged, in microseconds, where the image
    /// is a bundle.
    pub fn new(run: &Run, life: Option<&Life>, start: Option<i64>, outside: Option<f64>) -> Self {
        let Some(life) = life else {
            return Scale { map: 1.0, relocate: 1.0, init: 1.0, start: None, outside: None };
        };
        let early = |time: fn(&LoggedModule) -> Option<i64>| -> i64 {
            run.modules.iter().filter(|module| !module.late).filter_map(time).sum()
        };
        let map = phase_ns(life, Phase::Map);
        let mapped = early(|module| module.map);
        // Two launches never take quite the same time, but the log does not make mapping faster,
        // nor four times slower.
        let least = (map - mapped).max(0);
        let most = (map - mapped / 4).max(least);
        let start = start.unwrap_or(least).clamp(least, most);
        let merged = run.modules.iter().filter(|module| module.name == run.program);
        let merged: i64 = merged.filter_map(|module| module.init).sum();
        let initialized = early(|module| module.init);
        let shown = initialized - merged;
        let init = match outside {
            None => factor(phase_ns(life, Phase::Initialize), initialized),
            Some(outside) => factor(ns(outside), shown).min(1.0),
        };
        Scale {
            map: factor(map - start, mapped),
            relocate: factor(
                phase_ns(life, Phase::Relocate),
                early(|module| module.relocate) + run.checking,
            ),
            init,
            start: (map > 0).then(|| us(start)),
            outside: outside.map(|all| (all - us(shown) * init).max(0.0)),
        }
    }
}

/// From the end of execve to the log's first line: for the first run only, which begins with
/// the launch, as the phases do.
pub(super) fn own_start(run: &Run, life: &Life) -> Option<i64> {
    let mut marks = life.image.marks.iter();
    let done = marks.find(|mark| mark.kind == MarkKind::ExecDone)?;
    Some((run.first - ns(done.at_us)).max(0))
}

fn factor(phase: i64, logged: i64) -> f64 {
    if phase > 0 && logged > 0 { phase as f64 / logged as f64 } else { 1.0 }
}

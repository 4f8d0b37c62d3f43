//! Causes of start-up time, one a file. Each looks at the finished figures and says nothing
//! where its cause does not matter.
//!
//! A cost is a measured time where there is one. Costs may overlap: page faults that relocating
//! takes are part of relocating. A remedy names only what exists today.

mod cold_reads;
mod cpuid;
mod executable_stack;
mod exit;
mod file_storms;
mod helper_processes;
mod initialisers;
mod interpreter;
mod launcher_chain;
mod libraries;
mod old_hash;
mod own_code;
mod page_faults;
mod plugins;
mod relocations;
mod search_misses;
mod text_relocations;

use crate::inputs::Inputs;
use crate::names::base_name;
use crate::time::{ns, us};
use model::figures::duration;
use model::{ElfFacts, Explanation, Finding, ModuleReport, Phase, ProcessReport};
use std::collections::BTreeSet;

/// A finding is worth telling from this share of the launch.
const WORTH: f64 = 0.02;

/// What a finding may look at.
pub(crate) struct Context<'a> {
    /// Complete but for the findings.
    pub explanation: &'a Explanation,
    pub inputs: &'a Inputs,
    /// Failed attempts of the loader to open a library, by folder, most first.
    pub misses: Vec<(String, u64)>,
    /// Modules loaded by dlopen (program, file) and their time.
    pub late: Vec<((String, String), f64)>,
    /// Finalisers (program, file) and their time.
    pub finalisers: Vec<((String, String), f64)>,
    /// Minor faults on files that are no modules, most first.
    pub other_faults: Vec<(String, u64)>,
}

/// Every finding that applies, costliest first; those without a cost last.
pub(crate) fn all(context: &Context) -> Vec<Finding> {
    let registry: [fn(&Context) -> Option<Finding>; 17] = [
        relocations::find,
        libraries::find,
        search_misses::find,
        initialisers::find,
        plugins::find,
        cpuid::find,
        file_storms::find,
        launcher_chain::find,
        helper_processes::find,
        interpreter::find,
        page_faults::find,
        cold_reads::find,
        exit::find,
        own_code::find,
        text_relocations::find,
        executable_stack::find,
        old_hash::find,
    ];
    let mut found: Vec<Finding> = registry.iter().filter_map(|find| find(context)).collect();
    for finding in &mut found {
        // Nanoseconds, as every other figure: an estimate is not more exact than its parts.
        finding.cost_us = finding.cost_us.clone().map(|cost| us(ns(cost)));
    }
    let cost = |finding: &Finding| finding.cost_us.get().unwrap_or(f64::NEG_INFINITY);
    found.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
    found
}

impl Context<'_> {
    fn modules(&self) -> &[ModuleReport] {
        &self.explanation.modules
    }

    /// Time of a phase in the whole launch; 0 where it does not occur.
    fn phase(&self, phase: Phase) -> f64 {
        let times = self.explanation.phases.iter();
        times.filter(|time| time.phase == phase).map(|time| time.us).sum()
    }

    /// Share of the launch.
    fn share(&self, us: f64) -> f64 {
        if self.explanation.total_us > 0.0 { us / self.explanation.total_us } else { 0.0 }
    }

    /// Whether a cost is large enough to be told.
    fn worth(&self, us: f64) -> bool {
        us > 0.0 && self.share(us) >= WORTH
    }

    /// `43 % of the launch (38.1 ms)`.
    fn of_launch(&self, us: f64) -> String {
        let percent = self.share(us) * 100.0;
        let percent =
            if percent >= 9.95 { format!("{percent:.0}") } else { format!("{percent:.1}") };
        format!("{percent} % of the launch ({})", duration(us))
    }

    /// The executed image that the launch spends most of its time in.
    fn main_image(&self) -> Option<&ProcessReport> {
        let processes = self.explanation.processes.iter();
        processes.max_by(|a, b| a.charged_us.total_cmp(&b.charged_us))
    }

    /// Files that were loaded rather than executed, each once however often it was loaded.
    fn libraries(&self) -> BTreeSet<&str> {
        let loaded = self.modules().iter().filter(|module| module.path != module.program);
        loaded.map(|module| module.path.as_str()).collect()
    }

    /// Facts of the modules for which `matches` holds, each file once.
    fn files_where(&self, matches: impl Fn(&ElfFacts) -> bool) -> Vec<&ModuleReport> {
        let mut seen = BTreeSet::new();
        let hits = self.modules().iter().filter(|m| m.facts.value().is_some_and(&matches));
        hits.filter(|module| seen.insert(module.path.as_str())).collect()
    }
}

/// The costliest modules by a figure, most first, those without it left out.
fn top(
    modules: &[ModuleReport],
    count: usize,
    figure: impl Fn(&ModuleReport) -> Option<f64>,
) -> Vec<(&ModuleReport, f64)> {
    let mut known: Vec<(&ModuleReport, f64)> =
        modules.iter().filter_map(|module| Some((module, figure(module)?))).collect();
    known.sort_by(|a, b| b.1.total_cmp(&a.1));
    known.truncate(count);
    known.retain(|module| module.1 > 0.0);
    known
}

/// Sum of a figure over modules; `None` where no module has it.
fn sum(modules: &[ModuleReport], figure: impl Fn(&ModuleReport) -> Option<f64>) -> Option<f64> {
    modules.iter().filter_map(figure).fold(None, |sum, us| Some(sum.unwrap_or(0.0) + us))
}

/// Sum of a static count over the modules whose facts are known.
fn total(modules: &[ModuleReport], figure: impl Fn(&ElfFacts) -> u64) -> u64 {
    modules.iter().filter_map(|module| module.facts.value()).map(figure).sum()
}

/// File names for a sentence: `a, b, c and 4 more`.
fn names<'a>(paths: impl Iterator<Item = &'a str>) -> String {
    let all: Vec<&str> = paths.map(base_name).collect();
    match all.len() {
        0..=4 => all.join(", "),
        n => format!("{} and {} more", all[..3].join(", "), n - 3),
    }
}

#[cfg(test)]
mod tests;

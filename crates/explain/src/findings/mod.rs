//! Causes of start-up time, one a file. Each looks at the finished figures and says nothing
//! where its cause does not matter.
//!
//! A cost is a measured time where there is one. What is part of another finding says so; the
//! others of one phase never sum to more than the phase ([`shares`]). A remedy names only what
//! exists today.

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
mod shares;
mod stale_bundle;
mod text_relocations;
mod waits;

use crate::faults::PhaseFaults;
use crate::inputs::Inputs;
use crate::names::base_name;
use crate::time::{ns, us};
use model::figures::duration;
use model::{ElfFacts, Explanation, Finding, FolderWork, ModuleReport, Phase, ProcessReport};
use shares::Shares;
use std::collections::{BTreeMap, BTreeSet};

/// What findings look at besides the explanation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// Some process of the launch called exit, as far as its end could be seen.
    pub exit_called: bool,
    /// Failed attempts of the loader to open a library, by folder, most first.
    pub misses: Vec<(String, u64)>,
    /// Modules loaded by dlopen (program, file) and their time.
    pub late: Vec<((String, String), f64)>,
    /// Finalisers (program, file) and their time.
    pub finalisers: Vec<((String, String), f64)>,
    /// Minor faults on files that are no modules, most first.
    pub other_faults: Vec<(String, u64)>,
    /// Minor faults by phase.
    pub faults: BTreeMap<Phase, PhaseFaults>,
    /// Calls on the file system by phase and folder.
    pub calls: BTreeMap<Phase, Vec<FolderWork>>,
    /// What each program is charged of main, by its path.
    pub mains: BTreeMap<String, f64>,
}

/// What a finding may look at.
pub(crate) struct Context<'a> {
    /// Complete but for the findings.
    pub explanation: &'a Explanation,
    pub inputs: &'a Inputs,
    pub found: Found,
    /// What each cause costs, divided so that nothing counts twice in a phase.
    pub shares: Shares,
}

/// Every finding that applies, costliest first; those without a cost last.
pub(crate) fn all(context: &Context) -> Vec<Finding> {
    let one: [fn(&Context) -> Option<Finding>; 15] = [
        relocations::find,
        libraries::find,
        search_misses::find,
        initialisers::find,
        plugins::find,
        stale_bundle::find,
        launcher_chain::find,
        helper_processes::find,
        interpreter::find,
        cold_reads::find,
        exit::find,
        own_code::find,
        text_relocations::find,
        executable_stack::find,
        old_hash::find,
    ];
    // Causes that lie in several phases, one finding each.
    let several: [fn(&Context) -> Vec<Finding>; 4] =
        [cpuid::find, waits::find, file_storms::find, page_faults::find];
    let mut found: Vec<Finding> = one.iter().filter_map(|find| find(context)).collect();
    found.extend(several.iter().flat_map(|find| find(context)));
    for finding in &mut found {
        // Nanoseconds, as every other figure: an estimate is not more exact than its parts.
        finding.cost_us = finding.cost_us.clone().map(|cost| us(ns(cost)));
    }
    attach(context, &mut found);
    let cost = |finding: &Finding| finding.cost_us.get().unwrap_or(f64::NEG_INFINITY);
    found.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
    found
}

/// A finding of a phase is part of the one about that phase's own work, where that is told.
fn attach(context: &Context, found: &mut [Finding]) {
    for finding in found.iter_mut().filter(|finding| finding.part_of.is_none()) {
        let whole = shares::WHOLES.into_iter().find(|(phase, _)| finding.phase == Some(*phase));
        let whole = whole.filter(|(phase, _)| context.shares.wholes.contains_key(phase));
        let beside = context.shares.cpuid_beside
            && finding.id == "cpuid"
            && finding.phase == Some(Phase::Map);
        let parts = whole.filter(|(_, id)| *id != finding.id && !beside);
        finding.part_of = parts.map(|(_, id)| id.to_owned());
    }
}

impl<'a> Context<'a> {
    /// Divides the phases among their causes.
    pub(crate) fn new(explanation: &'a Explanation, inputs: &'a Inputs, found: Found) -> Self {
        let shares = Shares::new(explanation, inputs, &found);
        Context { explanation, inputs, found, shares }
    }

    fn modules(&self) -> &[ModuleReport] {
        &self.explanation.modules
    }

    /// Those that are loaded before main.
    fn modules_at_start(&self) -> Vec<ModuleReport> {
        shares::at_start(&self.explanation.modules, &self.found).into_iter().cloned().collect()
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
        us > 0.0 && self.share(us) >= shares::WORTH
    }

    /// `43 % of the launch (38.1 ms)`.
    fn of_launch(&self, us: f64) -> String {
        let percent = self.share(us) * 100.0;
        let percent =
            if percent >= 9.95 { format!("{percent:.0}") } else { format!("{percent:.1}") };
        format!("{percent} % of the launch ({})", duration(us))
    }

    /// `43 % of the launch (38.1 ms), in main`: for a cause that may lie in any phase. What is
    /// part of another finding has its phase.
    fn of_launch_in(&self, us: f64, phase: Phase) -> String {
        match self.shares.wholes.contains_key(&phase) {
            true => self.of_launch(us),
            false => format!("{}, in {}", self.of_launch(us), phase.name()),
        }
    }

    /// The program proper: the executed image that the launch spends most of its time in. What a
    /// process started by another only waits does not count: a script's `sleep` is no program
    /// that the script prepares for.
    fn main_image(&self) -> Option<&ProcessReport> {
        let processes = &self.explanation.processes;
        let launched = processes.first()?.pid;
        let waits = |path: &str| {
            let calls = self.explanation.waits.value().into_iter().flat_map(|waits| &waits.calls);
            calls.filter(|call| call.program == path).map(|call| call.us).sum::<f64>()
        };
        let weight = |process: &ProcessReport| match process.pid == launched {
            true => process.charged_us,
            false => process.charged_us - waits(&process.path),
        };
        let most = processes.iter().max_by(|a, b| weight(a).total_cmp(&weight(b)))?;
        // A bundle that started its original only stood in for it.
        Some(stale_bundle::original(self, most).unwrap_or(most))
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
    let mut all: Vec<(&str, u64)> = Vec::new();
    for name in paths.map(base_name) {
        match all.iter_mut().find(|(known, _)| *known == name) {
            Some((_, times)) => *times += 1,
            None => all.push((name, 1)),
        }
    }
    let told = if all.len() > 4 { 3 } else { all.len() };
    let rest: u64 = all[told..].iter().map(|(_, times)| times).sum();
    let told: Vec<String> = all[..told]
        .iter()
        .map(|(name, times)| match times {
            1 => (*name).to_owned(),
            times => format!("{name} ({times} times)"),
        })
        .collect();
    match rest {
        0 => told.join(", "),
        rest => format!("{} and {rest} more", told.join(", ")),
    }
}

#[cfg(test)]
mod tests;

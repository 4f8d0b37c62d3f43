//! Causes of start-up time of Windows programs, one a file. Each looks at the finished figures and says
//! nothing where its cause does not matter.
//!
//! Those with a cost divide the time of the launched program by its phases, and that of other processes is
//! one finding: they never sum to more than the launch. Causes whose cost no record tells are parts of the
//! finding on their phase.

mod collisions;
mod creation;
mod exit;
mod guard;
mod helper_processes;
mod hints;
mod initializers;
mod late_loading;
mod libraries;
mod own_code;
mod search_misses;
mod sections;

use super::inputs::PeInputs;
use crate::advice::AdviceWords;
use crate::names::{base_name, names};
use model::figures::duration;
use model::{Explanation, Finding, ModuleReport, PeFacts, PeModule, Phase, Reading};
use std::collections::BTreeMap;

/// A cost of a smaller share of the launch is not told.
const WORTH: f64 = 0.02;

/// What a finding may look at.
struct Context<'a> {
    /// Complete but for the findings.
    explanation: &'a Explanation,
    inputs: &'a PeInputs,
    /// What the launched program is charged of each phase.
    own: &'a BTreeMap<Phase, f64>,
    /// Says what can be done.
    words: AdviceWords,
}

type Finder = fn(&Context) -> Option<Finding>;

const ALL: [Finder; 12] = [
    libraries::find,
    collisions::find,
    hints::find,
    search_misses::find,
    sections::find,
    initializers::find,
    creation::find,
    own_code::find,
    late_loading::find,
    exit::find,
    helper_processes::find,
    guard::find,
];

/// Every finding that applies, costliest first; those without a cost last. `own` is what the launched program
/// is charged of each phase.
pub(super) fn find_all(
    explanation: &Explanation,
    inputs: &PeInputs,
    own: &BTreeMap<Phase, f64>,
    words: AdviceWords,
) -> Vec<Finding> {
    let context = Context { explanation, inputs, own, words };
    let mut all: Vec<Finding> = ALL.iter().filter_map(|find| find(&context)).collect();
    let cost = |finding: &Finding| finding.cost_us.get().unwrap_or(f64::NEG_INFINITY);
    all.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
    let told: Vec<String> = all.iter().map(|finding| finding.id.clone()).collect();
    for finding in &mut all {
        // What it would be a part of may not be worth telling.
        finding.part_of = finding.part_of.take().filter(|whole| told.contains(whole));
    }
    all
}

impl Context<'_> {
    /// Modules of the launched program that are loaded when it begins, each with what is known of its loading.
    fn at_start(&self) -> impl Iterator<Item = (&ModuleReport, &PeModule)> {
        self.own_modules().filter(|(_, pe)| !pe.late)
    }

    /// Modules of the launched program, itself the first.
    fn own_modules(&self) -> impl Iterator<Item = (&ModuleReport, &PeModule)> {
        let launched = self.explanation.processes.first().map(|process| process.pid);
        let modules = self.explanation.modules.iter();
        let all = modules.filter_map(|module| Some((module, module.pe.as_deref()?)));
        all.filter(move |(_, pe)| Some(pe.pid) == launched)
    }

    /// DLLs among them that came with the program, and their facts.
    fn own_dlls(&self) -> impl Iterator<Item = (&ModuleReport, &PeFacts)> {
        let own =
            self.at_start().filter(|(module, pe)| !pe.of_system && module.path != module.program);
        own.filter_map(|(module, _)| Some((module, self.inputs.facts(&module.path)?)))
    }

    /// The file of the launched program.
    fn program(&self) -> Option<&str> {
        Some(self.explanation.processes.first()?.path.as_str())
    }

    /// Time of a phase of the launched program; 0 where it does not occur.
    fn phase(&self, phase: Phase) -> f64 {
        self.own.get(&phase).copied().unwrap_or(0.0)
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
        let decimals = usize::from(percent < 9.95);
        format!("{percent:.decimals$} % of the launch ({})", duration(us))
    }

    /// What is paid while DLLs are loaded, without a time of its own.
    fn part_of_loading(
        &self,
        id: &str,
        cause: String,
        evidence: Vec<String>,
        remedy: String,
    ) -> Finding {
        Finding {
            id: id.to_owned(),
            cause,
            evidence,
            cost_us: Reading::unavailable("it is not measured separately: it is part of load", ""),
            phase: Some(Phase::Load),
            part_of: Some(libraries::ID.to_owned()),
            remedy,
        }
    }
}

/// `name: 3.1 ms` of the costliest modules, three at most.
fn top<'a>(figures: impl Iterator<Item = (&'a ModuleReport, f64)>) -> Vec<String> {
    let mut all: Vec<(&ModuleReport, f64)> = figures.filter(|(_, us)| *us > 0.0).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    let line = |(module, us): &(&ModuleReport, f64)| {
        format!("{}: {}", base_name(&module.path), duration(*us))
    };
    all.iter().take(3).map(line).collect()
}

#[cfg(test)]
mod tests;

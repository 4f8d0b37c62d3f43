//! Causes of start-up time, one a file. Each looks at the finished figures and says nothing
//! where its cause does not matter.
//!
//! A cost is a measured time where there is one. What is part of another finding says so; the
//! others never sum to more than the launch, and those of one phase never to more than the phase:
//! every process counts to one part of the launch only ([`scopes`]), and every time of a part to
//! one cause ([`shares`]). A remedy names only what exists today.

mod bundle_start;
mod cold_reads;
mod compressed_image;
mod cpuid;
mod executable_stack;
mod exit;
mod file_storms;
mod helper_processes;
mod initializers;
mod interpreter;
mod launcher_chain;
mod libraries;
mod off_cpu;
mod old_hash;
mod own_code;
mod page_faults;
mod plugins;
mod relocations;
mod scattered_code;
mod scopes;
mod search_misses;
mod shares;
mod stale_bundle;
mod text_relocations;
mod waits;

use crate::advice::AdviceWords;
use crate::elf::faults::PhaseFaults;
use crate::elf::inputs::Inputs;
use crate::names::{base_name, names};
use crate::time::{ns, us};
use model::figures::duration;
use model::{ElfFacts, Explanation, Finding, FolderWork, ModuleReport, Phase, ProcessReport};
pub(crate) use scopes::{Scope, Scopes};
use shares::Shares;
use std::collections::{BTreeMap, BTreeSet};

/// What findings look at besides the explanation, of the programs of one part of the launch.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScopeRecords {
    /// Some process of the launch called exit, as far as its end could be seen.
    pub exit_called: bool,
    /// Failed attempts of the loader to open a library, by folder, most first.
    pub misses: Vec<(String, u64)>,
    /// Modules loaded by dlopen (program, file) and their time.
    pub late: Vec<((String, String), f64)>,
    /// Finalizers (program, file) and their time.
    pub finalizers: Vec<((String, String), f64)>,
    /// Minor faults on files that are no modules, most first.
    pub other_faults: Vec<(String, u64)>,
    /// Minor faults by phase.
    pub faults: BTreeMap<Phase, PhaseFaults>,
    /// Calls on the file system by phase and folder.
    pub calls: BTreeMap<Phase, Vec<FolderWork>>,
}

/// What a finding may look at.
pub(crate) struct Context<'a> {
    /// Complete but for the findings.
    pub explanation: &'a Explanation,
    pub inputs: &'a Inputs,
    pub scopes: &'a Scopes<'a>,
    /// The part of the launch that the findings are about.
    pub scope: Scope,
    pub records: ScopeRecords,
    /// What each cause costs, divided so that nothing counts twice.
    pub shares: Shares,
    /// Says what can be done.
    pub words: AdviceWords,
}

type Finder = fn(&Context) -> Option<Finding>;

/// About processes, or without a time that could count twice: once for the whole launch.
const OF_LAUNCH: [Finder; 9] = [
    stale_bundle::find,
    bundle_start::find,
    launcher_chain::find,
    helper_processes::find,
    cold_reads::find,
    compressed_image::find,
    scattered_code::find,
    executable_stack::find,
    old_hash::find,
];

/// About one phase.
const OF_PHASE: [Finder; 10] = [
    relocations::find,
    libraries::find,
    search_misses::find,
    initializers::find,
    plugins::find,
    interpreter::find,
    exit::find,
    own_code::find,
    off_cpu::find,
    text_relocations::find,
];

/// Causes that lie in several phases, one finding each.
const OF_PHASES: [fn(&Context) -> Vec<Finding>; 4] =
    [cpuid::find, waits::find, file_storms::find, page_faults::find];

/// Every finding that applies, costliest first; those without a cost last. That a bundle did not run comes
/// before all else, and what remains of its start where it did. `records` gives what is known of a part of
/// the launch.
pub(crate) fn find_all(
    explanation: &Explanation,
    inputs: &Inputs,
    scopes: &Scopes,
    words: AdviceWords,
    records: impl Fn(Scope) -> ScopeRecords,
) -> Vec<Finding> {
    let mut all = Vec::new();
    for scope in Scope::FINDINGS {
        if scope == Scope::Program || !scopes.members(scope).is_empty() {
            let context = Context::new(explanation, inputs, scopes, words, (scope, records(scope)));
            all.extend(of_scope(&context));
        }
    }
    for finding in &mut all {
        // Nanoseconds, as every other figure: an estimate is not more exact than its parts.
        finding.cost_us = finding.cost_us.clone().map(|cost| us(ns(cost)));
    }
    let cost = |finding: &Finding| finding.cost_us.get().unwrap_or(f64::NEG_INFINITY);
    all.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
    // What was launched is not what ran; what remains of a bundle's start is told before its parts.
    all.sort_by_key(|finding| match finding.id.as_str() {
        stale_bundle::ID => 0,
        bundle_start::ID => 1,
        _ => 2,
    });
    all
}

/// Findings about one part of the launch. Where another finding tells that part, its causes are
/// parts of that finding, and their own parts are left out.
fn of_scope(context: &Context) -> Vec<Finding> {
    let mut found: Vec<Finding> = OF_PHASE.iter().filter_map(|find| find(context)).collect();
    found.extend(OF_PHASES.iter().flat_map(|find| find(context)));
    attach(context, &mut found);
    match context.scope.id() {
        None => found.extend(OF_LAUNCH.iter().filter_map(|find| find(context))),
        Some(id) => {
            found.retain(|finding| finding.part_of.is_none());
            found.iter_mut().for_each(|finding| finding.part_of = Some(id.to_owned()));
        }
    }
    found
}

/// A finding of a phase is part of the one about that phase's own work, where that is told.
fn attach(context: &Context, found: &mut [Finding]) {
    for finding in found {
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
    /// Divides the phases of a part among their causes.
    fn new(
        explanation: &'a Explanation,
        inputs: &'a Inputs,
        scopes: &'a Scopes<'a>,
        words: AdviceWords,
        (scope, records): (Scope, ScopeRecords),
    ) -> Self {
        let shares = Shares::default();
        let mut context = Context { explanation, inputs, scopes, scope, records, shares, words };
        context.shares = Shares::new(&context);
        context
    }

    /// Whether records of this program count here.
    fn counts(&self, program: &str) -> bool {
        self.scopes.of_program(program) == self.scope
    }

    /// The processes of this part.
    fn members(&self) -> Vec<&ProcessReport> {
        self.scopes.members(self.scope)
    }

    fn modules(&self) -> Vec<&ModuleReport> {
        let all = self.explanation.modules.iter();
        all.filter(|module| self.counts(&module.program)).collect()
    }

    /// Those that are loaded before main.
    fn modules_at_start(&self) -> Vec<&ModuleReport> {
        let late = |module: &ModuleReport| {
            let key = (&module.program, &module.path);
            self.records.late.iter().any(|((program, path), _)| key == (program, path))
        };
        self.modules().into_iter().filter(|module| !late(module)).collect()
    }

    /// Time of a phase in this part; 0 where it does not occur.
    fn phase(&self, phase: Phase) -> f64 {
        self.scopes.phases(self.scope).get(&phase).copied().unwrap_or(0.0)
    }

    /// The file name of a module or program; of a bundle, that of its original.
    fn name<'p>(&'p self, path: &'p str) -> &'p str {
        let bundle = self.explanation.bundles.iter().find(|bundle| bundle.path == path);
        base_name(bundle.and_then(|bundle| bundle.original.as_deref()).unwrap_or(path))
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

    /// Facts of the modules for which `matches` holds, each file once.
    fn files_where(&self, matches: impl Fn(&ElfFacts) -> bool) -> Vec<&ModuleReport> {
        let mut seen = BTreeSet::new();
        let all = self.explanation.modules.iter();
        let hits = all.filter(|module| module.facts.value().is_some_and(&matches));
        hits.filter(|module| seen.insert(module.path.as_str())).collect()
    }
}

/// The costliest modules by a figure, most first, those without it left out.
fn top<'a>(
    modules: &[&'a ModuleReport],
    count: usize,
    figure: impl Fn(&ModuleReport) -> Option<f64>,
) -> Vec<(&'a ModuleReport, f64)> {
    let mut known: Vec<(&ModuleReport, f64)> =
        modules.iter().filter_map(|module| Some((*module, figure(module)?))).collect();
    known.sort_by(|a, b| b.1.total_cmp(&a.1));
    known.truncate(count);
    known.retain(|module| module.1 > 0.0);
    known
}

/// Sum of a figure over modules; `None` where no module has it.
fn sum(modules: &[&ModuleReport], figure: impl Fn(&ModuleReport) -> Option<f64>) -> Option<f64> {
    modules
        .iter()
        .filter_map(|module| figure(module))
        .fold(None, |sum, us| Some(sum.unwrap_or(0.0) + us))
}

/// Sum of a static count over the modules whose facts are known.
fn total(modules: &[&ModuleReport], figure: impl Fn(&ElfFacts) -> u64) -> u64 {
    modules.iter().filter_map(|module| module.facts.value()).map(figure).sum()
}

#[cfg(test)]
mod tests;

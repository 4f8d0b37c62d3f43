//! The phases of one part of a launch divided among causes, so that no time counts twice: what one cause takes is no longer
//! there for the next. Measured times come first, estimates after them, and the program's own
//! code gets what remains.

use super::libraries::is_loader;
use super::libraries::is_loader_name;
use super::{Context, Scope, ScopeRecords, sum};
use crate::elf::inputs::Inputs;
use crate::names::base_name;
use model::{Explanation, FileWork, FolderWork, ModuleReport, Phase, ProcessReport, WaitReport};
use std::collections::{BTreeMap, BTreeSet};

/// Findings that are about all of a phase's own work; others of that phase are parts of them.
pub(super) const WHOLES: [(Phase, &str); 4] = [
    (Phase::Map, "libraries"),
    (Phase::Relocate, "relocations"),
    (Phase::Initialize, "initialisers"),
    (Phase::Exit, "exit"),
];

/// A finding is worth telling from this share of the launch.
pub(super) const WORTH: f64 = 0.02;
/// `exit` is told from this share of the launch.
const EXIT: f64 = 0.1;
/// Where only the processor time is known, this much of a launch has to be spent off the
/// processor to be called waiting: starting a process takes some of it too.
const IDLE: f64 = 0.1;
const IDLE_US: f64 = 1000.0;

/// What each cause costs, in microseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shares {
    /// Relocating, libraries, initializers and exit, where they are told.
    pub wholes: BTreeMap<Phase, f64>,
    pub cpuid: BTreeMap<Phase, f64>,
    /// CPUID in the loader's own start, which is no part of finding libraries.
    pub cpuid_beside: bool,
    pub waits: BTreeMap<Phase, f64>,
    pub search_misses: f64,
    pub text_relocations: f64,
    /// Libraries that the running program opens.
    pub plugins: f64,
    /// Failed look-ups, stats and listings, where their price is known.
    pub look_ups: BTreeMap<Phase, f64>,
    pub faults: BTreeMap<Phase, f64>,
    /// The processor's part of main without all of the above.
    pub own: f64,
    /// What is left of main then.
    pub unexplained: f64,
    /// The explained launch took longer than the untraced ones.
    pub longer: bool,
}

/// An amount that is given out.
struct Purse(f64);

impl Purse {
    fn take(&mut self, wanted: f64) -> f64 {
        let given = wanted.min(self.0).max(0.0);
        self.0 -= given;
        given
    }
}

impl Shares {
    pub fn new(context: &Context) -> Shares {
        let explanation = context.explanation;
        let demands = Demands::new(context);
        let untraced = explanation.untraced_median_us.get();
        let mut shares = Shares {
            cpuid_beside: demands.libraries_timed,
            longer: untraced.is_some_and(|untraced| explanation.total_us > untraced),
            ..Shares::default()
        };
        for phase in Phase::ALL {
            let purse = Purse(context.phase(phase));
            match phase {
                Phase::Main => shares.main(purse, &demands),
                _ => shares.other(phase, purse, &demands),
            }
        }
        shares
    }

    fn main(&mut self, mut purse: Purse, demands: &Demands) {
        let phase = Phase::Main;
        give(&mut self.waits, phase, &mut purse, &demands.waits);
        self.plugins = purse.take(demands.plugins);
        give(&mut self.look_ups, phase, &mut purse, &demands.look_ups);
        give(&mut self.faults, phase, &mut purse, &demands.faults);
        self.own = purse.take(purse.0 * demands.busy);
        self.unexplained = purse.0;
    }

    fn other(&mut self, phase: Phase, mut purse: Purse, demands: &Demands) {
        let whole = demands.wholes.get(&phase).map(|us| purse.take(*us));
        let mut beside = Purse(0.0);
        if let Some(us) = whole.filter(|us| *us > 0.0) {
            self.wholes.insert(phase, us);
            beside = std::mem::replace(&mut purse, Purse(us));
        }
        let apart = self.cpuid_beside && phase == Phase::Map && self.wholes.contains_key(&phase);
        let from = if apart { &mut beside } else { &mut purse };
        give(&mut self.cpuid, phase, from, &demands.cpuid);
        give(&mut self.waits, phase, &mut purse, &demands.waits);
        match phase {
            Phase::Map => self.search_misses = purse.take(demands.search_misses),
            Phase::Relocate => self.text_relocations = purse.take(demands.text_relocations),
            _ => give(&mut self.look_ups, phase, &mut purse, &demands.look_ups),
        }
        give(&mut self.faults, phase, &mut purse, &demands.faults);
    }
}

fn give(
    shares: &mut BTreeMap<Phase, f64>,
    phase: Phase,
    purse: &mut Purse,
    demands: &BTreeMap<Phase, f64>,
) {
    if let Some(wanted) = demands.get(&phase) {
        shares.insert(phase, purse.take(*wanted));
    }
}

/// What each cause would cost on its own.
#[derive(Default)]
struct Demands {
    wholes: BTreeMap<Phase, f64>,
    libraries_timed: bool,
    cpuid: BTreeMap<Phase, f64>,
    waits: BTreeMap<Phase, f64>,
    search_misses: f64,
    text_relocations: f64,
    plugins: f64,
    look_ups: BTreeMap<Phase, f64>,
    faults: BTreeMap<Phase, f64>,
    /// Part of the time without waits that the launch is on the processor, 0 to 1.
    busy: f64,
}

impl Demands {
    fn new(context: &Context) -> Demands {
        let Context { explanation, inputs, records, .. } = context;
        let modules = context.modules_at_start();
        let libraries = modules.iter().copied().filter(|m| m.path != m.program && !is_loader(m));
        let libraries: Vec<&ModuleReport> = libraries.collect();
        let mapped = sum(&libraries, |module| module.map_us.get());
        let mut demands = Demands {
            libraries_timed: mapped.is_some(),
            cpuid: cpuid(context),
            waits: waits(context),
            plugins: records.late.iter().map(|(_, us)| us).sum(),
            ..Demands::default()
        };
        demands.busy = busy(explanation, all_waits(explanation, inputs).values().sum());
        let share = |us: f64| us / explanation.total_us.max(f64::MIN_POSITIVE);
        let told = [
            (Phase::Map, mapped, WORTH),
            (Phase::Relocate, sum(&modules, |module| module.relocate_us.get()), WORTH),
            (Phase::Initialize, sum(&modules, |module| module.init_us.get()), 0.0),
            (Phase::Exit, None, EXIT),
        ];
        for (name, measured, least) in told {
            if name == Phase::Map && libraries.is_empty() {
                continue;
            }
            let us = measured.unwrap_or(f64::INFINITY).min(context.phase(name));
            let initializers = share(us) >= 0.05 || us >= 500.0 && share(us) >= 0.01;
            if us > 0.0 && share(us) >= least && (name != Phase::Initialize || initializers) {
                demands.wholes.insert(name, us);
            }
        }
        let mut text = modules;
        text.retain(|module| module.facts.value().is_some_and(|facts| facts.text_relocations));
        demands.text_relocations = sum(&text, |module| module.relocate_us.get()).unwrap_or(0.0);
        if let Some(work) = explanation.files.value() {
            demands.search_misses = search_misses(context, work).unwrap_or(0.0);
            for (phase, calls) in &records.calls {
                demands.look_ups.extend(look_ups(inputs, work, calls).map(|us| (*phase, us)));
            }
        }
        demands.faults = faults(inputs, records);
        demands
    }
}

/// The loader asks while it starts, which is part of mapping; everybody else while initializing.
fn cpuid(context: &Context) -> BTreeMap<Phase, f64> {
    let mut phases = BTreeMap::new();
    for (path, count) in cpuids(context) {
        let each = context.explanation.cpuid.value().map_or(0.0, |tax| tax.each_us);
        *phases.entry(cpuid_phase(&path)).or_default() += count as f64 * each;
    }
    phases
}

/// CPUID instructions of this part of the launch, by image. An image executes as many in each
/// process that loads it.
pub(super) fn cpuids(context: &Context) -> Vec<(String, u64)> {
    let processes = &context.explanation.processes;
    let of_part = |(path, count): &(String, u64)| {
        let modules = context.explanation.modules.iter().filter(|module| module.path == *path);
        let loaders: BTreeSet<&str> = modules.map(|module| module.program.as_str()).collect();
        let loads = |p: &&ProcessReport| p.path == *path || loaders.contains(p.path.as_str());
        let all = processes.iter().filter(loads).count() as u64;
        let here = context.members().into_iter().filter(loads).count() as u64;
        match (all, context.scope) {
            (0, Scope::Program) => (path.clone(), *count),
            (0, _) => (path.clone(), 0),
            _ => (path.clone(), count * here / all),
        }
    };
    let all = context.explanation.cpuid.value().into_iter().flat_map(|tax| &tax.by_image);
    all.map(of_part).filter(|(_, count)| *count > 0).collect()
}

/// When an image executes its CPUID instructions.
pub(super) fn cpuid_phase(path: &str) -> Phase {
    if is_loader_name(base_name(path)) { Phase::Map } else { Phase::Initialize }
}

/// Those of this part of the launch.
fn waits(context: &Context) -> BTreeMap<Phase, f64> {
    match context.explanation.waits.value() {
        Some(waits) => by_phase(waits.calls.iter().filter(|call| context.counts(&call.program))),
        None if context.scope != Scope::Program => BTreeMap::new(),
        None => all_waits(context.explanation, context.inputs),
    }
}

fn by_phase<'a>(calls: impl Iterator<Item = &'a WaitReport>) -> BTreeMap<Phase, f64> {
    let mut phases = BTreeMap::new();
    for call in calls {
        *phases.entry(call.phase).or_default() += call.us;
    }
    phases
}

/// As recorded; otherwise what every untraced launch spent off the processor.
fn all_waits(explanation: &Explanation, inputs: &Inputs) -> BTreeMap<Phase, f64> {
    if let Some(waits) = explanation.waits.value() {
        return by_phase(waits.calls.iter());
    }
    let has = |phase| explanation.phases.iter().any(|time| time.phase == phase && time.us > 0.0);
    let phase = if has(Phase::Main) { Phase::Main } else { Phase::Unattributed };
    let least = IDLE_US.max(explanation.total_us * IDLE);
    inputs.idle_us().filter(|us| *us >= least).map(|us| (phase, us)).into_iter().collect()
}

/// How much of its time without waits a launch is on the processor. What keeps it off (other
/// programs, pages being read) may do so anywhere.
fn busy(explanation: &Explanation, waits: f64) -> f64 {
    let figures = (explanation.untraced_cpu_us.get(), explanation.untraced_median_us.get());
    let (Some(cpu), Some(untraced)) = figures else { return 1.0 };
    // The explained launch may be shorter than the untraced ones, and its work with it. Where it
    // is longer, tracing made it so: that is no work of the program.
    let shorter = (explanation.total_us / untraced.max(f64::MIN_POSITIVE)).min(1.0);
    let working = (explanation.total_us - waits).max(f64::MIN_POSITIVE);
    (cpu * shorter / working).clamp(0.0, 1.0)
}

/// Failed opens of the loader at the price of this launch's failed look-ups.
fn search_misses(context: &Context, work: &FileWork) -> Option<f64> {
    let misses: u64 = context.modules().iter().filter_map(|m| m.search_misses.get()).sum();
    let failed_us = work.failed_us.get()?;
    Some(match work.failed {
        0 => 0.0,
        failed => failed_us / failed as f64 * misses.min(failed) as f64,
    })
}

/// Calls at the price that they have on average.
fn look_ups(inputs: &Inputs, work: &FileWork, calls: &[FolderWork]) -> Option<f64> {
    let count = |figure: fn(&FolderWork) -> u64| calls.iter().map(figure).sum::<u64>();
    let part = |us: f64, n: u64, all: u64| if all == 0 { 0.0 } else { us * n as f64 / all as f64 };
    let scans_us = inputs.replay.value().and_then(|times| times.scans_us.get()).unwrap_or(0.0);
    Some(
        part(work.failed_us.get()?, count(|folder| folder.failed), work.failed)
            + part(work.stats_us.get()?, count(|folder| folder.stats), work.stats)
            + part(scans_us, count(|folder| folder.scans), work.scans),
    )
}

/// Minor faults by phase at the price of one here, without those of libraries opened by dlopen.
fn faults(inputs: &Inputs, records: &ScopeRecords) -> BTreeMap<Phase, f64> {
    let Some(each) = inputs.minor_fault_us.get() else { return BTreeMap::new() };
    let cost = |(phase, _): (&Phase, _)| (*phase, faults_in(records, *phase) as f64 * each);
    records.faults.iter().map(cost).collect()
}

/// Minor faults of a phase that are not those of another of its causes.
pub(super) fn faults_in(records: &ScopeRecords, phase: Phase) -> u64 {
    let Some(faults) = records.faults.get(&phase) else { return 0 };
    let others = faults.files.iter().filter(|(key, _)| elsewhere(records, phase, key));
    let others = others.map(|(_, count)| count);
    faults.minor - others.sum::<u64>().min(faults.minor)
}

/// Whether faults on a module (program, file) are those of another cause of the phase.
pub(super) fn elsewhere(records: &ScopeRecords, phase: Phase, key: &(String, String)) -> bool {
    match phase {
        Phase::Main => records.late.iter().any(|(late, _)| late == key),
        // Its own start is no part of finding libraries.
        Phase::Map => is_loader_name(base_name(&key.1)),
        _ => false,
    }
}

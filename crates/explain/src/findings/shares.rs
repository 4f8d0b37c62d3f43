//! Phases divided among causes, so that no time counts twice: what one cause takes is no longer
//! there for the next. Measured times come first, estimates after them, and the program's own
//! code gets what remains.

use super::Found;
use super::libraries::is_loader;
use crate::inputs::Inputs;
use crate::names::{base_name, is_loader_name};
use model::{Explanation, FileWork, FolderWork, ModuleReport, Phase, Reading};
use std::collections::{BTreeMap, BTreeSet};

/// Findings that are about all of a phase's own work; others of that phase are parts of them.
pub(super) const WHOLES: [(Phase, &str); 4] = [
    (Phase::Map, "libraries"),
    (Phase::Relocate, "relocations"),
    (Phase::Initialise, "initialisers"),
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
    /// Relocating, libraries, initialisers and exit, where they are told.
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
    pub fn new(explanation: &Explanation, inputs: &Inputs, found: &Found) -> Shares {
        let demands = Demands::new(explanation, inputs, found);
        let untraced = explanation.untraced_median_us.get();
        let mut shares = Shares {
            cpuid_beside: demands.libraries_timed,
            longer: untraced.is_some_and(|untraced| explanation.total_us > untraced),
            ..Shares::default()
        };
        for phase in Phase::ALL {
            let times = explanation.phases.iter().filter(|time| time.phase == phase);
            let purse = Purse(times.map(|time| time.us).sum());
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
    fn new(explanation: &Explanation, inputs: &Inputs, found: &Found) -> Demands {
        let modules = at_start(&explanation.modules, found);
        let sum = |figure: fn(&ModuleReport) -> &Reading<f64>| {
            let known = modules.iter().filter_map(|module| figure(module).get());
            known.fold(None, |sum, us| Some(sum.unwrap_or(0.0) + us))
        };
        let libraries = modules.iter().filter(|m| m.path != m.program && !is_loader(m));
        let mapped = libraries.clone().filter_map(|m| m.map_us.get());
        let mapped = mapped.fold(None, |sum, us| Some(sum.unwrap_or(0.0) + us));
        let mut demands = Demands {
            libraries_timed: mapped.is_some(),
            cpuid: cpuid(explanation),
            waits: waits(explanation, inputs),
            plugins: found.late.iter().map(|(_, us)| us).sum(),
            ..Demands::default()
        };
        demands.busy = busy(explanation, demands.waits.values().sum());
        let phase = |phase| {
            let times = explanation.phases.iter();
            times.filter(|time| time.phase == phase).map(|time| time.us).sum::<f64>()
        };
        let share = |us: f64| us / explanation.total_us.max(f64::MIN_POSITIVE);
        let told = [
            (Phase::Map, mapped.filter(|_| libraries.clone().next().is_some()), WORTH),
            (Phase::Relocate, sum(|module| &module.relocate_us), WORTH),
            (Phase::Initialise, sum(|module| &module.init_us), 0.0),
            (Phase::Exit, None, EXIT),
        ];
        for (name, measured, least) in told {
            if name == Phase::Map && libraries.clone().next().is_none() {
                continue;
            }
            let us = measured.unwrap_or(f64::INFINITY).min(phase(name));
            let initialisers = share(us) >= 0.05 || us >= 500.0 && share(us) >= 0.01;
            if us > 0.0 && share(us) >= least && (name != Phase::Initialise || initialisers) {
                demands.wholes.insert(name, us);
            }
        }
        let text = |module: &&&ModuleReport| {
            module.facts.value().is_some_and(|facts| facts.text_relocations)
        };
        let text = modules.iter().filter(text).filter_map(|module| module.relocate_us.get());
        demands.text_relocations = text.sum();
        if let Some(work) = explanation.files.value() {
            demands.search_misses = search_misses(explanation, work).unwrap_or(0.0);
            for (phase, calls) in &found.calls {
                demands.look_ups.extend(look_ups(inputs, work, calls).map(|us| (*phase, us)));
            }
        }
        demands.faults = faults(inputs, found);
        demands
    }
}

/// Modules that the loader loads before main.
pub(super) fn at_start<'a>(modules: &'a [ModuleReport], found: &Found) -> Vec<&'a ModuleReport> {
    let late: BTreeSet<(&str, &str)> =
        found.late.iter().map(|((program, path), _)| (program.as_str(), path.as_str())).collect();
    let early = |m: &&ModuleReport| !late.contains(&(m.program.as_str(), m.path.as_str()));
    modules.iter().filter(early).collect()
}

/// The loader asks while it starts, which is part of mapping; everybody else while initialising.
fn cpuid(explanation: &Explanation) -> BTreeMap<Phase, f64> {
    let mut phases = BTreeMap::new();
    for (path, count) in explanation.cpuid.value().iter().flat_map(|tax| &tax.by_image) {
        let each = explanation.cpuid.value().map_or(0.0, |tax| tax.each_us);
        *phases.entry(cpuid_phase(path)).or_default() += *count as f64 * each;
    }
    phases
}

/// When an image executes its CPUID instructions.
pub(super) fn cpuid_phase(path: &str) -> Phase {
    if is_loader_name(base_name(path)) { Phase::Map } else { Phase::Initialise }
}

/// As recorded; otherwise what every untraced launch spent off the processor.
fn waits(explanation: &Explanation, inputs: &Inputs) -> BTreeMap<Phase, f64> {
    let mut phases = BTreeMap::new();
    if let Some(waits) = explanation.waits.value() {
        for call in &waits.calls {
            *phases.entry(call.phase).or_default() += call.us;
        }
        return phases;
    }
    let has = |phase| explanation.phases.iter().any(|time| time.phase == phase && time.us > 0.0);
    let phase = if has(Phase::Main) { Phase::Main } else { Phase::Unattributed };
    let least = IDLE_US.max(explanation.total_us * IDLE);
    phases.extend(inputs.idle_us().filter(|us| *us >= least).map(|us| (phase, us)));
    phases
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
pub(super) fn search_misses(explanation: &Explanation, work: &FileWork) -> Option<f64> {
    let misses: u64 = explanation.modules.iter().filter_map(|m| m.search_misses.get()).sum();
    let failed_us = work.failed_us.get()?;
    Some(match work.failed {
        0 => 0.0,
        failed => failed_us / failed as f64 * misses.min(failed) as f64,
    })
}

/// Calls at the price that they have on average.
pub(super) fn look_ups(inputs: &Inputs, work: &FileWork, calls: &[FolderWork]) -> Option<f64> {
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
fn faults(inputs: &Inputs, found: &Found) -> BTreeMap<Phase, f64> {
    let Some(each) = inputs.minor_fault_us.get() else { return BTreeMap::new() };
    let cost = |(phase, _): (&Phase, _)| (*phase, faults_in(found, *phase) as f64 * each);
    found.faults.iter().map(cost).collect()
}

/// Minor faults of a phase that are not those of another of its causes.
pub(super) fn faults_in(found: &Found, phase: Phase) -> u64 {
    let Some(faults) = found.faults.get(&phase) else { return 0 };
    let others = faults.files.iter().filter(|(key, _)| elsewhere(found, phase, key));
    let others = others.map(|(_, count)| count);
    faults.minor - others.sum::<u64>().min(faults.minor)
}

/// Whether faults on a module (program, file) are those of another cause of the phase.
pub(super) fn elsewhere(found: &Found, phase: Phase, key: &(String, String)) -> bool {
    match phase {
        Phase::Main => found.late.iter().any(|(late, _)| late == key),
        // Its own start is no part of finding libraries.
        Phase::Map => is_loader_name(base_name(&key.1)),
        _ => false,
    }
}

//! The launch divided among its processes: the program proper, and the processes that a finding
//! of their own is about. A record is counted to one of these parts only.

use super::shares::WORTH;
use super::stale_bundle;
use crate::elf::inputs::Inputs;
use model::{Explanation, Phase, ProcessReport};
use std::collections::BTreeMap;

/// A part of the launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    /// All that no finding about processes tells.
    #[default]
    Program,
    /// What runs before the program proper.
    Launchers,
    /// What runs while the program proper does.
    Helpers,
    /// A bundle that started its original.
    StaleBundle,
}

impl Scope {
    /// Those whose processes are looked into.
    pub const FINDINGS: [Scope; 3] = [Scope::Program, Scope::Launchers, Scope::Helpers];

    /// The finding that tells it.
    pub fn id(self) -> Option<&'static str> {
        match self {
            Scope::Program => None,
            Scope::Launchers => Some("launcher-chain"),
            Scope::Helpers => Some("helper-processes"),
            Scope::StaleBundle => Some("stale-bundle"),
        }
    }
}

/// Which part each process of the launch belongs to.
#[derive(Clone, Debug)]
pub(crate) struct Scopes<'a> {
    explanation: &'a Explanation,
    /// Index of the program proper.
    program: Option<usize>,
    /// Parallel to the processes.
    by_process: Vec<Scope>,
    /// What each process is charged, parallel to the processes.
    charged: &'a [BTreeMap<Phase, f64>],
}

impl<'a> Scopes<'a> {
    pub fn new(
        explanation: &'a Explanation,
        inputs: &'a Inputs,
        charged: &'a [BTreeMap<Phase, f64>],
    ) -> Self {
        let processes = &explanation.processes;
        let stale = stale_bundle::started(explanation, inputs).next();
        let program = program(explanation, inputs);
        let mut by_process = vec![Scope::Program; processes.len()];
        if let Some((bundle, _)) = stale {
            by_process[bundle] = Scope::StaleBundle;
        }
        let started = program.and_then(|index| processes.get(index)).map(|p| p.started_us);
        for scope in [Scope::Launchers, Scope::Helpers] {
            let Some(started) = started else { break };
            let early = scope == Scope::Launchers;
            let others = (0..processes.len()).filter(|index| Some(*index) != program);
            let free = others.filter(|index| by_process.get(*index) == Some(&Scope::Program));
            let members: Vec<usize> =
                free.filter(|index| (processes[*index].started_us < started) == early).collect();
            let cost: f64 = members.iter().map(|index| processes[*index].charged_us).sum();
            if cost > 0.0 && cost >= explanation.total_us * WORTH {
                members.into_iter().for_each(|index| by_process[index] = scope);
            }
        }
        Scopes { explanation, program, by_process, charged }
    }

    /// The program proper.
    pub fn program(&self) -> Option<&'a ProcessReport> {
        self.explanation.processes.get(self.program?)
    }

    /// The processes of a part.
    pub fn members(&self, scope: Scope) -> Vec<&'a ProcessReport> {
        let all = self.explanation.processes.iter().zip(&self.by_process);
        all.filter(|(_, own)| **own == scope).map(|(process, _)| process).collect()
    }

    /// What the processes of a part are charged.
    pub fn cost(&self, scope: Scope) -> f64 {
        self.members(scope).iter().map(|process| process.charged_us).sum()
    }

    /// The part that the records of an executed file count to: where it is executed in several,
    /// the first of them.
    pub fn of_program(&self, path: &str) -> Scope {
        let all = self.explanation.processes.iter().zip(&self.by_process);
        all.filter(|(process, _)| process.path == path)
            .map(|(_, own)| *own)
            .min()
            .unwrap_or_default()
    }

    /// How much of a phase of its part a program is charged, 0 to 1.
    pub fn part(&self, program: &ProcessReport, phase: Phase) -> f64 {
        let charged = |same: &dyn Fn(&ProcessReport) -> bool| {
            let all = self.explanation.processes.iter().zip(self.charged);
            let chosen = all.filter(|(process, _)| same(process));
            chosen.filter_map(|(_, phases)| phases.get(&phase)).sum::<f64>()
        };
        let scope = self.of_program(&program.path);
        let all = charged(&|process| self.of_program(&process.path) == scope);
        let own = charged(&|process| process.path == program.path);
        if all > 0.0 { own / all } else { 1.0 }
    }

    /// The phases of a part. What no process is charged is the program's.
    pub fn phases(&self, scope: Scope) -> BTreeMap<Phase, f64> {
        let mut phases: BTreeMap<Phase, f64> = BTreeMap::new();
        if scope == Scope::Program {
            for time in &self.explanation.phases {
                *phases.entry(time.phase).or_default() += time.us;
            }
        }
        for (own, charged) in self.by_process.iter().zip(self.charged) {
            for (phase, us) in charged {
                match scope {
                    Scope::Program if *own != scope => *phases.entry(*phase).or_default() -= us,
                    _ if *own == scope && scope != Scope::Program => {
                        *phases.entry(*phase).or_default() += us;
                    }
                    _ => {}
                }
            }
        }
        phases.retain(|_, us| *us > 0.0);
        phases
    }
}

/// The executed image that the launch spends most of its time in.
///
/// A process that another one starts is only the program if the launch does little else: a script
/// that runs several programs in turn prepares for none of them. Waiting does not count: a
/// script's `sleep` is no program that the script prepares for.
fn program(explanation: &Explanation, inputs: &Inputs) -> Option<usize> {
    let processes = &explanation.processes;
    let launched = processes.first()?.pid;
    let calls = || explanation.waits.value().into_iter().flat_map(|waits| &waits.calls);
    let waited: f64 = calls().map(|call| call.us).sum();
    let weight = |process: &ProcessReport| {
        let own = calls().filter(|call| call.program == process.path).map(|call| call.us);
        process.charged_us - own.sum::<f64>()
    };
    let once = |path: &str| processes.iter().filter(|process| process.path == path).count() == 1;
    let candidate = |process: &ProcessReport| {
        let most = 2.0 * weight(process) > explanation.total_us - waited;
        process.pid == launched || most && once(&process.path)
    };
    let all = processes.iter().enumerate().filter(|(_, process)| candidate(process));
    let time = |process: &ProcessReport| match process.pid == launched {
        true => process.charged_us,
        false => weight(process),
    };
    let most = all.max_by(|a, b| time(a.1).total_cmp(&time(b.1)))?.0;
    // A bundle that started its original only stood in for it.
    let mut stand_ins = stale_bundle::started(explanation, inputs);
    Some(stand_ins.find(|(bundle, _)| *bundle == most).map_or(most, |(_, original)| original))
}

//! Charges each moment of a launch to one phase of one executed image.

use super::life::{Life, Stretch, extent, outlives};
use crate::time::ns;
use model::{Phase, PhaseTrace};
use std::collections::{BTreeMap, BTreeSet};

/// The launch divided among phases and images, in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Charges {
    /// The launch.
    pub total: i64,
    /// By phase; the values sum to `total`.
    pub phases: BTreeMap<Phase, i64>,
    /// By life, parallel to the lives given, and phase; they sum to `total` where there is any
    /// life.
    pub lives: Vec<BTreeMap<Phase, i64>>,
}

/// A span of time in which a life, or a copy of its process, may be charged.
struct Claim {
    from: i64,
    to: i64,
    life: usize,
    /// A forked copy of the process that executes nothing: it runs its parent's program.
    copy: bool,
    /// It comes after every other claim.
    background: bool,
}

/// Charges every instant of the launch to exactly one image: of those alive the one that
/// started last. So a parent that waits for its child is charged nothing meanwhile, a shell
/// script is charged only for what happens between its helpers, and of two processes that run
/// side by side (a pipe) the younger one is charged. One that sleeps in the background
/// ([`Life::background`]) is charged nothing. A forked process that never executes an image of its
/// own is charged to the image it was forked from, as main.
pub(crate) fn charge(trace: &PhaseTrace, lives: &[Life]) -> Charges {
    let total = ns(trace.total_us).max(0);
    let mut charges =
        Charges { total, phases: BTreeMap::new(), lives: vec![BTreeMap::new(); lives.len()] };
    for segment in segments(trace, lives) {
        let length = segment.to - segment.from;
        *charges.phases.entry(segment.phase).or_default() += length;
        if let Some(life) = charges.lives.get_mut(segment.life) {
            *life.entry(segment.phase).or_default() += length;
        }
    }
    let told: i64 = charges.phases.values().sum();
    if told < total {
        *charges.phases.entry(Phase::Unattributed).or_default() += total - told;
    }
    charges
}

/// A span of the launch, and what it is charged to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Segment {
    pub from: i64,
    pub to: i64,
    /// Index into the lives.
    pub life: usize,
    pub phase: Phase,
}

/// The launch in order of time, cut where another image or another phase is charged.
pub(crate) fn segments(trace: &PhaseTrace, lives: &[Life]) -> Vec<Segment> {
    let claims = claims(trace, lives, ns(trace.total_us).max(0));
    let mut events: Vec<(i64, bool, usize)> = Vec::new();
    for (index, claim) in claims.iter().enumerate().filter(|(_, claim)| claim.from < claim.to) {
        events.push((claim.from, true, index));
        events.push((claim.to, false, index));
    }
    events.sort_unstable();
    let mut segments = Vec::new();
    let mut alive: BTreeSet<(bool, i64, usize)> = BTreeSet::new();
    let mut now = 0;
    for (at, begins, index) in events {
        if let Some(&(_, _, current)) = alive.last() {
            claims[current].cut(lives, now, at, &mut segments);
        }
        now = at;
        let key = (!claims[index].background, claims[index].from, index);
        if begins {
            alive.insert(key)
        } else {
            alive.remove(&key)
        };
    }
    segments
}

impl Claim {
    /// What this claim is charged between two instants.
    fn cut(&self, lives: &[Life], from: i64, to: i64, segments: &mut Vec<Segment>) {
        if from >= to {
            return;
        }
        let life = self.life;
        if self.copy {
            segments.push(Segment { from, to, life, phase: Phase::Main });
            return;
        }
        let stretches = &lives[life].stretches;
        let first = stretches.partition_point(|stretch| stretch.to <= from);
        let within = stretches.iter().skip(first).take_while(|stretch| stretch.from < to);
        for Stretch { phase, from: start, to: end } in within {
            let (from, to) = ((*start).max(from), (*end).min(to));
            if from < to {
                segments.push(Segment { from, to, life, phase: *phase });
            }
        }
    }
}

fn claims(trace: &PhaseTrace, lives: &[Life], total: i64) -> Vec<Claim> {
    let mut claims: Vec<Claim> = lives
        .iter()
        .enumerate()
        .map(|(life, l)| Claim {
            from: l.started,
            to: l.ended,
            life,
            copy: false,
            background: l.background,
        })
        .collect();
    for (index, process) in trace.processes.iter().enumerate() {
        if !process.images.is_empty() {
            continue;
        }
        let (from, to) = extent(process, index, total);
        if let Some(life) = parent_life(trace, lives, index, from) {
            let background =
                outlives(trace, process) && lives.get(life).is_some_and(|life| life.copies_sleep);
            claims.push(Claim { from, to, life, copy: true, background });
        }
    }
    claims
}

/// The life that a process was forked from, through parents that execute nothing themselves.
fn parent_life(trace: &PhaseTrace, lives: &[Life], process: usize, at: i64) -> Option<usize> {
    let mut parent = trace.processes.get(process)?.parent;
    for _ in 0..trace.processes.len() {
        let index = parent?;
        let found = lives.iter().rposition(|life| life.process == index && life.started <= at);
        if found.is_some() {
            return found;
        }
        parent = trace.processes.get(index)?.parent;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::lives;
    use super::*;
    use model::{Mark, MarkKind, Reading, TracedImage, TracedProcess};

    fn image(path: &str, called: f64, main: f64) -> TracedImage {
        let marks = vec![
            Mark { kind: MarkKind::ExecCalled, at_us: called },
            Mark { kind: MarkKind::ExecDone, at_us: called + 1.0 },
            Mark { kind: MarkKind::Main, at_us: main },
        ];
        let argv = vec![path.to_owned()];
        TracedImage {
            path: path.to_owned(),
            argv,
            loader: None,
            marks,
            notes: Vec::new(),
            steps: Vec::new(),
            memory: Vec::new(),
            faults: Vec::new(),
        }
    }

    fn process(parent: Option<usize>, life: (f64, f64), images: Vec<TracedImage>) -> TracedProcess {
        let pid = 100 + parent.map_or(0, |p| p as u32 + 1);
        TracedProcess { pid, parent, started_us: life.0, ended_us: life.1, images }
    }

    /// A script that runs a helper, forks a copy of itself, and then becomes the program.
    fn script() -> PhaseTrace {
        let shell = vec![image("/bin/sh", 1.0, 10.0), image("/opt/program", 50.0, 60.0)];
        let processes = vec![
            process(None, (0.0, 100.5), shell),
            process(Some(0), (20.0, 30.0), vec![image("/bin/dirname", 21.0, 25.0)]),
            process(Some(0), (35.0, 40.0), Vec::new()),
            process(Some(2), (36.0, 38.0), Vec::new()),
        ];
        let cpuids = Reading::unavailable("not counted", "");
        PhaseTrace { total_us: 100.5, processes, stops: 9, cpuids, file_calls: Vec::new() }
    }

    #[test]
    fn every_instant_is_charged_once_to_the_youngest() {
        let trace = script();
        let lives = lives(&trace);
        let charges = charge(&trace, &lives);
        let by_path: Vec<(&str, i64)> = lives
            .iter()
            .zip(&charges.lives)
            .map(|(life, phases)| (life.image.path.as_str(), phases.values().sum()))
            .collect();
        let expected = [("/bin/sh", 40_000), ("/opt/program", 50_500), ("/bin/dirname", 10_000)];
        assert_eq!(by_path, expected);
        assert_eq!(charges.phases.values().sum::<i64>(), 100_500);
        assert_eq!(charges.phases[&Phase::Spawn], 2_000);
        assert_eq!(charges.phases[&Phase::Exec], 3_000);
    }

    #[test]
    fn a_launch_without_processes_is_unattributed() {
        let trace = PhaseTrace { processes: Vec::new(), ..script() };
        let charges = charge(&trace, &[]);
        assert_eq!(charges.phases, BTreeMap::from([(Phase::Unattributed, 100_500)]));
    }

    #[test]
    fn a_daemon_left_behind_is_not_charged_beyond_the_launch() {
        let mut trace = script();
        trace.processes[1].ended_us = 9_999.0;
        let lives = lives(&trace);
        let charges = charge(&trace, &lives);
        assert_eq!(charges.phases.values().sum::<i64>(), 100_500);
        assert_eq!(charges.lives.iter().flat_map(BTreeMap::values).sum::<i64>(), 100_500);
    }

    #[test]
    fn what_sleeps_in_the_background_is_charged_nothing() {
        let mut trace = script();
        trace.processes[1].ended_us = 9_999.0;
        let mut lives = lives(&trace);
        for life in lives.iter_mut().filter(|life| life.process == 1) {
            life.background = true;
        }
        let charges = charge(&trace, &lives);
        assert_eq!(charges.phases.values().sum::<i64>(), 100_500);
        let helper = lives.iter().position(|life| life.process == 1).unwrap();
        assert!(charges.lives[helper].is_empty(), "{charges:?}");
    }
}

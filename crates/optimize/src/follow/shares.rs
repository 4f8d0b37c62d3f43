//! Which program of a launch takes how much of its time.
//!
//! Each moment of the launch belongs to one executed image: of those that are not waiting, the one that
//! was executed last. Where all wait, that of those that wait for something outside, such as a disk, a peer
//! or a span of time. What the launch leaves running comes after all others. So what waits for its child, or for the
//! other end of a pipe, is charged nothing meanwhile, and the parts of all images sum to the launch. A
//! forked process that has not executed anything yet belongs to the image that it was forked from.

use model::{MarkKind, PhaseTrace, ThreadLife, TracedImage, TracedProcess, WaitFor};
use os::trace::{RecordedWait, TracedLaunch};
use std::collections::{BTreeMap, BTreeSet};

/// What an executed image takes of the launch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Charge {
    /// In all.
    pub total_us: f64,
    /// From its execve to its `main`, or its entry point where that is not seen: what the kernel, the
    /// loader and initializers do.
    pub loading_us: f64,
}

/// An image of a launch: index of its process, index among those of the process.
pub(super) type ImageAt = (usize, usize);

/// What each image takes of a launch; together no more than all of it.
pub(super) fn charges(launch: &TracedLaunch) -> BTreeMap<ImageAt, Charge> {
    let mut sweep = Sweep::new(&launch.trace);
    let total = launch.trace.total_us;
    let mut now = 0.0;
    for (at_us, change) in changes(&launch.trace, &launch.threads, &launch.waits) {
        let at_us = at_us.clamp(now, total.max(now));
        sweep.charge(at_us - now);
        now = at_us;
        sweep.apply(change);
    }
    sweep.charge((total - now).max(0.0));
    sweep.charges
}

/// Whether what a thread waits for comes from outside of the launch.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Waits {
    Outside,
    Within,
}

impl Waits {
    fn of(on: WaitFor) -> Waits {
        match on {
            WaitFor::Time | WaitFor::Socket | WaitFor::Terminal | WaitFor::File => Waits::Outside,
            WaitFor::Child | WaitFor::Lock | WaitFor::Event | WaitFor::Signal | WaitFor::Pipe => {
                Waits::Within
            }
        }
    }
}

/// What changes at a moment, and for which process.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    ThreadBegins(usize),
    ThreadEnds(usize),
    WaitBegins(usize, Waits),
    WaitEnds(usize, Waits),
    /// It executes this image of its own.
    Executes(usize, usize),
    /// What the image at hand does from now on is its own affair.
    Runs(usize, usize),
}

/// In order of time.
fn changes(
    trace: &PhaseTrace,
    threads: &[ThreadLife],
    waits: &[RecordedWait],
) -> Vec<(f64, Change)> {
    let of = |pid: u32, at_us: f64| {
        let same = trace.processes.iter().enumerate().filter(|(_, process)| process.pid == pid);
        // A number may be given twice.
        let mut begun = same.clone().filter(|(_, process)| process.started_us <= at_us);
        begun.next_back().or(same.clone().next()).map(|(index, _)| index)
    };
    let mut changes = Vec::new();
    for (index, process) in trace.processes.iter().enumerate() {
        for (number, image) in process.images.iter().enumerate() {
            let Some(begins_us) = first_mark(image) else { continue };
            changes.push((begins_us, Change::Executes(index, number)));
            let runs_us = loaded(image);
            changes.extend(runs_us.map(|at_us| (at_us, Change::Runs(index, number))));
        }
    }
    for thread in threads {
        let Some(process) = of(thread.pid, thread.started_us) else { continue };
        changes.push((thread.started_us, Change::ThreadBegins(process)));
        changes.push((thread.ended_us, Change::ThreadEnds(process)));
    }
    for RecordedWait { wait, .. } in waits.iter().filter(|one| one.wait.from_us < one.wait.to_us) {
        let Some(process) = of(wait.pid, wait.from_us) else { continue };
        let waits = Waits::of(wait.on);
        changes.push((wait.from_us, Change::WaitBegins(process, waits)));
        changes.push((wait.to_us, Change::WaitEnds(process, waits)));
    }
    changes.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    changes
}

fn first_mark(image: &TracedImage) -> Option<f64> {
    image.marks.iter().map(|mark| mark.at_us).reduce(f64::min)
}

fn loaded(image: &TracedImage) -> Option<f64> {
    let at = |kind| image.marks.iter().find(|mark| mark.kind == kind).map(|mark| mark.at_us);
    at(MarkKind::Main).or_else(|| at(MarkKind::Entry))
}

/// A process at one moment.
#[derive(Clone, Copy, Debug, Default)]
struct Now {
    threads: u32,
    waiting: u32,
    /// Of these, threads that wait for something outside.
    outside: u32,
    /// The launch leaves it running.
    left: bool,
    /// Which image its time belongs to.
    image: Option<ImageAt>,
    loading: bool,
    /// How many images had been executed before its own.
    order: usize,
}

fn now(trace: &PhaseTrace, process: &TracedProcess) -> Now {
    let left = process.parent.is_some() && process.ended_us > trace.total_us;
    Now { left, ..Now::default() }
}

impl Now {
    /// How much the launch may wait for it where all wait.
    fn awaited(&self) -> u8 {
        match (self.left, self.outside) {
            (true, _) => 0,
            (false, 0) => 1,
            (false, _) => 2,
        }
    }
}

/// The launch, walked through in order of time.
struct Sweep {
    processes: Vec<Now>,
    parents: Vec<Option<usize>>,
    /// Those alive by how much the launch may wait for them, and those of them that do not wait, where those
    /// that are left running come first: the image executed last at the end.
    alive: BTreeSet<(u8, usize, usize)>,
    busy: BTreeSet<(bool, usize, usize)>,
    executed: usize,
    charges: BTreeMap<ImageAt, Charge>,
}

impl Sweep {
    fn new(trace: &PhaseTrace) -> Sweep {
        Sweep {
            processes: trace.processes.iter().map(|process| now(trace, process)).collect(),
            parents: trace.processes.iter().map(|process| process.parent).collect(),
            alive: BTreeSet::new(),
            busy: BTreeSet::new(),
            executed: 0,
            charges: BTreeMap::new(),
        }
    }

    fn charge(&mut self, us: f64) {
        let busy = self.busy.last().map(|&(.., process)| process);
        let Some(process) = busy.or(self.alive.last().map(|&(.., process)| process)) else {
            return;
        };
        let Some(now) = self.processes.get(process) else { return };
        let Some(image) = now.image.filter(|_| us > 0.0) else { return };
        let charge = self.charges.entry(image).or_default();
        charge.total_us += us;
        charge.loading_us += if now.loading { us } else { 0.0 };
    }

    fn apply(&mut self, change: Change) {
        let (Change::ThreadBegins(process)
        | Change::ThreadEnds(process)
        | Change::WaitBegins(process, _)
        | Change::WaitEnds(process, _)
        | Change::Executes(process, _)
        | Change::Runs(process, _)) = change;
        let Some(now) = self.processes.get(process).copied() else { return };
        self.alive.remove(&(now.awaited(), now.order, process));
        self.busy.remove(&(!now.left, now.order, process));
        let mut now = now;
        match change {
            Change::ThreadBegins(_) if now.threads == 0 && now.image.is_none() => {
                now.threads = 1;
                now.image = self.of_parent(process);
                now.order = self.next();
            }
            Change::ThreadBegins(_) => now.threads += 1,
            Change::ThreadEnds(_) => now.threads = now.threads.saturating_sub(1),
            Change::WaitBegins(_, waits) => {
                now.waiting += 1;
                now.outside += u32::from(waits == Waits::Outside);
            }
            Change::WaitEnds(_, waits) => {
                now.waiting = now.waiting.saturating_sub(1);
                now.outside = now.outside.saturating_sub(u32::from(waits == Waits::Outside));
            }
            Change::Executes(_, image) => {
                now = Now { image: Some((process, image)), loading: true, ..now };
                now.order = self.next();
            }
            Change::Runs(_, image) if now.image == Some((process, image)) => now.loading = false,
            Change::Runs(..) => {}
        }
        if now.threads > 0 {
            self.alive.insert((now.awaited(), now.order, process));
        }
        if now.threads > now.waiting {
            self.busy.insert((!now.left, now.order, process));
        }
        if let Some(kept) = self.processes.get_mut(process) {
            *kept = now;
        }
    }

    fn next(&mut self) -> usize {
        self.executed += 1;
        self.executed
    }

    /// The image that a process was forked from; the launched process has its own from the beginning.
    fn of_parent(&self, process: usize) -> Option<ImageAt> {
        match self.parents.get(process)? {
            Some(parent) => self.processes.get(*parent)?.image,
            None => Some((process, 0)),
        }
    }
}

#[cfg(test)]
mod tests;

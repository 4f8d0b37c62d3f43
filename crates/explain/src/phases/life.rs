//! One executed image: its time from start to end, cut into stretches of one phase each.

use crate::names::loader_kind;
use crate::time::ns;
use model::{Mark, MarkKind, Phase, PhaseTrace, TracedImage, TracedProcess};
use std::collections::BTreeMap;

/// Time spent in one phase without interruption, in nanoseconds of the launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stretch {
    pub phase: Phase,
    pub from: i64,
    pub to: i64,
}

/// One executed image of a traced launch. Its stretches cover `started..ended` without gaps.
#[derive(Clone, Debug)]
pub(crate) struct Life<'a> {
    pub image: &'a TracedImage,
    /// Index of its process in the trace.
    pub process: usize,
    pub pid: u32,
    pub started: i64,
    pub ended: i64,
    pub stretches: Vec<Stretch>,
    pub notes: Vec<String>,
    /// It outlives the launch and sleeps most of the time: the launch does not wait for it.
    pub background: bool,
    /// So do its copies that execute nothing.
    pub copies_sleep: bool,
}

/// Whether a process was left running when the launch ended.
pub(crate) fn outlives(trace: &PhaseTrace, process: &TracedProcess) -> bool {
    process.parent.is_some() && process.ended_us > trace.total_us
}

impl Life<'_> {
    /// Nanoseconds by phase; they sum to `ended - started`.
    pub fn times(&self) -> BTreeMap<Phase, i64> {
        let mut times = BTreeMap::new();
        for stretch in &self.stretches {
            *times.entry(stretch.phase).or_default() += stretch.to - stretch.from;
        }
        times
    }
}

/// How an image stops being the image of its process.
#[derive(Clone, Copy, PartialEq)]
enum End {
    /// The process ends.
    Death,
    /// The process executes another image.
    Replaced,
}

/// The lives of all executed images, by process and in each process by time. The launched
/// process lives from 0 to the launch's total.
pub(crate) fn lives(trace: &PhaseTrace) -> Vec<Life<'_>> {
    let total = ns(trace.total_us).max(0);
    let mut lives = Vec::new();
    for (index, process) in trace.processes.iter().enumerate() {
        let (start, end) = extent(process, index, total);
        let mut from = start;
        for (position, image) in process.images.iter().enumerate() {
            let next = process.images.get(position + 1);
            let to = next.and_then(first_mark).unwrap_or(end).clamp(from, end);
            let how = if next.is_some() { End::Replaced } else { End::Death };
            lives.push(life(image, (index, process.pid), from, to, how));
            from = to;
        }
    }
    lives
}

/// When a process lives, within the launch.
pub(super) fn extent(process: &TracedProcess, index: usize, total: i64) -> (i64, i64) {
    if index == 0 {
        return (0, total);
    }
    let start = ns(process.started_us).clamp(0, total);
    (start, ns(process.ended_us).clamp(start, total))
}

fn first_mark(image: &TracedImage) -> Option<i64> {
    image.marks.iter().map(|mark| ns(mark.at_us)).min()
}

fn life<'a>(
    image: &'a TracedImage,
    (process, pid): (usize, u32),
    started: i64,
    ended: i64,
    how: End,
) -> Life<'a> {
    let loader = loader_kind(image.loader.as_deref());
    let mut notes = image.notes.clone();
    let mut points = vec![(START, started)];
    for (stage, at) in ordered(&image.marks) {
        points.push((stage, at.clamp(started, ended)));
    }
    // A replaced image has not begun to exit: its last stage is its own code.
    let last = points.last().map_or(START, |point| point.0);
    let end = match how {
        End::Death => ENDED,
        End::Replaced => last.max(EXIT_CALLED),
    };
    points.push((end, ended));
    let stretches = points
        .windows(2)
        .filter(|pair| pair[0].0 < pair[1].0 || pair[0].1 < pair[1].1)
        .map(|pair| {
            let (phase, note) = between(pair[0].0, pair[1].0, &loader);
            if pair[0].1 < pair[1].1 {
                notes.extend(note);
            }
            Stretch { phase, from: pair[0].1, to: pair[1].1 }
        })
        .collect();
    Life {
        image,
        process,
        pid,
        started,
        ended,
        stretches,
        notes,
        background: false,
        copies_sleep: false,
    }
}

/// Marks by stage and time: the first of each kind; one that contradicts the order is left out.
fn ordered(marks: &[Mark]) -> Vec<(i8, i64)> {
    let mut sorted: Vec<(i8, i64)> =
        marks.iter().map(|mark| (stage(mark.kind), ns(mark.at_us))).collect();
    sorted.sort_by_key(|&(stage, at)| (at, stage));
    let mut kept: Vec<(i8, i64)> = Vec::new();
    for point in sorted {
        if kept.last().is_none_or(|last| last.0 < point.0) {
            kept.push(point);
        }
    }
    kept
}

// Stages of an image's life, by the point that ends each of them.
const START: i8 = -1;
const ENTRY: i8 = 4;
const EXIT_CALLED: i8 = 6;
const EXITING: i8 = 7;
const ENDED: i8 = 8;

fn stage(kind: MarkKind) -> i8 {
    match kind {
        MarkKind::ExecCalled => 0,
        MarkKind::ExecDone => 1,
        MarkKind::Mapped => 2,
        MarkKind::Relocated => 3,
        MarkKind::Entry => ENTRY,
        MarkKind::Main => 5,
        MarkKind::ExitCalled => EXIT_CALLED,
        MarkKind::Exiting => EXITING,
    }
}

/// The phase that ends with a stage's point.
fn phase_of(stage: i8, loader: &str) -> Phase {
    match stage {
        // Windows creates a process in one call, and its debug events show no call of main or exit.
        0 | 1 if loader == "ntdll" => Phase::Spawn,
        2 | 3 if loader == "ntdll" => Phase::Load,
        ENTRY if loader == "ntdll" => Phase::Initialize,
        5..=EXITING if loader == "ntdll" => Phase::Main,
        0 => Phase::Spawn,
        1 => Phase::Exec,
        2 => Phase::Map,
        3 => Phase::Relocate,
        // musl runs initializers after the entry point, so relocating lasts up to it.
        ENTRY if loader == "musl" => Phase::Relocate,
        ENTRY | 5 => Phase::Initialize,
        EXIT_CALLED => Phase::Main,
        _ => Phase::Exit,
    }
}

/// The note on an image whose end shows no mark.
pub(crate) const END_UNSEEN: &str = "its end was not seen: tear-down by the kernel counts as main";

/// The phase of the time between two neighboring known points, and a note where a missing
/// mark makes it less exact than it could be.
///
/// A static program has no loader, so nothing maps or relocates before its entry point. A
/// program that ends without calling `exit` has no exit handlers: its own code lasts until the
/// kernel ends it. From the entry point on, the program's own code outweighs what cannot be
/// told apart from it. Everything else that is ambiguous is unattributed.
fn between(from: i8, to: i8, loader: &str) -> (Phase, Option<String>) {
    let mut phases: Vec<Phase> = (from + 1..=to).map(|stage| phase_of(stage, loader)).collect();
    phases.dedup();
    if loader == "static" && phases.len() > 1 {
        phases.retain(|phase| !matches!(phase, Phase::Map | Phase::Relocate));
    }
    if let [only] = phases[..] {
        return (only, None);
    }
    if from >= ENTRY {
        let note = match (from, to) {
            (_, ENDED) if loader == "ntdll" => Some(END_UNSEEN),
            (ENTRY, _) => Some("main was not seen: the program's own initializers count as main"),
            (_, ENDED) => Some(END_UNSEEN),
            _ => None,
        };
        return (Phase::Main, note.map(str::to_owned));
    }
    let names: Vec<&str> = phases.iter().map(|phase| phase.name()).collect();
    let note = (from < to).then(|| format!("{} could not be told apart", names.join(", ")));
    (Phase::Unattributed, note)
}

#[cfg(test)]
mod tests {
    use super::*;
    use MarkKind::*;

    fn image(loader: Option<&str>, marks: &[(MarkKind, f64)]) -> TracedImage {
        let marks = marks.iter().map(|&(kind, at_us)| Mark { kind, at_us }).collect();
        let (path, argv) = ("/bin/p".to_owned(), vec!["p".to_owned()]);
        TracedImage {
            path,
            argv,
            loader: loader.map(str::to_owned),
            marks,
            notes: Vec::new(),
            steps: Vec::new(),
            memory: Vec::new(),
            faults: Vec::new(),
        }
    }

    fn times(loader: Option<&str>, marks: &[(MarkKind, f64)]) -> (Vec<(Phase, i64)>, Vec<String>) {
        let image = image(loader, marks);
        let life = life(&image, (0, 1), 0, 1000, End::Death);
        let times = life.times();
        assert_eq!(times.values().sum::<i64>(), 1000);
        (times.into_iter().collect(), life.notes)
    }

    const GLIBC: Option<&str> = Some("/lib64/ld-linux-x86-64.so.2");
    const MUSL: Option<&str> = Some("/lib/ld-musl-x86_64.so.1");

    #[test]
    fn every_mark_gives_every_phase() {
        let marks = [
            (ExecCalled, 0.02),
            (ExecDone, 0.1),
            (Mapped, 0.4),
            (Relocated, 0.55),
            (Entry, 0.6),
            (Main, 0.61),
            (ExitCalled, 0.8),
            (Exiting, 0.85),
        ];
        let (phases, notes) = times(GLIBC, &marks);
        let expected = [
            (Phase::Spawn, 20),
            (Phase::Exec, 80),
            (Phase::Map, 300),
            (Phase::Relocate, 150),
            (Phase::Initialize, 60),
            (Phase::Main, 190),
            (Phase::Exit, 200),
        ];
        assert_eq!(phases, expected);
        assert!(notes.is_empty());
    }

    #[test]
    fn a_static_program_has_neither_map_nor_relocate() {
        let marks = [(ExecCalled, 0.1), (ExecDone, 0.3), (Entry, 0.31), (Exiting, 0.9)];
        let (phases, notes) = times(None, &marks);
        let expected = [
            (Phase::Spawn, 100),
            (Phase::Exec, 200),
            (Phase::Initialize, 10),
            (Phase::Main, 590),
            (Phase::Exit, 100),
        ];
        assert_eq!(phases, expected);
        assert_eq!(notes.len(), 1);
    }

    #[test]
    fn musl_without_a_mapped_mark_says_what_it_cannot_tell() {
        let marks = [(ExecCalled, 0.1), (ExecDone, 0.3), (Entry, 0.5), (Main, 0.6)];
        let (phases, notes) = times(MUSL, &marks);
        assert!(phases.contains(&(Phase::Unattributed, 200)));
        assert!(phases.contains(&(Phase::Initialize, 100)));
        assert!(notes.contains(&"map, relocate could not be told apart".to_owned()));
    }

    #[test]
    fn underscore_exit_runs_no_handlers() {
        let marks = [(ExecCalled, 0.1), (ExecDone, 0.3), (Mapped, 0.4), (Relocated, 0.5)];
        let marks = [&marks[..], &[(Entry, 0.55), (Main, 0.6), (Exiting, 0.9)]].concat();
        let (phases, notes) = times(GLIBC, &marks);
        assert!(phases.contains(&(Phase::Main, 300)) && phases.contains(&(Phase::Exit, 100)));
        assert!(notes.is_empty());
    }

    #[test]
    fn no_marks_or_contradicting_ones_stay_unattributed() {
        assert_eq!(times(GLIBC, &[]).0, [(Phase::Unattributed, 1000)]);
        let (phases, _) = times(GLIBC, &[(Main, 0.2), (ExecDone, 0.5), (ExitCalled, 0.8)]);
        assert!(phases.contains(&(Phase::Main, 600)), "{phases:?}");
    }
}

//! What the start of a bundle takes, from launches in which it was recorded step by step.
//!
//! Each step is a stop of the tracer, which takes as long as a short initializer does. So the
//! recorded times only divide what a launch with fewer stops takes between the same marks.

use crate::elf::inputs::Inputs;
use crate::phases::Life;
use crate::time::{median, ns, us};
use model::{BundleContents, MarkKind, Reading, StartStep, TracedImage};

/// A stop takes no longer; the shortest of many steps takes little more than a stop.
const MOST_NS: i64 = 20_000;

/// How a bundle's start divides what it takes between marks; each is a share, 0 to 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StartShares {
    /// Of relocating: reading ahead.
    read_ahead: f64,
    /// From then to the entry point: the check. The rest initializes what is not merged.
    check: f64,
    /// From the entry point to `main`: each initializer. The rest is the program's own.
    initializers: Vec<f64>,
}

/// What the start of a bundle takes in one of its processes, in microseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StartTimes {
    pub read_ahead: f64,
    pub check: f64,
    /// Initializing modules that are not merged.
    pub outside: f64,
    /// The initializers of each library, parallel to the contents' libraries.
    pub libraries: Vec<f64>,
    /// The program's own start code and initializers, and initializers of no library.
    pub own: f64,
}

/// How the start of the bundle at `path` divides its time, by all launches that show it whole.
pub(crate) fn shares(inputs: &Inputs, path: &str) -> Reading<StartShares> {
    let Some(contents) = inputs.contents.get(path) else {
        return Reading::unavailable("it is not a bundle", "");
    };
    if contents.start.is_none() {
        return Reading::unavailable(
            "another version of headstart made the bundle",
            "make it again",
        );
    }
    let traces = match &inputs.start_traces {
        Reading::Value(traces) => traces,
        Reading::Unavailable { reason, remedy } => return Reading::unavailable(reason, remedy),
    };
    let images = traces.iter().flat_map(|trace| &trace.processes).flat_map(|p| &p.images);
    let images = images.filter(|image| inputs.real(&image.path) == path);
    let all: Vec<StartShares> = images.filter_map(|image| of_image(image, contents)).collect();
    match all.is_empty() {
        true => Reading::unavailable("no launch went through all steps of its start", ""),
        false => Reading::Value(typical(&all)),
    }
}

/// The median of each share, brought to a sum of 1 with that of the rest: a launch that something
/// interrupts blames one step and makes all others look shorter.
fn typical(all: &[StartShares]) -> StartShares {
    let middle = |figure: &dyn Fn(&StartShares) -> f64| {
        median(&all.iter().map(figure).collect::<Vec<_>>()).unwrap_or(0.0)
    };
    let count = all.first().map_or(0, |one| one.initializers.len());
    let share = |index: usize| middle(&|one| one.initializers.get(index).copied().unwrap_or(0.0));
    let mut initializers: Vec<f64> = (0..count).map(share).collect();
    let rest = middle(&|one| (1.0 - one.initializers.iter().sum::<f64>()).max(0.0));
    let sum = initializers.iter().sum::<f64>() + rest;
    if sum > 0.0 {
        initializers.iter_mut().for_each(|share| *share /= sum);
    }
    StartShares {
        read_ahead: middle(&|one| one.read_ahead),
        check: middle(&|one| one.check),
        initializers,
    }
}

/// The shares in one image; `None` where its start is not recorded from end to end.
fn of_image(image: &TracedImage, contents: &BundleContents) -> Option<StartShares> {
    let mark = |kind| image.marks.iter().find(|mark| mark.kind == kind).map(|mark| ns(mark.at_us));
    let step = |kind| image.steps.iter().find(|(step, _)| *step == kind).map(|(_, at)| ns(*at));
    let (mapped, relocated) = (mark(MarkKind::Mapped)?, mark(MarkKind::Relocated)?);
    let (entry, main) = (mark(MarkKind::Entry)?, mark(MarkKind::Main)?);
    let (check, checked) = (step(StartStep::Check)?, step(StartStep::Checked)?);
    let initialized = image.steps.iter().filter(|(step, _)| *step == StartStep::Initialized);
    let ends: Vec<i64> = initialized.map(|(_, at_us)| ns(*at_us)).collect();
    if ends.len() != contents.initializers.len() {
        return None;
    }
    let begins = std::iter::once(entry).chain(ends.iter().copied());
    let steps: Vec<i64> = begins.zip(&ends).map(|(begin, end)| end - begin).collect();
    let stop = steps.iter().copied().min().unwrap_or(0).clamp(0, MOST_NS);
    let share = |part: i64, whole: i64| {
        if whole > 0 { ((part - stop) as f64 / whole as f64).clamp(0.0, 1.0) } else { 0.0 }
    };
    let ahead = step(StartStep::ReadAhead).zip(step(StartStep::ReadAheadDone));
    let started = main - entry - stop * ends.len() as i64;
    Some(StartShares {
        read_ahead: ahead.map_or(0.0, |(from, to)| share(to - from, relocated - mapped - 2 * stop)),
        check: share(checked - check, entry - relocated - 2 * stop),
        initializers: steps.into_iter().map(|step| share(step, started)).collect(),
    })
}

/// What these shares come to in an image of the explained launch; `None` where its marks do not
/// show its start.
pub(crate) fn times(
    shares: &StartShares,
    contents: &BundleContents,
    life: &Life,
) -> Option<StartTimes> {
    let mark = |kind| {
        let marks = &life.image.marks;
        marks.iter().find(|mark| mark.kind == kind).map(|mark| ns(mark.at_us))
    };
    let between = |from, to| Some(us((mark(to)? - mark(from)?).max(0)));
    let relocating = between(MarkKind::Mapped, MarkKind::Relocated).unwrap_or(0.0);
    let loading = between(MarkKind::Relocated, MarkKind::Entry)?;
    let starting = between(MarkKind::Entry, MarkKind::Main)?;
    let mut libraries = vec![0.0; contents.libraries.len()];
    let mut own = starting;
    for (share, library) in shares.initializers.iter().zip(&contents.initializers) {
        if let Some(time) = library.and_then(|library| libraries.get_mut(library)) {
            *time += share * starting;
            own -= share * starting;
        }
    }
    Some(StartTimes {
        read_ahead: shares.read_ahead * relocating,
        check: shares.check * loading,
        outside: (1.0 - shares.check) * loading,
        libraries,
        own: own.max(0.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{BundlePart, BundleStart, Command, Mark, PartWork, PhaseTrace, TracedProcess, Va};

    /// Two libraries: the first has two initializers, the second one; another belongs to neither.
    fn contents() -> BundleContents {
        let part = |path: &str| BundlePart {
            path: path.to_owned(),
            places: Vec::new(),
            work: PartWork::default(),
        };
        let start = BundleStart {
            path: "/b/run".to_owned(),
            check: Va(1),
            read_ahead: None,
            initialized: Va(2),
            finish: None,
        };
        BundleContents {
            libraries: vec![part("/lib/a.so"), part("/lib/b.so")],
            initializers: vec![Some(0), None, Some(0), Some(1)],
            start: Some(start),
            ..BundleContents::default()
        }
    }

    /// A start in which each stop takes 5 µs: the check takes 20, the initializers 0, 10, 25 and 40,
    /// the program 25.
    fn image() -> TracedImage {
        let marks = [
            (MarkKind::Mapped, 100.0),
            (MarkKind::Relocated, 200.0),
            (MarkKind::Entry, 240.0),
            (MarkKind::Main, 365.0),
        ];
        let steps = [
            (StartStep::Check, 205.0),
            (StartStep::Checked, 230.0),
            (StartStep::Initialized, 245.0),
            (StartStep::Initialized, 260.0),
            (StartStep::Initialized, 290.0),
            (StartStep::Initialized, 335.0),
        ];
        TracedImage {
            path: "/b/run".to_owned(),
            argv: Vec::new(),
            loader: None,
            marks: marks.map(|(kind, at_us)| Mark { kind, at_us }).to_vec(),
            notes: Vec::new(),
            steps: steps.to_vec(),
            memory: Vec::new(),
            faults: Vec::new(),
        }
    }

    fn trace(image: TracedImage) -> PhaseTrace {
        let process = TracedProcess {
            pid: 1,
            parent: None,
            started_us: 0.0,
            ended_us: 400.0,
            images: vec![image],
        };
        PhaseTrace {
            total_us: 400.0,
            processes: vec![process],
            stops: 9,
            cpuids: Reading::unavailable("not counted", ""),
            file_calls: Vec::new(),
        }
    }

    fn inputs(images: Vec<TracedImage>) -> Inputs {
        let argv = vec!["run".into()];
        let program = "/b/run".into();
        let command = Command { argv, program, directory: None, environment: Vec::new() };
        let mut inputs = Inputs::nothing(command, "a test");
        inputs.contents.insert("/b/run".to_owned(), contents());
        inputs.start_traces = Reading::Value(images.into_iter().map(trace).collect());
        inputs
    }

    #[test]
    fn stops_are_no_part_of_what_they_time() {
        let found = shares(&inputs(vec![image(); 3]), "/b/run");
        let found = found.value().unwrap();
        // 105 µs are left from the entry point to main without four stops.
        let expected = [0.0, 10.0, 25.0, 40.0].map(|us| us / 105.0);
        let pairs = found.initializers.iter().zip(expected);
        assert!(pairs.clone().count() == 4 && pairs.clone().all(|(a, b)| (a - b).abs() < 1e-9));
        assert!((found.check - 20.0 / 30.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn what_is_explained_is_divided_without_a_rest() {
        let inputs = inputs(vec![image()]);
        let found = shares(&inputs, "/b/run");
        let trace = trace(image());
        let lives = crate::phases::lives(&trace);
        let times = times(found.value().unwrap(), &contents(), &lives[0]).unwrap();
        let sum = times.libraries.iter().sum::<f64>() + times.own;
        assert!((sum - 125.0).abs() < 1e-9, "{times:?}");
        assert!((times.check + times.outside - 40.0).abs() < 1e-9, "{times:?}");
        let scale = 125.0 / 105.0;
        assert!((times.libraries[0] - 25.0 * scale).abs() < 1e-9, "{times:?}");
        assert!((times.libraries[1] - 40.0 * scale).abs() < 1e-9, "{times:?}");
    }

    #[test]
    fn one_interrupted_launch_blames_nobody() {
        let mut interrupted = image();
        let late = |at_us: &mut f64| *at_us += if *at_us > 250.0 { 900.0 } else { 0.0 };
        interrupted.marks.iter_mut().for_each(|mark| late(&mut mark.at_us));
        interrupted.steps.iter_mut().for_each(|(_, at_us)| late(at_us));
        let usual = shares(&inputs(vec![image()]), "/b/run");
        let found = shares(&inputs(vec![image(), interrupted, image()]), "/b/run");
        let sum = |found: &Reading<StartShares>| found.value().unwrap().initializers[3];
        assert!((sum(&found) - sum(&usual)).abs() < 1e-9, "{found:?} {usual:?}");
    }

    #[test]
    fn a_start_that_is_not_seen_to_its_end_is_no_zero() {
        let mut cut = image();
        cut.steps.pop();
        let found = shares(&inputs(vec![cut]), "/b/run");
        assert_eq!(found.reason(), Some("no launch went through all steps of its start"));
        let mut other = inputs(vec![image()]);
        other.contents.get_mut("/b/run").unwrap().start = None;
        let reason = "another version of headstart made the bundle";
        assert_eq!(shares(&other, "/b/run").reason(), Some(reason));
        assert_eq!(shares(&other, "/b/other").reason(), Some("it is not a bundle"));
    }
}

//! What finalizers of merged libraries take, from launches in which each is a step.

use crate::elf::inputs::Inputs;
use crate::phases::Life;
use crate::time::{median, ns};
use model::{BundleContents, MarkKind, Reading, StartStep, TracedImage};

/// A stop takes no longer; the shortest of many steps takes little more than a stop.
const MOST_NS: i64 = 20_000;

/// Microseconds by library, and last of what is of none, in all processes of the bundle at `path`.
pub(super) fn times(
    inputs: &Inputs,
    contents: &BundleContents,
    path: &str,
    lives: &[&Life],
) -> Reading<Vec<f64>> {
    let mut times = vec![0.0; contents.libraries.len() + 1];
    if contents.finalizers == 0 {
        return Reading::Value(times);
    }
    let traces = match &inputs.start_traces {
        Reading::Value(traces) => traces,
        Reading::Unavailable { reason, remedy } => return Reading::unavailable(reason, remedy),
    };
    let images = traces.iter().flat_map(|trace| &trace.processes).flat_map(|p| &p.images);
    let images = images.filter(|image| inputs.real(&image.path) == path);
    let all: Vec<Vec<f64>> = images.filter_map(|image| shares(image, contents)).collect();
    let ran: Vec<f64> = lives.iter().filter_map(|life| exiting_us(life.image)).collect();
    if all.is_empty() || ran.is_empty() {
        let reason = "no launch shows that it finalizes its libraries: it does not end by exit, or is \
                      not followed to its end";
        return Reading::unavailable(reason, "");
    }
    let exiting: f64 = ran.iter().sum();
    let share = |index: usize| {
        let all: Vec<f64> = all.iter().filter_map(|shares| shares.get(index).copied()).collect();
        median(&all).unwrap_or(0.0)
    };
    let shares: Vec<f64> = (0..contents.finalized.len()).map(share).collect();
    let whole = shares.iter().sum::<f64>().max(1.0);
    for (share, library) in shares.iter().zip(&contents.finalized) {
        if let Some(time) = times.get_mut(library.unwrap_or(contents.libraries.len())) {
            *time += share / whole * exiting;
        }
    }
    Reading::Value(times)
}

/// From the call of exit to the kernel's work.
fn exiting_us(image: &TracedImage) -> Option<f64> {
    let mark = |kind| image.marks.iter().find(|mark| mark.kind == kind).map(|mark| mark.at_us);
    Some((mark(MarkKind::Exiting)? - mark(MarkKind::ExitCalled)?).max(0.0))
}

/// The share of that which each function takes; `None` where not all of them are seen.
fn shares(image: &TracedImage, contents: &BundleContents) -> Option<Vec<f64>> {
    let of = |wanted: StartStep| {
        let steps = image.steps.iter().filter(move |(step, _)| *step == wanted);
        steps.map(|(_, at_us)| ns(*at_us)).collect::<Vec<i64>>()
    };
    let (begin, ends) = (*of(StartStep::Finish).first()?, of(StartStep::Finalized));
    if ends.len() != contents.finalized.len() {
        return None;
    }
    let begins = std::iter::once(begin).chain(ends.iter().copied());
    let steps: Vec<i64> = begins.zip(&ends).map(|(begin, end)| end - begin).collect();
    let stop = steps.iter().copied().min()?.clamp(0, MOST_NS);
    let whole = ns(exiting_us(image)?) - stop * (ends.len() as i64 + 1);
    let share = |step: i64| match whole > 0 {
        true => ((step - stop) as f64 / whole as f64).clamp(0.0, 1.0),
        false => 0.0,
    };
    Some(steps.into_iter().map(share).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Mark;

    #[test]
    fn stops_are_no_part_of_what_they_time() {
        let mark = |kind, at_us| Mark { kind, at_us };
        let steps = [
            (StartStep::Finish, 110.0),
            (StartStep::Finalized, 115.0),
            (StartStep::Finalized, 150.0),
        ];
        let mut image = TracedImage {
            path: "/b/run".to_owned(),
            argv: Vec::new(),
            loader: None,
            marks: vec![mark(MarkKind::ExitCalled, 100.0), mark(MarkKind::Exiting, 175.0)],
            notes: Vec::new(),
            steps: steps.to_vec(),
            memory: Vec::new(),
            faults: Vec::new(),
        };
        let finalized = vec![Some(1), None];
        let contents = BundleContents { finalized, ..BundleContents::default() };
        // 5 µs a stop: 60 µs are left of 75.
        assert_eq!(shares(&image, &contents), Some(vec![0.0, 0.5]));
        image.steps.pop();
        assert_eq!(shares(&image, &contents), None);
    }
}

//! Which moment of the phase launch a moment of the launch with the fault record corresponds to.
//!
//! Both launches do the same, but neither equally fast nor evenly: on a busy machine one of them may stand still
//! anywhere. Both show when each program was executed. Between these moments, the phase launch knows how many page
//! faults the process had at each of its marks: there the fault record had as large a share of its own.

use crate::phases::Life;
use model::{MarkKind, MemoryChange, PageFaults};

/// Times of the fault record, each with the corresponding time of the phase launch. Between them, time goes evenly.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Alignment(Vec<(f64, f64)>);

/// An execution of a program in the fault record.
struct Execution {
    pid: u32,
    at_us: f64,
}

impl Alignment {
    /// Aligns a record with the launch of these lives, which took `total_us`.
    pub(crate) fn new(record: &PageFaults, lives: &[Life<'_>], total_us: f64) -> Alignment {
        let execs = record.mappings.iter().filter(|change| change.mapping().is_none());
        let own = execs.map(|change: &MemoryChange| {
            let (pid, at_us) = (change.pid(), change.at_us());
            Execution { pid, at_us }
        });
        let own: Vec<Execution> = own.collect();
        let done = |life: &Life<'_>| mark(life, MarkKind::ExecDone);
        let mut executed: Vec<_> =
            lives.iter().filter_map(|life| Some((done(life)?, life))).collect();
        executed.sort_by(|one, other| one.0.total_cmp(&other.0));
        // Where one launch executed more than the other, only the first can be matched.
        let matched = if own.len() == executed.len() { own.len() } else { 1 };
        let mut points = vec![(0.0, 0.0)];
        for (number, (execution, (at_us, life))) in
            own.iter().zip(&executed).take(matched).enumerate()
        {
            points.push((execution.at_us, *at_us));
            let next = own.iter().skip(number + 1).find(|next| next.pid == execution.pid);
            let until_us = next.map_or(f64::INFINITY, |next| next.at_us);
            let mut later = executed.iter().skip(number + 1).map(|(_, life)| life);
            let next = later.find(|next| next.process == life.process);
            let last = match next {
                Some(next) => counted(next, MarkKind::ExecDone),
                None => counted(life, MarkKind::Exiting),
            };
            points.extend(
                last.and_then(|last| of_marks(record, (execution, until_us), (life, last)))
                    .into_iter()
                    .flatten(),
            );
        }
        points.push((record.total_us, total_us));
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        points.dedup_by(|next, last| next.0 <= last.0 || next.1 <= last.1);
        Alignment(points)
    }

    /// Where a time of the record lies in the phase launch.
    pub(crate) fn at(&self, at_us: f64) -> f64 {
        let points = &self.0;
        let next = points.partition_point(|(from, _)| *from <= at_us).max(1);
        match (points.get(next - 1), points.get(next)) {
            (Some((from, to)), Some((from_end, to_end))) => {
                to + (at_us - from) * (to_end - to) / (from_end - from)
            }
            (Some((_, to)), None) => *to,
            (None, _) => at_us,
        }
    }
}

/// When a life passed a mark.
fn mark(life: &Life<'_>, kind: MarkKind) -> Option<f64> {
    life.image.marks.iter().find(|mark| mark.kind == kind).map(|mark| mark.at_us)
}

/// How many faults the process had had at a mark.
fn counted(life: &Life<'_>, kind: MarkKind) -> Option<u64> {
    life.image.faults.iter().find(|(at, _)| *at == kind).map(|(_, count)| *count)
}

/// The marks of one image, by the faults that its process had had: each lies between two faults of the record. `last`:
/// faults until the image's end.
fn of_marks(
    record: &PageFaults,
    (execution, until_us): (&Execution, f64),
    (life, last): (&Life<'_>, u64),
) -> Option<Vec<(f64, f64)>> {
    let is_own = |fault: &&model::PageFault| {
        fault.pid == execution.pid
            && !fault.major
            && fault.at_us > execution.at_us
            && fault.at_us < until_us
    };
    let times: Vec<f64> = record.faults.iter().filter(is_own).map(|fault| fault.at_us).collect();
    let first = counted(life, MarkKind::ExecDone)?;
    let all = last.checked_sub(first).filter(|all| *all > 0 && record.lost == 0)?;
    let point = |&(kind, count): &(MarkKind, u64)| {
        let share = count.saturating_sub(first) as f64 / all as f64;
        let before = (share * times.len() as f64).round() as usize;
        let (last, next) = (times.get(before.checked_sub(1)?)?, times.get(before)?);
        Some((f64::midpoint(*last, *next), mark(life, kind)?))
    };
    Some(life.image.faults.iter().filter_map(point).collect())
}

#[cfg(test)]
mod tests;

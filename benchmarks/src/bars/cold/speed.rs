//! Launches that are read ahead, between cold and warm ones, on several disks.

use super::bed::{Bed, Launched, Place, modeled};
use super::tasks::{STARTS, Task, WORKS};
use super::ways::Way;
use crate::cold_lab::Medium;
use crate::report::Row;
use crate::slow_device::DeviceModel;
use crate::statistics::median;
use anyhow::Result;
use std::collections::BTreeMap;

/// A disk, how often all is launched on it, and by how much prefetching has to help.
const DISKS: [(Place, usize, Option<f64>); 5] = [
    (Place::ThisDisk, 9, Some(2.0)),
    (modeled(DeviceModel::Ebs), 5, Some(3.3)),
    (modeled(DeviceModel::Hdd), 3, Some(3.5)),
    (modeled(DeviceModel::Emmc), 3, None),
    (Place::Lab(Medium::Plain), 7, None),
];
/// Chooses some of the disks, by their names with commas between them, for a first look.
const DISKS_VARIABLE: &str = "HEADSTART_COLD_DISKS";
/// No more rounds than this, for a first look.
const ROUNDS_VARIABLE: &str = "HEADSTART_COLD_ROUNDS";
const MOST_OF_WARM: f64 = 1.5;
const WORK_ROUNDS: usize = 7;
const MOST_OF_WARM_WORK: f64 = 1.2;

/// Starts, on every disk.
pub fn rows(bed: &mut Bed) -> Result<Vec<Row>> {
    let tasks: Vec<&Task> = STARTS.iter().collect();
    bed.record(&tasks, Place::Lab(Medium::Plain))?;
    bed.record(&tasks, Place::ThisDisk)?;
    let mut rows = Vec::new();
    let chosen = std::env::var(DISKS_VARIABLE).ok();
    let is_chosen = |place: Place| match &chosen {
        Some(names) => names.split(',').any(|name| name == place.name()),
        None => true,
    };
    for (place, rounds, least) in DISKS.into_iter().filter(|(place, ..)| is_chosen(*place)) {
        bed.go_to(place)?;
        let ways = [Way::Cold, Way::Prefetched, Way::Typed, Way::Warm];
        let times = interleaved(bed, &tasks, &ways, rounds)?;
        let found = rows_of(place, &times, least);
        // All disks take a quarter of an hour, so these are shown before the table of all.
        found.iter().for_each(|row| eprintln!("{}: {}", row.figure, row.value));
        rows.extend(found);
    }
    Ok(rows)
}

/// Real work, on this disk.
pub fn work_rows(bed: &mut Bed) -> Result<Vec<Row>> {
    let tasks: Vec<&Task> = WORKS.iter().collect();
    bed.record(&tasks, Place::ThisDisk)?;
    bed.go_to(Place::ThisDisk)?;
    let times = interleaved(bed, &tasks, &[Way::Cold, Way::Prefetched, Way::Warm], WORK_ROUNDS)?;
    let mut rows: Vec<Row> =
        tasks.iter().map(|task| shown(Place::ThisDisk, &times, task)).collect();
    let of_warm = times.ratio(Way::Prefetched, Way::Warm);
    let good = of_warm <= MOST_OF_WARM_WORK;
    let figure = "this disk, real work: prefetched ÷ warm";
    rows.push(Row::bar(figure, format!("{of_warm:.2}"), "≤ 1.2", good));
    rows.push(never_slower(Place::ThisDisk, &times));
    Ok(rows)
}

fn rows_of(place: Place, times: &Times, least: Option<f64>) -> Vec<Row> {
    let mut rows: Vec<Row> = times.tasks.iter().map(|task| shown(place, times, task)).collect();
    let name = place.name();
    let gain = times.ratio(Way::Cold, Way::Prefetched);
    let figure = format!("{name}: cold ÷ prefetched");
    rows.push(match least {
        Some(least) => Row::bar(figure, format!("{gain:.2}"), &format!("≥ {least}"), gain >= least),
        None => Row::shown(figure, format!("{gain:.2}")),
    });
    let typed = times.ratio(Way::Cold, Way::Typed);
    rows.push(Row::shown(
        format!("{name}: cold ÷ headstart prefetch, typed"),
        format!("{typed:.2}"),
    ));
    let of_warm = times.ratio(Way::Prefetched, Way::Warm);
    let figure = format!("{name}: prefetched ÷ warm");
    rows.push(match place {
        Place::ThisDisk => {
            Row::bar(figure, format!("{of_warm:.2}"), "≤ 1.5", of_warm <= MOST_OF_WARM)
        }
        Place::Lab(_) => Row::shown(figure, format!("{of_warm:.2}")),
    });
    rows.push(never_slower(place, times));
    rows
}

fn shown(place: Place, times: &Times, task: &Task) -> Row {
    let ms = |way| times.median_ms(task.name, way);
    let value =
        format!("{:.0} → {:.0} ms (warm {:.0})", ms(Way::Cold), ms(Way::Prefetched), ms(Way::Warm));
    let row = Row::shown(format!("{}: {}", place.name(), task.name), value);
    let read = |way| times.read(task, way);
    match place {
        Place::ThisDisk => row,
        Place::Lab(_) => row.beside(format!("{} → {}", read(Way::Cold), read(Way::Prefetched))),
    }
}

/// The worst program.
fn never_slower(place: Place, times: &Times) -> Row {
    let gains = times.tasks.iter().map(|task| {
        let gain =
            times.median_ms(task.name, Way::Cold) / times.median_ms(task.name, Way::Prefetched);
        (gain, task.name)
    });
    let (gain, name) = gains.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::NAN, "none"));
    let figure = format!("{}: cold ÷ prefetched, worst program", place.name());
    Row::bar(figure, format!("{gain:.2} ({name})"), "≥ 1", gain >= 1.0)
}

/// Milliseconds of all launches.
pub struct Times<'a> {
    pub tasks: Vec<&'a Task>,
    launches: BTreeMap<(&'static str, Way), Vec<Launched>>,
}

impl Times<'_> {
    /// The median of a task's launches.
    pub fn median_ms(&self, task: &str, way: Way) -> f64 {
        self.median_of(task, way, |launch| launch.ms)
    }

    /// What a task's launches read of the laboratory's disk.
    pub fn read(&self, task: &Task, way: Way) -> String {
        let reads = self.median_of(task.name, way, |launch| launch.reads as f64);
        let mib = self.median_of(task.name, way, |launch| launch.bytes as f64 / 1048576.0);
        format!("{reads:.0} reads, {mib:.1} MiB")
    }

    fn median_of(&self, task: &str, way: Way, value: fn(&Launched) -> f64) -> f64 {
        let found = self.launches.iter().find(|((name, of), _)| *name == task && *of == way);
        median(found.map(|(_, all)| all.iter().map(value).collect()).unwrap_or_default())
    }

    /// Geometric mean of one way's times over another's.
    pub fn ratio(&self, of: Way, over: Way) -> f64 {
        let ratios = self
            .tasks
            .iter()
            .map(|task| self.median_ms(task.name, of) / self.median_ms(task.name, over));
        geometric_mean(&ratios.collect::<Vec<f64>>())
    }
}

/// NaN for none.
pub fn geometric_mean(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().map(|value| value.ln()).sum();
    (sum / values.len() as f64).exp()
}

/// Rounds of all tasks in all ways, each round in another order.
///
/// # Errors
/// A launch fails.
pub fn interleaved<'a>(
    bed: &mut Bed,
    tasks: &[&'a Task],
    ways: &[Way],
    rounds: usize,
) -> Result<Times<'a>> {
    let most = std::env::var(ROUNDS_VARIABLE).ok().and_then(|text| text.parse().ok());
    let rounds = rounds.min(most.unwrap_or(rounds)).max(1);
    let mut times = Times { tasks: tasks.to_vec(), launches: BTreeMap::new() };
    for round in 0..rounds {
        eprintln!("{}: round {} of {rounds}", bed.place.name(), round + 1);
        for at in 0..tasks.len() {
            let task = tasks[(at + round) % tasks.len()];
            for step in 0..ways.len() {
                let way = ways[(step + at + round) % ways.len()];
                let launched = bed.launch(task, way)?;
                times.launches.entry((task.name, way)).or_default().push(launched);
            }
        }
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometric_means() {
        assert!((geometric_mean(&[2.0, 8.0]) - 4.0).abs() < 1e-12);
        assert!(geometric_mean(&[]).is_nan());
    }
}

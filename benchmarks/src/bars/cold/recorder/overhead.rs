//! How much longer a launch takes that is recorded.

use super::super::bed::Bed;
use super::super::tasks::Task;
use super::launch;
use crate::statistics::median;
use anyhow::Result;
use std::path::PathBuf;

/// Single launches differ by 5 % and more; the median of so many rounds moves by less than 1 %.
const ROUNDS: usize = 60;
const FILE: &str = "/tmp/timed.rec";

/// Medians of the ratios within a round: how fast the disk is changes from one to the next.
#[derive(Clone, Copy)]
pub struct Overhead {
    /// Of the recorded launch to the mean of the two plain ones in the same state of the caches.
    pub recorded: f64,
    /// Of one plain launch to the other: how far the comparison is off by chance.
    pub plain: f64,
}

impl Overhead {
    /// All kinds of launches in turns, each round in another order.
    ///
    /// # Errors
    /// A launch fails.
    pub fn of(bed: &Bed, task: &Task) -> Result<Overhead> {
        let mut times = [const { Vec::new() }; 3];
        recorded_ms(bed, task)?;
        let files = bed.recording(FILE)?.files;
        let paths: Vec<PathBuf> = files.iter().map(|file| bed.outside(&file.path)).collect();
        for round in 0..ROUNDS {
            for step in 0..times.len() {
                let step = if round % 2 == 0 { step } else { times.len() - 1 - step };
                let kind = (step + round) % times.len();
                times[kind].push(match kind {
                    0 => recorded_ms(bed, task)?,
                    _ => plain_ms(bed, task, &paths)?,
                });
            }
        }
        let [recorded, plain, again] = &times;
        let plain_ms = plain.iter().zip(again).map(|(plain, again)| (plain + again) / 2.0);
        let recorded = recorded.iter().zip(plain_ms).map(|(recorded, plain)| recorded / plain);
        let again = plain.iter().zip(again).map(|(plain, again)| again / plain);
        Ok(Overhead { recorded: median(recorded.collect()), plain: median(again.collect()) })
    }
}

fn recorded_ms(bed: &Bed, task: &Task) -> Result<f64> {
    bed.record_with(task, FILE, &["--no-pin"])?;
    Ok(bed.recording(FILE)?.total_us / 1e3)
}

fn plain_ms(bed: &Bed, task: &Task, paths: &[PathBuf]) -> Result<f64> {
    bed.lab.set_read_ahead(0)?;
    os::cache::evict(paths);
    let ms = launch(bed, task);
    bed.lab.set_read_ahead(crate::cold_lab::USUAL_READ_AHEAD_KIB)?;
    ms
}

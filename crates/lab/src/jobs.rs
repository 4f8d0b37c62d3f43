//! Launch throughput: several launchers at once, as a test runner or a build lives.

use crate::LabError;
use model::{Command, Ending, JobLaunch, Throughput};
use os::launcher::{LaunchRecord, LaunchSpec, Launcher, Stdio};
use std::thread;

/// What to launch, and by how many.
pub struct JobsRequest<'a> {
    /// The command.
    pub command: &'a Command,
    /// Launches per launcher and block.
    pub launches: u32,
    /// How each launch is made.
    pub spec: LaunchSpec,
    /// Exit codes other than 0 count too.
    pub ignore_failure: bool,
}

/// Blocks of one launcher and blocks of all take turns, so that drift meets both.
const BLOCKS: usize = 3;

/// What the blocks say.
pub struct JobsResult {
    /// The median block of one launcher.
    pub one: Throughput,
    /// The median block of all together.
    pub several: Throughput,
    /// Launches that left processes running, which headstart ended.
    pub left_running: u32,
}

/// Throughput of one launcher and of all together: the median block of each.
pub fn throughput(
    request: &JobsRequest<'_>,
    launchers: &mut [Launcher],
    done: &mut dyn FnMut(usize, usize),
) -> Result<JobsResult, LabError> {
    let (mut one, mut all, mut left_running) = (Vec::new(), Vec::new(), 0);
    for block in 0..BLOCKS {
        one.extend(run_block(request, &mut launchers[..1], &mut left_running)?);
        done(2 * block + 1, 2 * BLOCKS);
        all.extend(run_block(request, launchers, &mut left_running)?);
        done(2 * block + 2, 2 * BLOCKS);
    }
    match (median_block(one), median_block(all)) {
        (Some(one), Some(several)) => Ok(JobsResult { one, several, left_running }),
        _ => Err(os::LaunchError::Interrupted.into()),
    }
}

fn median_block(mut blocks: Vec<Throughput>) -> Option<Throughput> {
    blocks.sort_by(|a, b| a.per_second.total_cmp(&b.per_second));
    let middle = blocks.len() / 2;
    blocks.into_iter().nth(middle)
}

fn run_block(
    request: &JobsRequest<'_>,
    launchers: &mut [Launcher],
    left_running: &mut u32,
) -> Result<Option<Throughput>, LabError> {
    let null = Stdio::null()?;
    let mut slots = Vec::new();
    for launcher in launchers.iter_mut() {
        slots.push(launcher.prepare(request.command, &null, &[])?);
    }
    let rows: Vec<Result<Vec<LaunchRecord>, os::LaunchError>> = thread::scope(|scope| {
        let threads: Vec<_> = launchers
            .iter_mut()
            .zip(slots)
            .map(|(launcher, slot)| {
                scope.spawn(move || launcher.launch_many(slot, &request.spec, request.launches))
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or(Err(os::LaunchError::LauncherGone)))
            .collect()
    });
    let jobs = rows.len() as u32;
    let mut launches = Vec::new();
    let rows = rows.into_iter().collect::<Result<Vec<_>, _>>()?;
    let origin = rows.iter().flatten().map(|started| started.ticks).min().unwrap_or(0);
    for (launcher, row) in rows.iter().enumerate() {
        for started in row {
            judge(request, started.launch.ending)?;
            *left_running += u32::from(started.launch.left_running > 0);
            launches.push(JobLaunch {
                launcher: launcher as u32,
                started_us: (started.ticks - origin) as f64 / 1000.0,
                total_us: started.launch.total_us,
            });
        }
    }
    Ok(stats::throughput(jobs, &launches))
}

fn judge(request: &JobsRequest<'_>, ending: Ending) -> Result<(), LabError> {
    let command = request.command.line();
    match ending {
        Ending::Code(0) | Ending::Ready => Ok(()),
        Ending::TimedOut => {
            Err(LabError::TimedOut { command, timeout_s: request.spec.timeout.as_secs_f64() })
        }
        _ if request.ignore_failure => Ok(()),
        _ => Err(LabError::Failed { command, ending, output: String::new() }),
    }
}

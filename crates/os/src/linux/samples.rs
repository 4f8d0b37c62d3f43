//! Which instructions a launch executes, sampled by the processor time it takes.
//!
//! The software event `PERF_COUNT_SW_CPU_CLOCK` is a timer that runs while the program does, so
//! it works on virtual machines without hardware counters. Where the kernel has interrupts off,
//! the sample comes when they are on again: its time is seen, but at the wrong instruction.

mod kernel;
#[cfg(test)]
mod tests;

pub use kernel::{KernelSymbol, KernelSymbols, kernel_symbols};

use super::attend::{AttendOptions, attend, on_own_thread};
use super::error::LaunchError;
use super::launcher::{LaunchRecord, Source};
use super::perf::{self, Attr, EventKind, Record, Rings, Scope};
use model::{CodeSample, Command, LaunchSamples};
use std::os::fd::RawFd;

/// Each sample costs a virtual machine several microseconds: at this rate a launch takes about a
/// fifth longer, at twice the rate half as long again. Not a round number, so that programs that
/// do something every 100 µs are not always met at the same place.
const FREQUENCY_HZ: u32 = 10_007;

/// Launches `command` and samples all its processes from its execve on, 10,000 times for each
/// second of processor time or as often as `kernel.perf_event_max_sample_rate` allows. stdin,
/// stdout and stderr are `/dev/null`.
///
/// # Errors
/// [`LaunchError::NotPermitted`] where perf events are refused, and where the program cannot be
/// started.
pub fn record(command: &Command, options: &AttendOptions) -> Result<LaunchSamples, LaunchError> {
    let cpus = perf::cpus(options);
    on_own_thread(options, || {
        let mut recorder = Recorder::open(&cpus)?;
        let once = attend(command, &[], None, options, &mut recorder)?;
        Ok(recorder.finish(&once))
    })
}

struct Recorder {
    rings: Rings,
    scope: Scope,
    frequency_hz: u32,
    records: Vec<Record>,
    lost: u64,
}

impl Recorder {
    fn open(cpus: &[u32]) -> Result<Recorder, LaunchError> {
        let scope = perf::scope("sampling with perf events")?;
        let frequency_hz = frequency_hz();
        let clock = Attr::new(EventKind::CpuClock { frequency_hz }, scope).with_processes();
        let rings = perf::open(&[clock], cpus)?;
        Ok(Recorder { rings, scope, frequency_hz, records: Vec::new(), lost: 0 })
    }

    fn finish(self, once: &LaunchRecord) -> LaunchSamples {
        let at_us = |ns: u64| once.at_us(ns);
        let sample = |record: &Record| match record {
            Record::Sample { instruction, kernel, pid, at_ns, .. } => Some(CodeSample {
                pid: *pid,
                at_us: at_us(*at_ns),
                address: *instruction,
                kernel: *kernel,
            }),
            _ => None,
        };
        let mut samples: Vec<CodeSample> = self.records.iter().filter_map(sample).collect();
        samples.sort_by(|one, other| one.at_us.total_cmp(&other.at_us));
        LaunchSamples {
            total_us: once.launch.total_us,
            pid: once.pid,
            frequency_hz: self.frequency_hz,
            with_kernel: self.scope == Scope::UserAndKernel,
            samples,
            mappings: perf::mappings(self.records, at_us),
            lost: self.lost,
        }
    }
}

impl Source for Recorder {
    fn descriptors(&self) -> Vec<RawFd> {
        self.rings.descriptors()
    }

    fn drain(&mut self) -> bool {
        let (records, lost) = (&mut self.records, &mut self.lost);
        self.rings.drain(|record, _| match record {
            Record::Lost(count) => *lost += count,
            record => records.push(record),
        });
        false
    }
}

/// The kernel refuses more than its present limit, which it lowers when samples take it long.
fn frequency_hz() -> u32 {
    let limit = std::fs::read_to_string("/proc/sys/kernel/perf_event_max_sample_rate");
    let limit = limit.ok().and_then(|text| text.trim().parse::<u32>().ok());
    limit.map_or(FREQUENCY_HZ, |limit| FREQUENCY_HZ.min(limit.max(1)))
}

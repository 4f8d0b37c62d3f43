//! Who else uses the CPUs: `/proc/stat`, read twice.

use super::allowed_cpus;
use std::fs;
use std::io;
use std::time::Duration;

/// Use of the CPUs during a sample, in CPUs: 1.5 is one and a half CPUs kept busy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Activity {
    /// By all processes but this one.
    pub others: f64,
    /// Taken by the hypervisor for other virtual machines (steal time).
    pub steal: f64,
}

/// Processor time in clock ticks since the machine started (proc(5)).
#[derive(Clone, Copy, Default)]
struct Ticks {
    busy: u64,
    steal: u64,
}

/// The allowed CPU that is least busy over 20 ms; not CPU 0, which takes most interrupts, where
/// there is a choice. Without `/proc/stat` the last allowed one.
pub fn quiet_cpu() -> u32 {
    let allowed = allowed_cpus();
    let mut candidates: Vec<u32> = allowed.iter().copied().filter(|&cpu| cpu != 0).collect();
    if candidates.is_empty() {
        candidates = allowed;
    }
    let before = per_cpu();
    std::thread::sleep(Duration::from_millis(20));
    let after = per_cpu();
    let ticks = |list: &[(u32, Ticks)], cpu| {
        let found = list.iter().find(|(other, _)| *other == cpu);
        found.map_or(Ticks::default(), |&(_, ticks)| ticks)
    };
    let busy = |cpu: u32| {
        let (before, after) = (ticks(&before, cpu), ticks(&after, cpu));
        after.busy.saturating_sub(before.busy) + after.steal.saturating_sub(before.steal)
    };
    // Of equally busy ones the last: the first CPUs are those that schedulers fill first.
    candidates.into_iter().rev().min_by_key(|&cpu| busy(cpu)).unwrap_or(0)
}

/// Samples the machine for `time`; below 100 ms the clock ticks are too coarse.
///
/// # Errors
/// Where `/proc/stat` cannot be read.
pub fn activity(time: Duration) -> io::Result<Activity> {
    let total = || -> io::Result<Ticks> {
        let text = fs::read_to_string("/proc/stat")?;
        let line = text.lines().find_map(|line| line.strip_prefix("cpu "));
        line.and_then(ticks).ok_or_else(|| io::Error::other("/proc/stat has no line 'cpu'"))
    };
    let (before, own_before, start) = (total()?, own_seconds(), std::time::Instant::now());
    std::thread::sleep(time);
    let (after, own_after, seconds) = (total()?, own_seconds(), start.elapsed().as_secs_f64());
    let per_second = rustix::param::clock_ticks_per_second() as f64;
    let cpus = |ticks: u64| ticks as f64 / per_second / seconds;
    let own = (own_after - own_before) / seconds;
    Ok(Activity {
        others: (cpus(after.busy.saturating_sub(before.busy)) - own).max(0.0),
        steal: cpus(after.steal.saturating_sub(before.steal)),
    })
}

/// Processes ready to run, averaged over the last minute.
///
/// # Errors
/// Where `/proc/loadavg` cannot be read.
pub fn load_average() -> io::Result<f64> {
    let text = fs::read_to_string("/proc/loadavg")?;
    let first = text.split_whitespace().next().unwrap_or_default();
    first.parse().map_err(|_| io::Error::other(format!("/proc/loadavg says '{}'", text.trim())))
}

fn per_cpu() -> Vec<(u32, Ticks)> {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let lines = text.lines().filter_map(|line| {
        let (cpu, rest) = line.strip_prefix("cpu")?.split_once(' ')?;
        Some((cpu.parse().ok()?, ticks(rest)?))
    });
    lines.collect()
}

/// user nice system idle iowait irq softirq steal …
fn ticks(columns: &str) -> Option<Ticks> {
    let numbers: Option<Vec<u64>> =
        columns.split_whitespace().take(8).map(|word| word.parse().ok()).collect();
    let [user, nice, system, _idle, _io_wait, irq, soft_irq, steal] = numbers?[..] else {
        return None;
    };
    Some(Ticks { busy: user + nice + system + irq + soft_irq, steal })
}

/// Processor time of this process.
fn own_seconds() -> f64 {
    // SAFETY: an all-zero rusage is valid, and the call writes into it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_columns_of_proc_stat() {
        let found = ticks(" 10 1 5 100 7 2 3 4 0 0").unwrap();
        assert_eq!((found.busy, found.steal), (21, 4));
        assert!(ticks("1 2 3").is_none());
    }

    #[test]
    fn the_quiet_cpu_is_allowed_and_not_the_first_where_there_is_a_choice() {
        let allowed = allowed_cpus();
        let cpu = quiet_cpu();
        assert!(allowed.contains(&cpu));
        assert!(cpu != 0 || allowed == [0]);
    }

    #[test]
    fn activity_stays_within_the_machine() {
        let found = activity(Duration::from_millis(100)).unwrap();
        let cpus = f64::from(super::super::machine().cpus);
        assert!((0.0..=cpus * 1.3).contains(&(found.others + found.steal)), "{found:?}");
        assert!(load_average().unwrap() >= 0.0);
    }
}

//! What else happens on the machine at the moment.

use super::{Outcome, read, words};
use crate::linux::{host, processes};
use model::Check;
use std::collections::HashMap;
use std::fs;
use std::time::Duration;

const SAMPLE: Duration = Duration::from_millis(200);
const NOISY: &str = "other programs compete with launches for CPU time, caches and memory \
     bandwidth";

/// Other processes and other virtual machines, from one sample.
pub(super) fn activity() -> [Check; 2] {
    let before = processes();
    let sample = host::activity(SAMPLE);
    let cpus = f64::from(host::machine().cpus);
    let (neighbors, steal) = match sample {
        Err(error) => {
            let unknown =
                |effect| Outcome::unknown(format!("/proc/stat: {}", words(&error)), effect);
            (unknown(NOISY), unknown("the host may give CPU time to other virtual machines"))
        }
        Ok(found) => (
            neighbors(found.others, cpus, &busiest(&before, &processes())),
            steal(found.steal / cpus),
        ),
    };
    [neighbors.named("neighbors"), steal.named("steal")]
}

fn neighbors(busy: f64, cpus: f64, busiest: &[String]) -> Outcome {
    let names = match busiest {
        [] => String::new(),
        names => format!(" (most: {})", names.join(", ")),
    };
    let found = format!("other processes keep {busy:.1} of {cpus} CPUs busy{names}");
    match busy / cpus {
        share if share >= 0.25 => Outcome::warning(found, NOISY).remedy("top -o %CPU"),
        share if share >= 0.05 => Outcome::note(found, NOISY).remedy("top -o %CPU"),
        _ => Outcome::good(found, "the machine is quiet"),
    }
}

fn steal(share: f64) -> Outcome {
    let found = format!("{:.1} % of the time", share * 100.0);
    if share >= 0.02 {
        Outcome::warning(
            found,
            "the host gives CPU time to other virtual machines, so launch \
             times vary",
        )
    } else {
        Outcome::good(found, "the host gives this machine all the CPU time that it needs")
    }
}

/// Name and clock ticks of every process.
fn processes() -> HashMap<libc::pid_t, (String, u64)> {
    let others = processes::all().filter(|&pid| pid != processes::own_pid());
    others.filter_map(|pid| Some((pid, name_and_ticks(pid)?))).collect()
}

fn name_and_ticks(pid: libc::pid_t) -> Option<(String, u64)> {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    let fields = processes::stat_fields(pid)?;
    // utime and stime, fields 14 and 15 of proc_pid_stat(5).
    let [user, system] = [11, 12].map(|index| fields.get(index)?.parse::<u64>().ok());
    Some((name.trim_end().to_owned(), user? + system?))
}

/// Up to three names of the processes that used most time in between.
fn busiest(
    before: &HashMap<libc::pid_t, (String, u64)>,
    after: &HashMap<libc::pid_t, (String, u64)>,
) -> Vec<String> {
    let used = |pid: &libc::pid_t, ticks: u64| {
        ticks.saturating_sub(before.get(pid).map_or(ticks, |(_, earlier)| *earlier))
    };
    let mut by_use: Vec<(u64, String)> = after
        .iter()
        .map(|(pid, (name, ticks))| (used(pid, *ticks), format!("{name} {pid}")))
        .filter(|(ticks, _)| *ticks > 1)
        .collect();
    by_use.sort_by(|a, b| b.cmp(a));
    by_use.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Processes ready to run.
pub(super) fn load() -> Check {
    let cpus = f64::from(host::machine().cpus);
    let outcome = match host::load_average() {
        Err(error) => Outcome::unknown(format!("/proc/loadavg: {}", words(&error)), NOISY),
        Ok(load) if load > cpus => Outcome::warning(
            format!("{load:.1} processes ready to run, {cpus} CPUs"),
            "launches have to wait for a CPU, so results depend on what else is running",
        ),
        Ok(load) => {
            let found = format!("{load:.1} processes ready to run, {cpus} CPUs");
            Outcome::good(found, "a launch finds a free CPU")
        }
    };
    outcome.named("load")
}

/// Free memory, pressure and swap.
pub(super) fn memory() -> Check {
    const EFFECT: &str = "files may be evicted between warm launches";
    let info = match read("/proc/meminfo") {
        Ok(info) => info,
        Err(reason) => return Outcome::unknown(reason, EFFECT).named("memory"),
    };
    let kib = |key: &str| -> Option<f64> {
        let line = info.lines().find_map(|line| line.strip_prefix(key))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    let (Some(total), Some(available)) = (kib("MemTotal"), kib("MemAvailable")) else {
        let found = "/proc/meminfo lacks MemTotal or MemAvailable";
        return Outcome::unknown(found, EFFECT).named("memory");
    };
    let swapped = kib("SwapTotal").unwrap_or(0.0) - kib("SwapFree").unwrap_or(0.0);
    let pressure = read("/proc/pressure/memory").ok().and_then(|text| some_avg10(&text));
    let stalled = match pressure {
        Some(percent) => format!(", {percent:.1} % of the last 10 s waiting for memory"),
        None => ", memory pressure not reported by this kernel".to_owned(),
    };
    let found = format!(
        "{:.0} % of {:.1} GiB available, {:.0} MiB swapped out{stalled}",
        available / total * 100.0,
        total / 1024.0 / 1024.0,
        swapped / 1024.0
    );
    let short = available / total < 0.1 || pressure.is_some_and(|percent| percent >= 1.0);
    let outcome = if short {
        Outcome::warning(found, EFFECT).remedy("ps -eo rss,pid,comm --sort=-rss | head")
    } else if swapped > 0.0 {
        Outcome::note(found, "swapped-out parts of programs are read back when they are used")
    } else {
        Outcome::good(found, "files stay in memory once a launch has read them")
    };
    outcome.named("memory")
}

/// `avg10` of the line `some avg10=0.00 avg60=…` (PSI).
fn some_avg10(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    line.split(' ').find_map(|word| word.strip_prefix("avg10="))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::CheckState;

    #[test]
    fn reads_stat_and_pressure() {
        let (name, _) = name_and_ticks(processes::own_pid()).unwrap();
        assert!(!name.is_empty() && !name.contains(['(', '\n']), "{name}");
        assert_eq!(some_avg10("some avg10=1.25 avg60=0.00\nfull avg10=9\n"), Some(1.25));
    }

    #[test]
    fn judges_by_share_of_the_machine() {
        assert_eq!(neighbors(0.1, 4.0, &[]).state, CheckState::Good);
        assert_eq!(neighbors(0.4, 4.0, &[]).state, CheckState::Note);
        let busy = neighbors(2.0, 4.0, &["cc 5".to_owned()]);
        assert_eq!(busy.state, CheckState::Warning);
        assert!(busy.found.contains("cc 5"));
        assert_eq!(steal(0.05).state, CheckState::Warning);
    }
}

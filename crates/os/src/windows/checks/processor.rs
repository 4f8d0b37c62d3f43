//! CPUs, and the clock that times launches.

use super::Outcome;
use crate::windows::clock::{Instant, ticks_per_second};
use crate::windows::{host, under_wine};
use model::Check;
use model::figures::count;

/// How many of the machine's CPUs may be used.
pub(super) fn affinity() -> Check {
    let (allowed, online) = (host::allowed_cpus().len() as u32, host::machine().cpus);
    let outcome = match under_wine::version() {
        Some(_) => beside_server(allowed, online, host::quiet_cpu()),
        None => usable(allowed, online),
    };
    outcome.named("cpus")
}

/// Under Wine, whose server answers most system calls. The effect was measured with a program of 10 DLLs, ninja, ruff
/// and ripgrep.
fn beside_server(allowed: u32, online: u32, cpu: u32) -> Outcome {
    let found = format!("{allowed} of {online} CPUs may be used");
    if allowed <= 1 {
        return Outcome::good(
            found,
            "Wine's server answers fastest if it may use only this CPU, too",
        );
    }
    Outcome::note(
        found,
        "if Wine's server runs on another CPU than the program, launches take longer and vary \
         more, above all under a debugger",
    )
    .remedy(format!("wineserver -w; taskset -c {cpu} wine headstart.exe …"))
}

fn usable(allowed: u32, online: u32) -> Outcome {
    let found = format!("{allowed} of {online} CPUs may be used");
    if allowed > 1 {
        return Outcome::good(
            found,
            "the launch has a CPU to itself while headstart runs on another",
        );
    }
    let effect = "headstart and the launch share one CPU and disturb each other";
    let outcome = Outcome::warning(found, effect);
    match online {
        0 | 1 => outcome,
        // The first CPUs, as many as there are in a group.
        _ => outcome.remedy(format!("start /affinity {:x} cmd", (1_u128 << online.min(64)) - 1)),
    }
}

/// How fine the clock is, and what reading it costs.
pub(super) fn clock() -> Check {
    const READS: u32 = 1000;
    let start = Instant::now();
    for _ in 0..READS {
        std::hint::black_box(Instant::now());
    }
    let ns = Instant::now().us_since(start) * 1000.0 / f64::from(READS);
    timed(ns, ticks_per_second()).named("clock")
}

fn timed(ns: f64, per_second: u64) -> Outcome {
    let ticks = count(per_second);
    let found =
        format!("QueryPerformanceCounter: {ticks} ticks per second; reading it takes {ns:.0} ns");
    if per_second < 1_000_000 {
        Outcome::warning(found, "launches are timed in steps of more than a microsecond")
    } else if ns >= 1000.0 {
        Outcome::note(found, "reading the clock is slow, and each launch includes two readings")
    } else {
        Outcome::good(found, "the cost of time stamps is negligible")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::CheckState;

    #[test]
    fn one_cpu_is_shared() {
        assert_eq!(usable(4, 8).named("").state, CheckState::Good);
        let one = usable(1, 8).named("");
        assert_eq!((one.state, &*one.remedy), (CheckState::Warning, "start /affinity ff cmd"));
        assert_eq!(usable(1, 1).named("").remedy, "");
    }

    #[test]
    fn wine_and_its_server_do_best_on_one_cpu() {
        let two = beside_server(2, 2, 1).named("");
        assert_eq!(two.state, CheckState::Note);
        assert_eq!(two.remedy, "wineserver -w; taskset -c 1 wine headstart.exe …");
        assert_eq!(beside_server(1, 2, 1).named("").state, CheckState::Good);
    }

    #[test]
    fn a_coarse_clock_is_a_warning() {
        assert_eq!(timed(25.0, 10_000_000).named("").state, CheckState::Good);
        assert_eq!(timed(25.0, 1000).named("").state, CheckState::Warning);
        assert_eq!(timed(2500.0, 10_000_000).named("").state, CheckState::Note);
    }
}

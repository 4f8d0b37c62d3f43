//! glibc's own times (`LD_DEBUG=statistics`), made trustworthy: an oracle for what the log tells.
//!
//! Some glibc versions (2.36 among them) lose the last digit of every cycle count
//! (`sysdeps/generic/hp-timing-common.h` overwrites it), so the counts are ten times too small.
//! Which kind this is follows from the launches themselves: if even ten times the printed cycles
//! fit into the time from the launch to the moment of printing, a digit is missing. That holds
//! as long as the loader's share of that time is above one tenth.

use model::{Command, LoaderLine, Reading};
use os::LaunchError;
use os::attend::AttendOptions;
use os::clock::Instant;
use os::cpuid::cycles;
use os::loader_log::record;

/// The loader's account of one process image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProcessStatistics {
    /// Process.
    pub pid: u32,
    /// When the account was printed, since the start of the launch: just before initializers.
    pub printed_at_us: f64,
    /// From the loader's first instruction to the printing.
    pub total_us: f64,
    /// Relocating and binding.
    pub relocation_us: f64,
    /// Finding and mapping libraries.
    pub load_us: f64,
    /// Symbolic relocations.
    pub relocations: u64,
    /// Relative relocations.
    pub relative_relocations: u64,
}

/// The accounts of several launches.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// What the printed cycles were multiplied by: 1, or 10 where glibc loses a digit.
    pub factor: u32,
    /// Cycles per microsecond.
    pub cycles_per_us: f64,
    /// One entry a launch: its process images in order of printing.
    pub launches: Vec<Vec<ProcessStatistics>>,
}

/// Launches `command` `runs` times with `LD_DEBUG=statistics`.
///
/// Unavailable where no glibc loader reports (musl, static, set-user-id programs).
///
/// # Errors
/// As [`record`].
pub fn statistics(
    command: &Command,
    runs: u32,
    options: &AttendOptions,
) -> Result<Reading<Statistics>, LaunchError> {
    let cycles_per_us = cycles_per_us();
    let mut launches = Vec::new();
    for _ in 0..runs {
        launches.push(parse(&record(command, "statistics", options)?.lines));
    }
    if launches.iter().all(Vec::is_empty) {
        let reason = "no glibc loader reported: the program is static, uses another C library, or \
             is set-user-ID";
        return Ok(Reading::unavailable(reason, ""));
    }
    let factor = factor(&launches, cycles_per_us);
    for entry in launches.iter_mut().flatten() {
        let scale = |cycles: &mut f64| *cycles *= f64::from(factor) / cycles_per_us;
        scale(&mut entry.total_us);
        scale(&mut entry.relocation_us);
        scale(&mut entry.load_us);
    }
    Ok(Reading::Value(Statistics { factor, cycles_per_us, launches }))
}

/// Process images of one log; times are still the printed cycles.
fn parse(lines: &[LoaderLine]) -> Vec<ProcessStatistics> {
    let mut found: Vec<ProcessStatistics> = Vec::new();
    for line in lines {
        let Some((label, rest)) = line.text.split_once(": ") else { continue };
        let Some(number) = rest.split_whitespace().next().and_then(|word| word.parse::<u64>().ok())
        else {
            continue;
        };
        if label == "total startup time in dynamic loader" {
            found.push(ProcessStatistics {
                pid: line.pid,
                printed_at_us: line.at_us,
                total_us: number as f64,
                relocation_us: 0.0,
                load_us: 0.0,
                relocations: 0,
                relative_relocations: 0,
            });
            continue;
        }
        let Some(entry) = found.iter_mut().rev().find(|entry| entry.pid == line.pid) else {
            continue;
        };
        match label {
            "time needed for relocation" => entry.relocation_us = number as f64,
            "time needed to load objects" => entry.load_us = number as f64,
            "number of relocations" => entry.relocations = number,
            "number of relative relocations" => entry.relative_relocations = number,
            _ => {}
        }
    }
    found
}

/// 10 where the printed cycles lack a digit. The launch that was disturbed least, which is the
/// one that printed soonest, is judged by its first image: only its own exec comes before that.
fn factor(launches: &[Vec<ProcessStatistics>], cycles_per_us: f64) -> u32 {
    let firsts = launches.iter().filter_map(|launch| launch.first());
    let soonest = firsts.min_by(|a, b| a.printed_at_us.total_cmp(&b.printed_at_us));
    let fits =
        |entry: &ProcessStatistics| entry.total_us * 10.0 / cycles_per_us <= entry.printed_at_us;
    if soonest.is_some_and(fits) { 10 } else { 1 }
}

/// The rate of the cycle counter that glibc reads (`rdtsc`), against the launch clock.
fn cycles_per_us() -> f64 {
    let (first_cycles, first) = (cycles(), Instant::now());
    std::thread::sleep(std::time::Duration::from_millis(20));
    let (last_cycles, last) = (cycles(), Instant::now());
    last_cycles.saturating_sub(first_cycles) as f64 / last.us_since(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use os::program::resolve;

    fn line(text: &str) -> LoaderLine {
        LoaderLine { pid: 5, at_us: 100.0, text: text.to_owned() }
    }

    #[test]
    fn reads_a_block_and_ignores_the_final_one() {
        let found = parse(&[
            line("runtime linker statistics:"),
            line("total startup time in dynamic loader: 126388 cycles"),
            line("time needed for relocation: 19674 cycles (15.5%)"),
            line("number of relocations: 87"),
            line("number of relative relocations: 16"),
            line("time needed to load objects: 19663 cycles (15.5%)"),
            line("runtime linker statistics:"),
            line("final number of relocations: 88"),
        ]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].total_us, found[0].relocation_us), (126_388.0, 19_674.0));
        assert_eq!((found[0].relocations, found[0].relative_relocations), (87, 16));
    }

    #[test]
    fn tells_lost_digits_from_full_counts() {
        let mut launch = parse(&[line("total startup time in dynamic loader: 20000 cycles")]);
        assert_eq!(factor(&[launch.clone()], 2500.0), 10, "8 µs of 100 µs: a digit is missing");
        launch[0].total_us = 200_000.0;
        assert_eq!(factor(&[launch], 2500.0), 1, "80 µs of 100 µs: complete");
    }

    #[test]
    fn statistics_are_scaled_to_what_the_launch_can_have_taken() {
        let sh = resolve(&["sh".to_owned(), "-c".to_owned(), ":".to_owned()]).unwrap();
        let Ok(reading) = statistics(&sh, 5, &AttendOptions::default()) else {
            panic!("sh could not be launched")
        };
        let Some(found) = reading.value() else {
            testkit::skip(reading.reason().unwrap_or_default());
            return;
        };
        assert!(found.factor == 1 || found.factor == 10);
        for launch in &found.launches {
            let [process] = launch[..] else { panic!("{launch:?}") };
            assert!(process.total_us <= process.printed_at_us, "{process:?}");
            assert!(process.relocation_us + process.load_us <= process.total_us, "{process:?}");
            assert!(process.relocations > 0);
        }
        // A launch may be held up before its loader starts, but not every one.
        let share = |launch: &Vec<ProcessStatistics>| {
            launch.first().map_or(0.0, |process| process.total_us / process.printed_at_us)
        };
        assert!(found.launches.iter().map(share).any(|share| share > 0.1), "{found:?}");
    }

    #[test]
    fn a_static_program_has_no_account() {
        let Some(cc) = testkit::tool("cc") else { return };
        let folder = tempfile::tempdir().unwrap();
        let source = "int main(void) { return 0; }";
        let program = testkit::compile(&cc, folder.path(), "static", source, &["-static"]);
        let program = resolve(&[program]).unwrap();
        let reading = statistics(&program, 1, &AttendOptions::default()).unwrap();
        assert!(reading.reason().unwrap().contains("static"));
    }
}

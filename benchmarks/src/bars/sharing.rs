//! Memory of processes: sums against smaps_rollup, and the time that four copies take.

use crate::context::Context;
use crate::report::{Report, Row};
use crate::statistics::median;
use anyhow::{Context as _, Result, anyhow, ensure};
use model::{MemoryFigures, SharingReport};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Four copies of it, in seconds at most.
const TIMED: [&str; 2] = ["inkscape", "--shell"];
const MOST_S: f64 = 2.0;
const ROUNDS: usize = 7;
/// Programs that wait for input.
const WAITING: [&[&str]; 4] = [
    &TIMED,
    &["emacs", "--batch", "-Q", "--eval", "(sleep-for 1000)"],
    &["node"],
    &["python3", "-i"],
];

/// # Errors
/// A program cannot be started, or headstart fails.
pub fn check(context: &Context) -> Result<Report> {
    // As long as this lives, nothing is shared with headstart alone.
    let _mapped = own_libraries_mapped()?;
    let mut rows = Vec::new();
    for command in WAITING {
        rows.push(sums(context, command)?);
    }
    let mut seconds = Vec::new();
    for _ in 0..ROUNDS {
        let started = Instant::now();
        let report = copies(context, &TIMED)?;
        seconds.push(started.elapsed().as_secs_f64());
        ensure!(report.processes.len() == 4, "there are {} copies", report.processes.len());
        ensure!(report.processes.iter().all(|one| one.agrees == Some(true)), "sums differ");
    }
    let time = median(seconds.clone());
    rows.push(Row::bar("4 × inkscape --shell", format!("{time:.2} s"), "< 2 s", time < MOST_S));
    Ok(Report { rows })
}

/// Maps all pages of this program's libraries, which are those of headstart, too. Pages that only
/// headstart maps beside a process are shared while it looks, and private when it has ended.
fn own_libraries_mapped() -> Result<Vec<impl Sized>> {
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    let names = maps.lines().filter_map(|line| line.split_once('/').map(|(_, name)| name));
    let paths: BTreeSet<PathBuf> = names.map(|name| Path::new("/").join(name)).collect();
    let libraries = paths.iter().filter(|path| path.to_string_lossy().contains(".so"));
    let mapped = libraries.map(|path| {
        let map = files::map(path).map_err(|error| anyhow!("{}: {error:?}", path.display()))?;
        let map = map.with_context(|| format!("{} is empty", path.display()))?;
        // Every page is touched.
        std::hint::black_box(map.1.iter().step_by(4096).fold(0_u8, |sum, byte| sum ^ byte));
        Ok(map)
    });
    mapped.collect()
}

fn copies(context: &Context, command: &[&str]) -> Result<SharingReport> {
    context.headstart.json(&[&["sharing", "--json", "--copies", "4", "--"], command].concat())
}

/// One process that waits: its totals, and what the kernel says.
fn sums(context: &Context, command: &[&str]) -> Result<Row> {
    let mut child = waiting(command)?;
    let pid = child.id().to_string();
    let report = context.headstart.json::<SharingReport>(&["sharing", "--json", &pid]);
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup"));
    child.kill()?;
    child.wait()?;
    let (report, rollup) = (report?, rollup?);
    let kib = |name: &str| -> u64 {
        let line = rollup.lines().find_map(|line| line.strip_prefix(name)?.strip_suffix("kB"));
        line.and_then(|kib| kib.trim().parse().ok()).unwrap_or(u64::MAX)
    };
    let memory = &report.totals.figures.memory;
    let private = kib("Private_Clean:").saturating_add(kib("Private_Dirty:"));
    let shared = kib("Shared_Clean:").saturating_add(kib("Shared_Dirty:"));
    let expected = [kib("Rss:"), private, shared, kib("Anonymous:"), kib("Swap:")];
    let found =
        [memory.rss_kib, memory.private_kib, memory.shared_kib, memory.copied_kib, memory.swap_kib];
    let good = found == expected && are_whole(&report);
    let value = format!("{} of {} KiB", memory.rss_kib, expected[0]);
    Ok(Row::bar(format!("{}: sum of all parts", command[0]), value, "smaps_rollup", good))
}

/// Whether sections sum up to modules, and modules and the rest to the totals.
fn are_whole(report: &SharingReport) -> bool {
    let mut all = MemoryFigures::default();
    let mut whole = true;
    for module in &report.modules {
        let mut sections = MemoryFigures::default();
        module.sections.iter().for_each(|section| sections += section.memory);
        whole &= sections == module.figures.memory;
        all += sections;
    }
    report.rest.iter().for_each(|rest| all += rest.figures.memory);
    whole && all == report.totals.figures.memory
}

/// Starts it and waits until it uses no CPU.
fn waiting(command: &[&str]) -> Result<Child> {
    let (program, arguments) = command.split_first().context("no command")?;
    let mut child = Command::new(program);
    child.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = child.spawn().with_context(|| format!("{program} cannot be started"))?;
    let stat = format!("/proc/{}/stat", child.id());
    let used = || std::fs::read_to_string(&stat).unwrap_or_default();
    let mut before = String::new();
    loop {
        std::thread::sleep(Duration::from_millis(500));
        let now = used();
        if now == before {
            return Ok(child);
        }
        before = now;
    }
}

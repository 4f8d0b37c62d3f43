//! Other tools that read ahead, in turns with headstart.

use super::bed::{Bed, Place, is_there};
use super::speed::interleaved;
use super::tasks::{STARTS, Task};
use super::ways::{PackMode, Way};
use crate::cold_lab::run;
use crate::report::Row;
use anyhow::{Context as _, Result};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Path of ureadahead, which Debian does not package.
const UREADAHEAD_VARIABLE: &str = "HEADSTART_UREADAHEAD";
const ROUNDS: usize = 7;
const LEAST_UREADAHEAD: f64 = 1.25;
const LEAST_VMTOUCH: f64 = 2.0;
/// ureadahead traces this long; the longest cold start takes half of it.
const TRACED_S: u32 = 2;
/// It is ready to trace by then.
const TRACING: Duration = Duration::from_millis(300);

/// The program, where there is one.
pub fn ureadahead() -> Option<String> {
    std::env::var(UREADAHEAD_VARIABLE).ok().filter(|path| is_there(path))
}

/// Starts on this disk.
pub fn rows(bed: &mut Bed) -> Result<Vec<Row>> {
    let tasks: Vec<&Task> = STARTS.iter().collect();
    bed.record(&tasks, Place::ThisDisk)?;
    bed.go_to(Place::ThisDisk)?;
    let mut ways = vec![Way::Cold, Way::Prefetched, Way::Touched];
    let packed = [PackMode::Flash, PackMode::Disk].map(Way::Packed);
    if let Some(tool) = ureadahead() {
        for task in &tasks {
            pack(bed, task, &tool).with_context(|| format!("ureadahead of {}", task.name))?;
        }
        ways.extend(packed);
    }
    let times = interleaved(bed, &tasks, &ways, ROUNDS)?;
    let gain = |way| format!("{:.2}", times.ratio(Way::Cold, way));
    let row = |figure: &str, way, least: f64| {
        let ratio = times.ratio(way, Way::Prefetched);
        let bar = format!("≥ {least}");
        let gains = format!("gains {} and {}", gain(way), gain(Way::Prefetched));
        Row::bar(figure, format!("{ratio:.2}"), &bar, ratio >= least).beside(gains)
    };
    let mut rows = vec![row("vmtouch -t ÷ headstart", Way::Touched, LEAST_VMTOUCH)];
    if ways.len() > 3 {
        let better = packed.into_iter().min_by(|a, b| {
            times.ratio(*a, Way::Prefetched).total_cmp(&times.ratio(*b, Way::Prefetched))
        });
        let way = better.unwrap_or(packed[0]);
        rows.push(row(&format!("ureadahead ÷ headstart, {way:?}"), way, LEAST_UREADAHEAD));
    } else {
        let what = format!("NOT MEASURED: set {UREADAHEAD_VARIABLE} to a built ureadahead");
        println!("\n{what}\n");
        rows.push(Row::bar("ureadahead ÷ headstart", what, "≥ 1.25", false));
    }
    Ok(rows)
}

/// Has ureadahead trace a cold launch, once for each mode.
fn pack(bed: &mut Bed, task: &Task, tool: &str) -> Result<()> {
    for mode in [PackMode::Flash, PackMode::Disk] {
        bed.forget()?;
        let file = bed.pack_of(task, mode);
        let mut trace = Command::new(tool);
        trace.arg(mode.option()).arg("--force-trace").arg(format!("--timeout={TRACED_S}"));
        trace.arg(format!("--pack-file={file}")).stdout(Stdio::null()).stderr(Stdio::null());
        let mut tracing = trace.spawn().with_context(|| tool.to_owned())?;
        std::thread::sleep(TRACING);
        run(&mut bed.command(&bed.program_words(task)))?;
        tracing.wait()?;
        anyhow::ensure!(is_there(&file), "it has made no {file}");
    }
    Ok(())
}

impl PackMode {
    /// The option of ureadahead.
    pub fn option(self) -> &'static str {
        match self {
            PackMode::Flash => "--force-ssd-mode",
            PackMode::Disk => "--force-hdd-mode",
        }
    }
}

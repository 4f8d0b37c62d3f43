//! Neither what headstart holds in memory nor an earlier program shows in the figures.

use crate::context::Context;
use crate::report::{Report, Row};
use crate::statistics::median;
use crate::subjects::c_programs::{BARE, Bare, NOOP, STATIC, build};
use anyhow::{Context as _, Result, ensure};
use model::{Ending, Results, Until};
use os::launcher::{Configuration, LaunchSpec, Launcher, Slot, Stdio};
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

const ROUNDS: usize = 2000;
const MOST_SLOWER: f64 = 1.2;
const HELD_MIB: u32 = 1024;
/// A program whose peak is 300 MiB.
const LARGE: &str = "sh -c 'head -c 400000000 /dev/zero | tail -c 314572800'";
/// Readings of one program differ by some pages: where its stack and heap begin is random.
const SAME_KIB: u64 = 200;

/// Launches from the library's launcher, then peak sizes by the command.
///
/// # Errors
/// A launch fails.
pub fn check(context: &Context) -> Result<Report> {
    let noop = build(&context.scratch, "noop", NOOP, &STATIC)?;
    let mut rows = vec![held(context, &noop)?];
    rows.extend(peak(context)?);
    Ok(Report { rows })
}

/// A launcher with its prepared program.
struct Bench {
    launcher: Launcher,
    slot: Slot,
    spec: LaunchSpec,
}

impl Bench {
    fn new(program: &Path, cpu: u32) -> Result<Self> {
        let mut launcher = Launcher::start()?;
        launcher.configure(Configuration { cpu: Some(cpu), realtime: false })?;
        let argv = [program.to_str().context("a path that is not UTF-8")?.to_owned()];
        let command = os::program::resolve(&argv)?;
        let slot = launcher.prepare(&command, &Stdio::null()?, &[])?;
        let (timeout, grace) = (Duration::from_secs(10), Duration::from_secs(1));
        let spec = LaunchSpec { until: Until::Exit, timeout, grace };
        Ok(Bench { launcher, slot, spec })
    }

    fn launch_us(&mut self) -> Result<f64> {
        let launch = self.launcher.launch(self.slot, &self.spec)?;
        ensure!(launch.ending == Ending::Code(0), "the program ended with {:?}", launch.ending);
        Ok(launch.total_us)
    }
}

/// A launcher that was started before there was anything to hold, against one that holds 1 GiB.
fn held(context: &Context, noop: &Path) -> Result<Row> {
    let mut small = Bench::new(noop, context.cpu)?;
    let ballast = vec![1_u8; (HELD_MIB as usize) << 20];
    let mut large = Bench::new(noop, context.cpu)?;
    black_box(&ballast);
    let (mut small_us, mut large_us) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        if round % 2 == 0 {
            small_us.push(small.launch_us()?);
        }
        large_us.push(large.launch_us()?);
        if round % 2 == 1 {
            small_us.push(small.launch_us()?);
        }
    }
    drop(ballast);
    let (small, large) = (median(small_us), median(large_us));
    let ratio = large / small;
    let figure = format!("holding 1 GiB ÷ nothing ({large:.1} µs ÷ {small:.1} µs)");
    let row = Row::bar(figure, format!("{ratio:.2}"), "≤ 1.2", ratio <= MOST_SLOWER);
    Ok(row.beside(format!("fork {:.0}", forked(context, noop)?)))
}

/// The same ratio of a bare loop that forks, as launchers without vfork or spawn do.
fn forked(context: &Context, noop: &Path) -> Result<f64> {
    let program = build(&context.scratch, "bare", BARE, &["-O2"])?;
    let bare = |mebibytes| Bare { program: &program, cpu: context.cpu, mebibytes, fork: true };
    let large = median(bare(HELD_MIB).times_us(100, noop)?);
    Ok(large / median(bare(0).times_us(100, noop)?))
}

/// Peak size of `/bin/true`, alone and in turns with a program of 300 MiB.
fn peak(context: &Context) -> Result<Vec<Row>> {
    let alone = context.headstart.measure(&["--runs", "20"], &["/bin/true"])?;
    let mixed = context.headstart.compare(&["--runs", "20"], &["/bin/true", LARGE])?;
    let (alone, after, large) = (peak_kib(&alone, 0)?, peak_kib(&mixed, 0)?, peak_kib(&mixed, 1)?);
    Ok(vec![
        Row::bar(
            "peak of the large program",
            format!("{large} KiB"),
            "≥ 300 MiB",
            large >= 300 << 10,
        ),
        Row::bar(
            format!("peak of /bin/true after it (alone {alone} KiB)"),
            format!("{after} KiB"),
            "the same",
            after.abs_diff(alone) <= SAME_KIB,
        ),
    ])
}

fn peak_kib(results: &Results, variant: usize) -> Result<u64> {
    let variant = results.variants.get(variant).context("a variant is missing")?;
    let reason = variant.peak_rss_kib.reason().unwrap_or_default();
    variant.peak_rss_kib.get().with_context(|| format!("no peak RSS: {reason}"))
}

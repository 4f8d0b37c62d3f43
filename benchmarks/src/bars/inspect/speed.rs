//! headstart against readelf on one large image: whole processes, interleaved.

use crate::headstart::Headstart;
use crate::report::Row;
use crate::statistics::median;
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Peak memory that one large image may take.
const MAX_PEAK_KIB: u64 = 100 * 1024;
/// How much faster than readelf a large image must be read.
const MIN_RATIO: f64 = 60.0;

/// Medians of the launches, and headstart's memory.
pub struct Timing {
    image: String,
    pairs: usize,
    headstart_ms: f64,
    readelf_ms: f64,
    /// readelf's median ÷ headstart's median.
    pub ratio: f64,
    /// headstart's peak resident memory, mapped file pages included.
    pub peak_kib: u64,
}

impl Timing {
    /// The figures with their bars.
    pub fn rows(&self) -> Vec<Row> {
        let mib = self.peak_kib as f64 / 1024.0;
        vec![
            Row::bar(
                format!("{}, median of {} pairs", self.image, self.pairs),
                format!("{:.2} ms, {:.0} × faster", self.headstart_ms, self.ratio),
                "≥ 60 ×",
                self.ratio >= MIN_RATIO,
            )
            .beside(format!("readelf {:.0} ms", self.readelf_ms)),
            Row::bar(
                "peak memory",
                format!("{mib:.1} MiB"),
                "≤ 100 MiB",
                self.peak_kib <= MAX_PEAK_KIB,
            ),
        ]
    }
}

/// Runs `pairs` pairs, and a first one that is not counted and reads the file into memory.
pub fn measure(by: &Headstart, image: &Path, pairs: usize) -> Result<Timing> {
    let headstart = by.program.as_path();
    let headstart_ms = || time(headstart, &["inspect", "--json"], image);
    let readelf_ms = || time(Path::new("readelf"), &["-rW", "--dyn-syms"], image);
    headstart_ms()?;
    let peak_kib = peak_kib(by, image)?;
    readelf_ms()?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for pair in 0..pairs {
        if pair % 2 == 0 {
            ours.push(headstart_ms()?);
            theirs.push(readelf_ms()?);
        } else {
            theirs.push(readelf_ms()?);
            ours.push(headstart_ms()?);
        }
    }
    let (headstart_ms, readelf_ms) = (median(ours), median(theirs));
    let ratio = readelf_ms / headstart_ms;
    let image = image.display().to_string();
    Ok(Timing { image, pairs, headstart_ms, readelf_ms, ratio, peak_kib })
}

/// Peak of one launch, median of three: headstart measured by headstart.
fn peak_kib(by: &Headstart, image: &Path) -> Result<u64> {
    let [program, image] = [by.program.as_path(), image].map(|path| path.to_string_lossy());
    let results = by.measure(&["--runs", "3"], &[&program, "inspect", "--json", &image])?;
    let variant = results.variants.first().context("no variant")?;
    variant.peak_rss_kib.get().context("no peak RSS")
}

fn time(program: &Path, arguments: &[&str], image: &Path) -> Result<f64> {
    let mut command = Command::new(program);
    command.args(arguments).arg(image).env("LC_ALL", "C").stdout(Stdio::null());
    let start = Instant::now();
    let status = command.status();
    let elapsed = start.elapsed();
    let status = status.with_context(|| format!("{} cannot be run", program.display()))?;
    ensure!(status.success(), "{} failed on {}", program.display(), image.display());
    Ok(elapsed.as_secs_f64() * 1e3)
}

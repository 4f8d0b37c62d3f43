//! Bundles that read themselves ahead: a cold start against a warm one, at `--version` and at real work.
//!
//! Launches take turns: in each round every bundle is started warm and cold. Cold is after eviction of all
//! files that the launch maps or opens, and for root once more after everything has left memory. What a warm
//! start pays for the list is some microseconds, which differ from none only in the fastest of many starts.

use super::bundle::tasks::{WORKS, Work};
use crate::context::Context;
use crate::report::{Report, Row};
use crate::statistics::median;
use anyhow::{Context as _, Result, bail, ensure};
use os::cache::{drop_all, evict, mapped_files};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const ROUNDS: usize = 15;
/// Cold against warm.
const MOST: f64 = 1.2;
/// What a warm start may take longer than one of a bundle without a list.
const MOST_WARM_US: f64 = 20.0;
/// Warm starts of each bundle for that, and the share of the fastest of which the slowest counts.
const WARM_STARTS: usize = 400;
const FASTEST: f64 = 0.05;
const PROGRAMS: [&str; 3] = ["inkscape", "clang-19", "/usr/lib/chromium/chromium"];

/// One kind of launch of one program.
struct Launch {
    words: Vec<String>,
    /// The folder in which it runs.
    folder: PathBuf,
    run: PathBuf,
    files: Vec<PathBuf>,
}

/// # Errors
/// None: what cannot be measured is a row that fails.
pub fn check(context: &Context) -> Result<Report> {
    let mut rows = Vec::new();
    for name in PROGRAMS {
        let work = WORKS.iter().find(|work| work.program == name);
        for fixed in [false, true] {
            for work in [None, work] {
                match program(context, name, fixed, work) {
                    Ok(found) => rows.extend(found),
                    Err(error) => {
                        rows.push(Row::bar(name, format!("{error:#}"), "measured", false));
                    }
                }
            }
        }
    }
    Ok(Report { rows })
}

fn program(context: &Context, name: &str, fixed: bool, work: Option<&Work>) -> Result<Vec<Row>> {
    let folder = context.scratch.join("bundle-ahead");
    std::fs::create_dir_all(&folder)?;
    let words: Vec<String> = match work {
        None if name.ends_with("chromium") => vec!["--no-sandbox".into(), "--version".into()],
        None => vec!["--version".into()],
        Some(work) => {
            std::fs::write(folder.join(work.input.0), work.input.1)?;
            // Recorded in one folder, and run in another.
            let path = |word: &&str| match folder.join(word) {
                path if *word == work.input.0 => path.display().to_string(),
                _ => (*word).to_owned(),
            };
            work.arguments.iter().map(path).collect()
        }
    };
    // What a recorded launch writes into its folder is removed with it.
    let recorded = folder.join("recorded");
    std::fs::create_dir_all(&recorded)?;
    std::env::set_current_dir(&recorded)?;
    let [ahead, plain] =
        [true, false].map(|ahead| made(context, &folder, name, fixed, &words, ahead));
    let (ahead, plain) = (ahead?, plain?);
    let kind = if fixed { " --fixed" } else { "" };
    let what = work.map_or("--version", |work| work.arguments[0]);
    let figure = format!("{name}, bundle{kind}, {what}");
    let mut rows = measured(&ahead, &plain, &figure)?;
    rows.extend(work.is_none().then(|| paid_warm(&ahead, &plain, &figure)).transpose()?);
    std::env::set_current_dir(&context.scratch)?;
    std::fs::remove_dir_all(&folder)?;
    Ok(rows)
}

fn made(
    context: &Context,
    folder: &Path,
    name: &str,
    fixed: bool,
    words: &[String],
    ahead: bool,
) -> Result<Launch> {
    let out = folder.join(if ahead { "ahead" } else { "plain" });
    let place = out.display().to_string();
    let mut line = vec!["bundle", "--out", &place];
    line.extend(fixed.then_some("--fixed"));
    line.extend(ahead.then_some(["--prefetch", "auto"]).iter().flatten());
    line.extend(["--", name]);
    line.extend(ahead.then_some(words).iter().copied().flatten().map(String::as_str));
    context.headstart.run(&line)?;
    let run = out.join("run");
    let program = run.display().to_string();
    let command = os::program::resolve(&[&[program], words].concat())?;
    let files = mapped_files(&command, &Default::default())?.files;
    Ok(Launch { words: words.to_vec(), folder: folder.to_owned(), run, files })
}

impl Launch {
    /// In microseconds.
    fn time_us(&self) -> Result<f64> {
        // Programs that keep a profile are to begin with none.
        let profile = self.folder.join("profile");
        if profile.exists() {
            std::fs::remove_dir_all(&profile)?;
        }
        let mut command = Command::new(&self.run);
        command.args(&self.words).current_dir(&self.folder).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let start = Instant::now();
        let status = command.status().with_context(|| self.run.display().to_string())?;
        let time = start.elapsed();
        if !status.success() {
            bail!("{} ends with {status}", self.run.display());
        }
        Ok(time.as_secs_f64() * 1e6)
    }

    fn cold_us(&self) -> Result<f64> {
        let mut failed = evict(&self.files).failed;
        // The files of a profile have gone with it.
        failed.retain(|(_, error)| error.kind() != ErrorKind::NotFound);
        ensure!(failed.is_empty(), "not evicted: {failed:?}");
        self.time_us()
    }
}

fn measured(ahead: &Launch, plain: &Launch, figure: &str) -> Result<Vec<Row>> {
    let mut times: [Vec<f64>; 5] = Default::default();
    for _ in 0..ROUNDS {
        times[0].push(plain.cold_us()?);
        times[1].push(plain.time_us()?);
        times[2].push(ahead.cold_us()?);
        times[3].push(ahead.time_us()?);
        if drop_all().is_ok() {
            times[4].push(ahead.time_us()?);
        }
    }
    let dropped = !times[4].is_empty();
    let [plain_cold, plain_warm, cold, warm, all] = times.map(median);
    let ms = |us: f64| format!("{:.1} ms", us / 1e3);
    let ratio = cold / warm;
    let mut rows = vec![
        Row::bar(
            format!("{figure}: cold ÷ warm"),
            format!("{ratio:.2}, {} and {}", ms(cold), ms(warm)),
            &format!("≤ {MOST}"),
            ratio <= MOST,
        )
        .beside(format!(
            "without a list {:.2}, {}",
            plain_cold / plain_warm,
            ms(plain_cold)
        )),
    ];
    if dropped {
        let value = format!("{:.2}, {}", all / warm, ms(all));
        rows.push(Row::shown(format!("{figure}: all dropped ÷ warm"), value));
    }
    Ok(rows)
}

/// What a warm start of the bundle with a list takes longer than that of the one without, beside what two kinds
/// of starts of one bundle differ by.
fn paid_warm(ahead: &Launch, plain: &Launch, figure: &str) -> Result<Row> {
    let mut times: [Vec<f64>; 3] = Default::default();
    let launches = [ahead, plain, plain];
    for start in 0..WARM_STARTS {
        for turn in 0..launches.len() {
            let which = (start + turn) % launches.len();
            times[which].push(launches[which].time_us()?);
        }
    }
    let [listed, plain, again] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[(times.len() as f64 * FASTEST) as usize]
    });
    let more = listed - plain;
    Ok(Row::bar(
        format!("{figure}: a warm start takes longer by"),
        format!("{more:.0} µs"),
        &format!("≤ {MOST_WARM_US} µs"),
        more <= MOST_WARM_US,
    )
    .beside(format!("one bundle twice {:.0} µs", again - plain)))
}

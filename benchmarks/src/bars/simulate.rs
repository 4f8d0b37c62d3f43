//! The simulated loader binds as glibc's own does: every program of /usr/bin, without running it.

use crate::context::Context;
use crate::headstart::Headstart;
use crate::report::{Report, Row};
use crate::statistics::median;
use crate::subjects::every_program::{is_dynamic, programs};
use anyhow::{Context as _, Result};
use loader::log::{LoggedBinding, bound};
use model::simulation::{BoundReference, Simulation};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const FOLDER: &str = "/usr/bin";
const MOST_LIBRARIES: usize = 200;
/// Programs whose figures are told apart.
const KNOWN: [&str; 8] =
    ["inkscape", "chromium", "clang-19", "emacs", "gdb", "git", "python3", "soffice.bin"];
/// Where programs are that /usr/bin has scripts for.
const ASIDE: [&str; 3] = [FOLDER, "/usr/lib/chromium", "/usr/lib/libreoffice/program"];
const MOST_MS: f64 = 70.0;
const LAUNCHES: usize = 15;

/// Sweeps the folder, and looks at the large programs.
///
/// # Errors
/// The folder cannot be read.
pub fn check(context: &Context) -> Result<Report> {
    let mut found = known();
    found.extend(programs(Path::new(FOLDER))?);
    let outcomes: Vec<(PathBuf, Outcome)> =
        found.par_iter().map(|path| (path.clone(), compare(&context.headstart, path))).collect();
    let mut rows = Vec::new();
    for (path, outcome) in outcomes.iter().take(known().len()) {
        let name = path.display().to_string();
        match outcome {
            Outcome::Compared { bindings, wrong, .. } => {
                let value = format!("{} wrong of {bindings}", wrong.len());
                rows.push(Row::bar(
                    format!("{name}: bindings"),
                    value,
                    "0 wrong",
                    wrong.is_empty(),
                ));
            }
            Outcome::Left(why) => rows.push(Row::shown(name, why.clone())),
        }
    }
    rows.extend(sweep(&outcomes));
    rows.push(time(&context.headstart)?);
    Ok(Report { rows })
}

enum Outcome {
    Compared { bindings: usize, wrong: Vec<String> },
    Left(String),
}

fn sweep(outcomes: &[(PathBuf, Outcome)]) -> Vec<Row> {
    let (mut programs, mut all) = (0, 0);
    let mut broken = Vec::new();
    let mut left = BTreeMap::<&str, Vec<String>>::new();
    for (path, outcome) in outcomes {
        match outcome {
            Outcome::Compared { bindings, wrong } => {
                programs += 1;
                all += bindings;
                if let Some(first) = wrong.first() {
                    broken.push(format!("{}: {first}", path.display()));
                }
            }
            Outcome::Left(why) => left.entry(why).or_default().push(path.display().to_string()),
        }
    }
    let value = format!("{} wrong of {programs}, {all} bindings", broken.len());
    let good = broken.is_empty() && programs > 0;
    let mut rows = vec![Row::bar("programs of /usr/bin", value, "0 wrong", good)];
    rows.extend(broken.into_iter().take(10).map(|text| Row::shown(text, String::new())));
    rows.extend(left.into_iter().map(|(why, programs)| {
        let why: String = why.chars().take(70).collect();
        let some = programs.iter().take(3).cloned().collect::<Vec<String>>().join(", ");
        Row::shown(format!("left out: {some}: {why}"), programs.len().to_string())
    }));
    rows
}

fn known() -> Vec<PathBuf> {
    let place = |name: &&str| {
        let places = ASIDE.iter().map(|folder| Path::new(folder).join(name));
        places.filter_map(|path| path.canonicalize().ok()).find(|path| is_dynamic(path))
    };
    KNOWN.iter().filter_map(place).collect()
}

fn compare(headstart: &Headstart, path: &Path) -> Outcome {
    let name = path.display().to_string();
    let simulated: Result<Simulation> =
        headstart.json(&["simulate", "--json", "--bind-now", "--bindings", &name]);
    let simulated = match simulated {
        Ok(simulated) => simulated,
        Err(error) => {
            let text = format!("{error:#}").replace(&name, "it");
            return Outcome::Left(
                text.rsplit("headstart: ").next().unwrap_or("").trim().to_owned(),
            );
        }
    };
    if simulated.modules.len() > MOST_LIBRARIES {
        return Outcome::Left(format!("more than {MOST_LIBRARIES} libraries"));
    }
    let own: BTreeSet<LoggedBinding> = simulated
        .bindings
        .into_iter()
        .filter(|bound| bound.object != simulated.interpreter)
        .filter_map(|bound| {
            let BoundReference { object, symbol, version, definer } = bound;
            Some(LoggedBinding {
                object,
                symbol,
                version: version.unwrap_or_default(),
                definer: definer?,
            })
        })
        .collect();
    match real(path) {
        Ok(real) => {
            let difference = |a: &BTreeSet<LoggedBinding>,
                              b: &BTreeSet<LoggedBinding>,
                              what: &str|
             -> Vec<String> {
                let only = a.difference(b);
                only.map(|bound| format!("{what}: {bound:?}")).collect()
            };
            let mut wrong = difference(&own, &real, "simulated only");
            wrong.extend(difference(&real, &own, "real only"));
            Outcome::Compared { bindings: real.len(), wrong }
        }
        Err(error) => Outcome::Left(format!("{error:#}")),
    }
}

/// What the loader binds where it only lists and relocates, and runs nothing, as `ldd -r` does.
fn real(path: &Path) -> Result<BTreeSet<LoggedBinding>> {
    let folder = tempfile::tempdir()?;
    let mut command = Command::new(path);
    for (name, value) in [
        ("LD_TRACE_LOADED_OBJECTS", "1"),
        ("LD_WARN", "1"),
        ("LD_BIND_NOW", "1"),
        ("LD_DEBUG", "bindings"),
    ] {
        command.env(name, value);
    }
    command.env("LD_DEBUG_OUTPUT", folder.path().join("log"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().context("it cannot be started")?;
    let log = folder.path().join(format!("log.{}", child.id()));
    child.wait()?;
    let log = std::fs::read(log).context("the loader wrote no log")?;
    let log = String::from_utf8_lossy(&log);
    Ok(log.lines().filter_map(bound).collect())
}

/// The whole process on the program with the most libraries of those above.
fn time(headstart: &Headstart) -> Result<Row> {
    let run = || -> Result<(f64, usize)> {
        let start = Instant::now();
        let simulation: Simulation = headstart.json(&["simulate", "--json", "inkscape"])?;
        Ok((start.elapsed().as_secs_f64() * 1e3, simulation.modules.len()))
    };
    let (_, modules) = run()?;
    let times: Result<Vec<f64>> = (0..LAUNCHES).map(|_| Ok(run()?.0)).collect();
    let ms = median(times?);
    let figure = format!("simulate inkscape, {modules} modules, median of {LAUNCHES}");
    Ok(Row::bar(figure, format!("{ms:.0} ms"), "≤ 70 ms", ms <= MOST_MS))
}

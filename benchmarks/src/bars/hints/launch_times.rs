//! Launches of a program that imports 5,000 functions from each of ten libraries.

use crate::bars::wine::launches;
use crate::bars::wine::rewritten::{HINTS, ORDINAL, Step, Variant, variants};
use crate::context::Context;
use crate::report::Row;
use crate::statistics::{least, median};
use anyhow::{Context as _, Result};
use os::wine::Wine;
use std::path::PathBuf;

const ROUNDS: usize = 61;
/// Libraries at bases of their own, so that it is not relocations that are timed.
const SIZE: [&str; 8] =
    ["--dlls", "10", "--functions", "5000", "--hints", "zero", "--bases", "chosen"];
const PROGRAM: &str = "LoadTimeTest.exe";
const WAYS: [(&str, &[Step]); 3] =
    [("hints all zero", &[]), ("hints repaired", &[HINTS]), ("by ordinal", &[ORDINAL])];
/// Parts of the launch that have to be saved where Wine maps sections, and does not read all names
/// into memory in any case.
const LEAST_SAVED: [Option<f64>; 3] = [None, Some(0.25), Some(0.35)];
const MAPPED: &str = "4096";
const READ: &str = "512";

/// A row for each way.
pub fn rows(context: &Context) -> Result<Vec<Row>> {
    let wine = Wine::start(Some(context.cpu))?;
    let mut rows = vec![Row::shown("under", wine.version().to_owned())];
    for alignment in [MAPPED, READ] {
        let sets = generated(context, alignment)?;
        let command = |set: &Variant| launches::command(&wine, &set.folder, &[PROGRAM]);
        let commands: Vec<_> = sets.iter().map(command).collect();
        let times = launches::in_turns(context, &commands, ROUNDS)?;
        rows.extend(told(alignment, &sets, &times)?);
    }
    wine.check()?;
    Ok(rows)
}

fn generated(context: &Context, alignment: &str) -> Result<Vec<Variant>> {
    let folder = context.scratch.join(format!("imports-{alignment}"));
    let generated = folder.join("generated");
    let out = generated.display().to_string();
    let words = ["generate", "pietrek", "--format", "pe", "--out", &out];
    let words = [&words[..], &SIZE, &["--file-alignment", alignment]].concat();
    std::fs::create_dir_all(&folder)?;
    context.headstart.run(&words)?;
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&generated)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|ending| ending == "dll" || ending == "exe"));
    variants(context, &folder, &files, &WAYS, &[])
}

fn told(alignment: &str, sets: &[Variant], times: &[Vec<f64>]) -> Result<Vec<Row>> {
    let first = times.first().context("no times")?;
    let mut rows = Vec::new();
    for ((set, own), bar) in sets.iter().zip(times).zip(LEAST_SAVED) {
        // Launches of one round are compared with each other.
        let saved = 1.0 - median(own.iter().zip(first).map(|(own, first)| own / first).collect());
        let (fastest, middle) = (least(own) / 1e3, median(own.clone()) / 1e3);
        let value = format!("{middle:.1} ms (fastest {fastest:.1}), {:.1} % saved", saved * 100.0);
        let figure = format!("10 × 5,000 imports, {}, FileAlignment {alignment}", set.name);
        rows.push(match bar.filter(|_| alignment == MAPPED) {
            Some(bar) => {
                let text = format!("≥ {:.0} % saved", bar * 100.0);
                Row::bar(figure, value, &text, saved >= bar)
            }
            None => Row::shown(figure, value),
        });
    }
    Ok(rows)
}

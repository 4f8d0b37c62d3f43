//! Recordings of starts against the kernel's own trace of cold launches without read-ahead.

mod overhead;
mod settings;

use super::bed::{Bed, Place, Recorded};
use super::page_cache::{Additions, Page};
use super::speed::geometric_mean;
use super::tasks::{STARTS, Task};
use crate::cold_lab::{Medium, run};
use crate::report::Row;
use crate::statistics::percent;
use anyhow::{Context as _, Result};
use overhead::Overhead;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::process::Stdio;
use std::time::Instant;

const NOBODY: &str = "65534:65534";
const LEAST_RECALL: f64 = 0.995;
const LEAST_PRECISION: f64 = 0.99;
const LEAST_JACCARD: f64 = 0.99;
const LEAST_UNPRIVILEGED: f64 = 0.90;
const MOST_MISSED: f64 = 0.005;
const MOST_OVERHEAD: f64 = 0.05;

/// One row for each figure, the worst program in it, and rows of the settings of the system.
pub fn rows(bed: &mut Bed) -> Result<Vec<Row>> {
    bed.place = Place::Lab(Medium::Plain);
    bed.lab.put_on(Medium::Plain)?;
    let before = settings::now(None)?;
    let mut found = Vec::new();
    for task in &STARTS {
        eprintln!("recorder: {}", task.name);
        let figures = of_task(bed, task).with_context(|| task.name.to_owned())?;
        found.push((task.name, figures));
    }
    let worst = |figure: &str, bar: &str, of: fn(&Figures) -> (f64, bool), lowest: bool| {
        let values = found.iter().map(|(name, figures)| (of(figures).0, *name));
        let worst = match lowest {
            true => values.min_by(|a, b| a.0.total_cmp(&b.0)),
            false => values.max_by(|a, b| a.0.total_cmp(&b.0)),
        };
        let (value, name) = worst.unwrap_or((f64::NAN, "none"));
        let good = found.iter().all(|(_, figures)| of(figures).1);
        let all: Vec<String> = found.iter().map(|(_, figures)| percent(of(figures).0)).collect();
        Row::bar(figure, format!("{} ({name})", percent(value)), bar, good).beside(all.join(", "))
    };
    let mut rows = vec![
        worst("exact: recall", "≥ 99.5 %", |f| (f.recall, f.recall >= LEAST_RECALL), true),
        worst(
            "exact: precision",
            "≥ 99 %",
            |f| (f.precision, f.precision >= LEAST_PRECISION),
            true,
        ),
        worst("two recordings: Jaccard", "≥ 99 %", |f| (f.same, f.same >= LEAST_JACCARD), true),
        worst(
            "pages added after replay",
            "≤ 0.5 %",
            |f| (f.missed, f.missed <= MOST_MISSED),
            false,
        ),
        worst(
            "nobody: recall",
            "≥ 90 %",
            |f| (f.nobody_recall, f.nobody_recall >= LEAST_UNPRIVILEGED),
            true,
        ),
        worst("nobody: precision", "", |f| (f.nobody_precision, true), true),
    ];
    let times: Vec<(&str, Overhead)> =
        found.iter().map(|(name, figures)| (*name, figures.overhead)).collect();
    rows.extend(overhead_rows(&times));
    rows.push(settings::row("read-ahead settings after all recordings", &before, None)?);
    rows.extend(settings::killed(bed, &STARTS[3])?);
    Ok(rows)
}

/// How much longer recorded launches take, and what the same comparison says of launches that differ in
/// nothing.
fn overhead_rows(times: &[(&str, Overhead)]) -> Vec<Row> {
    let mean = |of: fn(&Overhead) -> f64| {
        geometric_mean(&times.iter().map(|(_, time)| of(time)).collect::<Vec<f64>>()) - 1.0
    };
    let beside = |of: fn(&Overhead) -> f64| {
        let each = times.iter().map(|(name, time)| format!("{name} {}", percent(of(time) - 1.0)));
        each.collect::<Vec<String>>().join(", ")
    };
    let worst = times.iter().max_by(|a, b| a.1.recorded.total_cmp(&b.1.recorded));
    let (name, most) = worst.map_or(("none", f64::NAN), |(name, time)| (name, time.recorded - 1.0));
    let value = format!("{} ({name})", percent(most));
    vec![
        Row::bar("overhead", value, "≤ 5 %", most <= MOST_OVERHEAD)
            .beside(beside(|time| time.recorded)),
        Row::shown("overhead, mean of all", percent(mean(|time| time.recorded))),
        Row::shown("the same of two plain launches".to_owned(), percent(mean(|time| time.plain)))
            .beside(beside(|time| time.plain)),
    ]
}

struct Figures {
    recall: f64,
    precision: f64,
    same: f64,
    missed: f64,
    nobody_recall: f64,
    nobody_precision: f64,
    overhead: Overhead,
}

fn of_task(bed: &mut Bed, task: &Task) -> Result<Figures> {
    let truth = demanded(bed, task, &[])?;
    bed.lab.make_writable()?;
    let mut recordings = Vec::new();
    for name in ["first", "second"] {
        let file = format!("/tmp/{name}.rec");
        bed.record_to(task, &file)?;
        recordings.push(bed.recording(&file)?);
    }
    let nobody = as_nobody(bed, task)?;
    let overhead = Overhead::of(bed, task)?;
    let pages: Vec<BTreeSet<Page>> =
        recordings.iter().map(|recording| pages_of(bed, recording)).collect::<Result<_>>()?;
    let nobody = pages_of(bed, &nobody)?;
    let [first, second] = [pages[0].len(), pages[1].len()];
    eprintln!("{}: {} pages demanded, {first} and {second} recorded", task.name, truth.len());
    for recording in &recordings {
        recording
            .notes
            .iter()
            .for_each(|note| eprintln!("{} as {}: {note}", task.name, recording.mode));
    }
    let missed = demanded(bed, task, &recordings[..1])?;
    tell(bed, task, &recordings[0], &missed);
    let share = |of: &BTreeSet<Page>, over: &BTreeSet<Page>| {
        of.intersection(over).count() as f64 / over.len() as f64
    };
    let union = pages[0].union(&pages[1]).count() as f64;
    Ok(Figures {
        recall: share(&pages[0], &truth),
        precision: share(&truth, &pages[0]),
        same: pages[0].intersection(&pages[1]).count() as f64 / union,
        missed: missed.len() as f64 / truth.len() as f64,
        nobody_recall: share(&nobody, &truth),
        nobody_precision: share(&truth, &nobody),
        overhead,
    })
}

/// Pages that a launch brings into memory when read-ahead is off, and nothing is there but what these
/// recordings list.
fn demanded(bed: &mut Bed, task: &Task, before: &[Recorded]) -> Result<BTreeSet<Page>> {
    bed.lab.make_cold(0)?;
    for recording in before {
        read_ranges(bed, recording)?;
    }
    bed.fresh_home(task)?;
    let additions = Additions::begin(bed.lab.major_minor())?;
    launch(bed, task)?;
    additions.end()
}

fn launch(bed: &Bed, task: &Task) -> Result<f64> {
    let mut command = bed.command(&bed.program_words(task));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    let status = command.status()?;
    anyhow::ensure!(status.success(), "{}: {status}", task.name);
    Ok(began.elapsed().as_secs_f64() * 1e3)
}

fn read_ranges(bed: &Bed, recording: &Recorded) -> Result<()> {
    for recorded in &recording.files {
        let file = File::open(bed.outside(&recorded.path))?;
        for range in &recorded.ranges {
            let (offset, length) = *range;
            let mut bytes = vec![0; usize::try_from(length)?];
            file.read_at(&mut bytes, offset)?;
        }
    }
    Ok(())
}

fn pages_of(bed: &Bed, recording: &Recorded) -> Result<BTreeSet<Page>> {
    let mut pages = BTreeSet::new();
    let device = fs::metadata(bed.lab.root())?.dev();
    for recorded in &recording.files {
        // What the launch made itself is gone, and what is on no disk does not count.
        let Ok(metadata) = fs::metadata(bed.outside(&recorded.path)) else { continue };
        if metadata.dev() == device {
            for (offset, length) in &recorded.ranges {
                let numbers = offset / 4096..(offset + length).div_ceil(4096);
                pages.extend(numbers.map(|page| (metadata.ino(), page)));
            }
        }
    }
    Ok(pages)
}

/// Tells of which files pages were added after replay.
fn tell(bed: &Bed, task: &Task, recording: &Recorded, missed: &BTreeSet<Page>) {
    for recorded in &recording.files {
        let Ok(metadata) = fs::metadata(bed.outside(&recorded.path)) else { continue };
        let of_file = missed.range((metadata.ino(), 0)..=(metadata.ino(), u64::MAX));
        let pages: Vec<u64> = of_file.map(|(_, page)| *page).collect();
        if !pages.is_empty() {
            eprintln!("{}: after replay, of {}: {pages:?}", task.name, recorded.path);
        }
    }
}

/// A recording of somebody who may do nothing special.
fn as_nobody(bed: &Bed, task: &Task) -> Result<Recorded> {
    let file = format!("{}/nobody.rec", crate::cold_lab::HOME);
    let headstart = bed.headstart();
    let mut words = vec![headstart.clone(), "record".into(), "--out".into(), file.clone()];
    words.push("--".into());
    words.extend(bed.program_words(task));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    run(&mut bed.lab.command_of(&words, Some(NOBODY)))?;
    // Root does not read what somebody else has recorded.
    let print = [headstart.as_str(), "record", "--json", &file];
    let printed = run(&mut bed.lab.command_of(&print, Some(NOBODY)))?;
    serde_json::from_str(&printed).with_context(|| format!("{file} is printed as: {printed}"))
}

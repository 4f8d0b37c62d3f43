//! The growth laws of glibc's loader, by time and by counted work.

use crate::context::Context;
use crate::headstart::Headstart;
use crate::report::{Report, Row};
use anyhow::Result;
use model::growth::{Fit, Law, Scale};
use std::time::Instant;

/// A sweep has to be over in so many seconds.
const MOST_S: f64 = 60.0;
const REPETITIONS: usize = 20;
/// How far a counted exponent may be from the true one.
const NEAR: f64 = 0.05;

/// Sweeps of shapes whose law follows from what the loader does.
///
/// # Errors
/// A sweep fails.
pub fn check(context: &Context) -> Result<Report> {
    let headstart = &context.headstart;
    let mut rows = Vec::new();
    for (shape, law) in [("dense", Law::Cubic), ("star", Law::Quadratic), ("chain", Law::Quadratic)]
    {
        rows.push(timed(headstart, shape, law)?);
    }
    for (shape, sizes, exponent) in [
        ("dense", "0..256:4", 3.0),
        ("star", "0..1024:4", 2.0),
        ("chain", "0..1024:4", 2.0),
        ("symbols", "0..16384:4", 1.0),
    ] {
        rows.push(counted(headstart, shape, sizes, exponent)?);
    }
    rows.push(pair(headstart)?);
    let symbols = ["scale", "shape", "symbols"];
    rows.push(linear(headstart, "symbols of one library", &symbols)?);
    let relocations =
        ["scale", "pietrek", "--dlls", "1", "--functions", "1000", "--globals", "0..64:8"];
    rows.push(linear(headstart, "RELATIVE relocations", &relocations)?);
    Ok(Report { rows })
}

fn law(scale: &Scale) -> Option<Law> {
    scale.fit.value().map(|fit| fit.law)
}

fn words(scale: &Scale) -> String {
    let told = |fit: &Fit| {
        let law = format!("{:?}", fit.law).to_lowercase();
        let share = fit.share.map_or(String::new(), |share| format!(", {:.0} %", share * 100.0));
        law + &share
    };
    scale.fit.value().map_or("no law".to_owned(), told)
}

fn timed(headstart: &Headstart, shape: &str, wanted: Law) -> Result<Row> {
    let start = Instant::now();
    let scale: Scale = headstart.json(&["scale", "shape", shape, "--json"])?;
    let took_s = start.elapsed().as_secs_f64();
    let good = law(&scale) == Some(wanted) && took_s < MOST_S;
    let value = format!("{}, {took_s:.0} s", words(&scale));
    let bar = format!("{}, < 60 s", format!("{wanted:?}").to_lowercase());
    Ok(Row::bar(format!("{shape}, by time"), value, &bar, good))
}

fn counted(headstart: &Headstart, shape: &str, sizes: &str, wanted: f64) -> Result<Row> {
    let options = ["--n", sizes, "--count", "instructions", "--json"];
    let scale: Scale = headstart.json(&[&["scale", "shape", shape], &options[..]].concat())?;
    let found = scale.fit.value().and_then(|fit| fit.exponent).unwrap_or(f64::NAN);
    let good = (found - wanted).abs() <= NEAR;
    let figure = format!("{shape}, exponent of instructions");
    Ok(Row::bar(figure, format!("{found:.4}"), &format!("{wanted} ± {NEAR}"), good))
}

/// glibc's older and newer way to order initialization, on what is worst for the older.
fn pair(headstart: &Headstart) -> Result<Row> {
    let sorted = |way: &str| -> Result<Scale> {
        let tunable = format!("glibc.rtld.dynamic_sort={way}");
        let headstart = headstart.with("GLIBC_TUNABLES", &tunable);
        headstart.json(&[
            "scale",
            "shape",
            "reverse-chain",
            "--n",
            "0..512:8",
            "--budget",
            "20s",
            "--json",
        ])
    };
    let (older, newer) = (sorted("1")?, sorted("2")?);
    let value = format!("{}; {}", words(&older), words(&newer));
    let good = law(&older) == Some(Law::Cubic) && law(&newer) == Some(Law::Quadratic);
    Ok(Row::bar("dynamic_sort=1; 2, by time", value, "cubic; quadratic", good))
}

/// What grows in a straight line, again and again.
fn linear(headstart: &Headstart, name: &str, sweep: &[&str]) -> Result<Row> {
    let mut more = Vec::new();
    for _ in 0..REPETITIONS {
        let options = ["--budget", "5s", "--json"];
        let scale: Scale = headstart.json(&[sweep, &options].concat())?;
        if matches!(law(&scale), Some(Law::Linearithmic | Law::Quadratic | Law::Cubic)) {
            more.push(words(&scale));
        }
    }
    let value = format!("{} of {REPETITIONS} {}", more.len(), more.join("; "));
    let figure = format!("{name}, called super-linear");
    Ok(Row::bar(figure, value.trim_end().to_owned(), "0 of 20", more.is_empty()))
}

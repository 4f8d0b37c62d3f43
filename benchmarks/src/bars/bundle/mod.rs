//! The bars of bundles and of the other optimizations on large programs: time in the loader, time
//! of the whole process, the preamble, what making a bundle costs, and that real work is the same.
//!
//! How a file was written decides how large its pieces in the page cache are, and large pieces are
//! mapped faster: a bundle, written in large pieces, gains from that too. The row `originals read
//! again` shows how much of the gain that is.

mod loader_time;
mod making;
mod preamble;
mod real_work;
pub mod tasks;
pub mod variants;
mod whole_time;

use crate::context::Context;
use crate::report::{Report, Row};
use anyhow::Result;
use variants::{Made, Subject};

/// A bar on a ratio: variant, and the most that it may be.
type Bar = (&'static str, f64);

/// The programs and their bars.
struct Measured {
    name: &'static str,
    /// The arguments of the measured launches.
    arguments: &'static [&'static str],
    /// On time in the loader.
    loader: &'static [Bar],
    /// On time of the whole process.
    wall: &'static [Bar],
}

const INKSCAPE: Measured = Measured {
    name: "inkscape",
    arguments: &["--version"],
    loader: &[
        ("bundle --fixed", 0.05),
        ("bundle", 0.12),
        ("selfbind + order", 0.65),
        ("order", 0.85),
    ],
    wall: &[("bundle", 0.25), ("bundle --fixed", 0.18)],
};
const CLANG: Measured = Measured {
    name: "clang-19",
    arguments: &["--version"],
    loader: &[("bundle --fixed", 0.08), ("bundle", 0.50)],
    wall: &[("bundle", 0.40), ("bundle --fixed", 0.15)],
};
const CHROMIUM: Measured = Measured {
    name: "/usr/lib/chromium/chromium",
    arguments: &["--version"],
    loader: &[("bundle --fixed", 0.08), ("bundle", 0.42), ("no-pie + order", 0.50)],
    wall: &[("bundle --fixed", 0.10)],
};
/// Bars on `clang -c` of a small file.
const COMPILING: &[Bar] = &[("bundle", 0.65), ("bundle --fixed", 0.40)];
/// Bars on a generated program.
const GENERATED: &[Bar] = &[("bundle --fixed", 0.01), ("bundle", 0.02)];
const LIBRARIES: &str = "500";

/// Makes what is to be measured, and measures. What cannot be measured is a row that fails.
///
/// # Errors
/// None.
pub fn check(context: &Context) -> Result<Report> {
    let mut rows = Vec::new();
    for measured in [INKSCAPE, CLANG, CHROMIUM] {
        part(&mut rows, measured.name, program(context, &measured));
    }
    part(&mut rows, "generated", generated(context));
    part(&mut rows, "preamble", preamble::time().map(|row| vec![row]));
    rows.extend(real_work::rows(context));
    Ok(Report { rows })
}

fn part(rows: &mut Vec<Row>, name: &str, found: Result<Vec<Row>>) {
    match found {
        Ok(found) => rows.extend(found),
        Err(error) => rows.push(Row::bar(name, format!("{error:#}"), "measured", false)),
    }
}

fn program(context: &Context, measured: &Measured) -> Result<Vec<Row>> {
    let Measured { name, arguments, loader, wall } = measured;
    let subject = Subject::make(context, name, &names(measured))?;
    let mut rows = loader_time::rows(context, &subject, arguments, loader)?;
    rows.extend(whole_time::rows(context, &subject, arguments, wall)?);
    rows.extend(preamble::looks(context, &subject)?);
    if *name == CLANG.name {
        rows.extend(whole_time::compiling(context, &subject, COMPILING)?);
        rows.extend(read_again(context, &subject, measured)?);
    }
    if *name == INKSCAPE.name {
        rows.extend(making::rows(context, &subject)?);
    }
    subject.remove()?;
    Ok(rows)
}

/// Variants that have a bar, bundles always among them.
fn names(measured: &Measured) -> Vec<&'static str> {
    let mut names: Vec<&str> =
        measured.loader.iter().chain(measured.wall).map(|bar| bar.0).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The same figures where the kernel has read the originals' files anew.
fn read_again(context: &Context, subject: &Subject, measured: &Measured) -> Result<Vec<Row>> {
    subject.read_originals_again(measured.arguments)?;
    let mut rows = loader_time::rows(context, subject, measured.arguments, &[])?;
    rows.extend(whole_time::rows(context, subject, measured.arguments, &[])?);
    let note = |row: Row| Row { figure: format!("{}, originals read again", row.figure), ..row };
    Ok(rows.into_iter().map(note).collect())
}

fn generated(context: &Context) -> Result<Vec<Row>> {
    let star = ("main", &["shape", "star", "--n", LIBRARIES][..], GENERATED);
    let few = &["pietrek", "--dlls", LIBRARIES, "--functions", "10", "--globals", "1"];
    // These have pointers, in a page of each at least: wherever addresses are random each such
    // page is copied, in a bundle as in the libraries.
    let few = ("LoadTimeTest", &few[..], &[][..]);
    let many = ("LoadTimeTest", &["pietrek", "--dlls", LIBRARIES][..], &[][..]);
    let mut rows = Vec::new();
    for (at, (main, kind, bars)) in [star, few, many].into_iter().enumerate() {
        let out = context.scratch.join(format!("workload-{at}"));
        let folder = out.display().to_string();
        context.headstart.run(&[&["generate"], kind, &["--out", &folder]].concat())?;
        let program = out.join(main).display().to_string();
        let subject = Subject::make(context, &program, &["bundle", "bundle --fixed"])?;
        let called = |row: Row| {
            let figure = row.figure.replace(&program, &kind.join(" "));
            Row { figure, ..row }
        };
        rows.extend(loader_time::rows(context, &subject, &[], bars)?.into_iter().map(called));
        subject.remove()?;
    }
    Ok(rows)
}

/// A figure with its bar where the variant has one.
fn row(figure: String, value: String, ratio: f64, made: &Made, bars: &[Bar]) -> Row {
    match bars.iter().find(|(name, _)| *name == made.name) {
        Some((_, most)) => Row::bar(figure, value, &format!("≤ {most}"), ratio <= *most),
        None => Row::shown(figure, value),
    }
}

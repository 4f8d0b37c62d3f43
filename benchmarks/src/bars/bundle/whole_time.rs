//! Time of the whole process, by `headstart compare`.

use super::variants::Subject;
use super::{Bar, row};
use crate::context::Context;
use crate::report::Row;
use anyhow::{Context as _, Result};
use model::Results;
use std::process::Command;

const RUNS: &str = "31";
const SOURCE: &str = "int printf(const char *, ...);\n\
    static int square(int n) { return n * n; }\n\
    int main(int argc, char **argv) {\n\
    for (int i = 0; i < argc; i++) printf(\"%s %d\\n\", argv[i], square(i)); return 0; }\n";

/// A row for each variant: the paired ratio, which is judged, its interval, and the ratio of the
/// fastest launches.
///
/// # Errors
/// A launch fails.
pub fn rows(
    context: &Context,
    subject: &Subject,
    arguments: &[&str],
    bars: &[Bar],
) -> Result<Vec<Row>> {
    let lines: Vec<String> = subject.all().map(|made| made.line(arguments)).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let cpu = context.cpu.to_string();
    let results = context.headstart.compare(&["--runs", RUNS, "--cpu", &cpu], &lines)?;
    let Results { variants, effects, .. } = &results;
    let base = variants.first().context("no variant")?.summary.min_us;
    let shown = subject.made.iter().zip(variants.iter().skip(1)).zip(effects);
    let shown = shown.map(|((made, variant), effect)| {
        let fastest = variant.summary.min_us / base;
        let [low, high] = [effect.low, effect.high];
        let value = format!("{:.3} [{low:.3}, {high:.3}] (fastest {fastest:.3})", effect.ratio);
        let words = arguments.first().copied().unwrap_or_default();
        let figure = format!("wall, {} {words}, {}", subject.name, made.name);
        row(figure, value, effect.ratio, made, bars)
    });
    Ok(shown.collect())
}

/// `clang -c` of a small file: its time, and that the objects are the same.
///
/// # Errors
/// A compilation fails.
pub fn compiling(context: &Context, subject: &Subject, bars: &[Bar]) -> Result<Vec<Row>> {
    let (source, object) = (context.scratch.join("small.c"), context.scratch.join("small.o"));
    std::fs::write(&source, SOURCE)?;
    let (source, to) = (source.display().to_string(), object.display().to_string());
    let arguments = ["-c", &source, "-o", &to];
    let mut objects = Vec::new();
    for made in subject.all() {
        let output = Command::new(&made.program).args(arguments).output()?;
        let messages = String::from_utf8_lossy(&output.stderr);
        anyhow::ensure!(output.status.success(), "{}: {messages}", made.program.display());
        objects.push(std::fs::read(&object)?);
    }
    let same = objects.windows(2).all(|pair| pair[0] == pair[1]);
    let bytes = format!("{} bytes", objects[0].len());
    let mut all = vec![Row::bar("clang -c, object of each variant", bytes, "the same", same)];
    all.extend(rows(context, subject, &arguments, bars)?);
    Ok(all)
}

//! Workloads are emitted far faster than a compiler builds them, in little memory.

use crate::context::Context;
use crate::report::{Report, Row};
use crate::statistics::median;
use anyhow::{Context as _, Result, ensure};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

const PIETREK: &[&str] = &["pietrek"];
const THOUSAND: &[&str] = &["pietrek", "--dlls", "1000"];
/// 1.28 million functions.
const DAWSON: &[&str] = &["dawson", "--functions", "1600"];
const DAWSON_PE: &[&str] = &["dawson", "--functions", "1600", "--format", "pe"];

/// As the sources were published: so many files, classes in each, functions in each of those.
const SOURCES: f64 = 16.0;
const CLASSES: u32 = 50;
const FUNCTIONS: u32 = 1600;

/// Whole processes, by headstart itself.
///
/// # Errors
/// A generator or a compiler fails.
pub fn check(context: &Context) -> Result<Report> {
    let pietrek = generated(context, PIETREK)?;
    let thousand = generated(context, THOUSAND)?;
    let [elf, pe] = [generated(context, DAWSON)?, generated(context, DAWSON_PE)?];
    let gcc_ms = gcc_ms(context)?;
    let clang_ms = clang_ms(context)?;
    let mut rows = vec![
        row("pietrek 10 × 100 × 5, ELF", &pietrek, 15.0, "≤ 15 ms")
            .beside(format!("gcc -O0 {gcc_ms:.0} ms")),
        ratio("… than gcc -O0 on the same sources", gcc_ms / pietrek.ms, 50.0, "≥ 50 ×"),
        row("pietrek with 1000 libraries", &thousand, 1e3, "≤ 1 s"),
        row("dawson, 1.28 million functions, ELF", &elf, 1.5e3, "≤ 1.5 s")
            .beside(format!("clang 16 × {clang_ms:.0} ms")),
        row("dawson, 1.28 million functions, PE", &pe, 1e3, "≤ 1 s"),
        ratio(
            "… than clang -O0 (one of 16 C++ files, times 16)",
            SOURCES * clang_ms / elf.ms.max(pe.ms),
            100.0,
            "≥ 100 ×",
        ),
    ];
    let large = [("1000 libraries", &thousand), ("dawson ELF", &elf), ("dawson PE", &pe)];
    rows.extend(large.map(|(name, made)| {
        let ratio = made.peak_kib as f64 * 1024.0 / made.bytes as f64;
        let figure = format!("memory ÷ output, {name} ({} MiB)", made.bytes >> 20);
        Row::bar(figure, format!("{ratio:.2}"), "≤ 2", ratio <= 2.0)
    }));
    Ok(Report { rows })
}

struct Made {
    ms: f64,
    peak_kib: u64,
    bytes: u64,
}

fn row(name: &str, made: &Made, most_ms: f64, bar: &str) -> Row {
    Row::bar(name, format!("{:.1} ms", made.ms), bar, made.ms <= most_ms)
}

fn ratio(name: &str, times: f64, least: f64, bar: &str) -> Row {
    Row::bar(name, format!("{times:.0} × faster"), bar, times >= least)
}

/// Median over launches into a folder that does not exist before.
fn generated(context: &Context, kind: &[&str]) -> Result<Made> {
    let out = context.scratch.join("generated");
    let (out, program) =
        (out.display().to_string(), context.headstart.program.display().to_string());
    let prepare = format!("rm -rf {out}");
    let options = ["--runs", "15", "--warmup", "1", "--prepare", &prepare];
    let command = [&[program.as_str(), "generate"], kind, &["--out", &out]].concat();
    let results = context.headstart.measure(&options, &command)?;
    let variant = results.variants.first().context("no variant")?;
    let peak_kib = variant.peak_rss_kib.get().context("no peak RSS")?;
    Ok(Made { ms: variant.summary.median_us / 1e3, peak_kib, bytes: size(Path::new(&out))? })
}

fn size(folder: &Path) -> Result<u64> {
    let entries: Result<Vec<_>, _> = std::fs::read_dir(folder)?.collect();
    entries?.iter().map(|entry| Ok(entry.metadata()?.len())).sum()
}

/// The equivalent sources, built as their own script does.
fn gcc_ms(context: &Context) -> Result<f64> {
    let out = context.scratch.join("sources");
    let folder = out.display().to_string();
    context.headstart.run(&["generate", "pietrek", "--source", "--out", &folder])?;
    let build = || time(Command::new("sh").arg("build.sh").current_dir(&out).env("CC", "gcc"));
    let times: Result<Vec<f64>> = (0..3).map(|_| build()).collect();
    Ok(median(times?))
}

/// One source file of classes with virtual functions, as C++ has them.
fn clang_ms(context: &Context) -> Result<f64> {
    let mut text = String::new();
    for class in 0..CLASSES {
        let _ = writeln!(text, "class Class{class} {{\npublic:");
        for function in 0..FUNCTIONS {
            let _ = writeln!(text, "    virtual int f{function}() {{ return {function}; }}");
        }
        let _ = writeln!(text, "}};\nClass{class} object{class};");
    }
    let source = context.scratch.join("source.cpp");
    std::fs::write(&source, text)?;
    let object = source.with_extension("o");
    let mut command = Command::new("clang++-19");
    time(command.args(["-O0", "-c", "-o"]).arg(object).arg(source))
}

fn time(command: &mut Command) -> Result<f64> {
    let start = Instant::now();
    let output = command.output().with_context(|| format!("{command:?} cannot be run"))?;
    let ms = start.elapsed().as_secs_f64() * 1e3;
    let messages = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} failed: {messages}");
    Ok(ms)
}

//! The whole way from the command line to the folder, with variants made for it.
#![allow(clippy::unwrap_used)]

mod programs;

use super::*;
use clap::Parser;
use model::optimization::{Manifest, VariantReport, VariantState};
use optimize::{BindingProof, Built, OptimizeError, Program};
use rewrite::Declined;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    arguments: Arguments,
}

struct Bench {
    folder: TempDir,
    cc: PathBuf,
}

/// Sleeps for so many microseconds and says so little.
fn sleeper(us: u32) -> String {
    format!(
        "#include <stdio.h>\n#include <unistd.h>\n\
         int main(void) {{ usleep({us}); puts(\"done\"); return 0; }}"
    )
}

impl Bench {
    fn new() -> Option<Bench> {
        let bench = Bench { folder: tempfile::tempdir().unwrap(), cc: testkit::tool("cc")? };
        testkit::compile(&bench.cc, bench.folder.path(), "program", &sleeper(40_000), &[]);
        Some(bench)
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().canonicalize().unwrap().join(name).display().to_string()
    }

    /// A variant compiled from C.
    fn made(&self, name: &'static str, keeps_aslr: bool, source: &str) -> Optimization {
        let (source, cc) = (source.to_owned(), self.cc.clone());
        let build = move |program: &Program, folder: &Path| {
            if source.is_empty() {
                return Err(Declined("there is nothing to do".to_owned()).into());
            }
            Ok(Built {
                run: testkit::compile(&cc, folder, "fast", &source, &[]),
                replaced: vec![program.file.clone()],
                bindings: BindingProof::ByBuilder,
                notes: vec!["It sleeps less.".to_owned()],
                ..Built::default()
            })
        };
        Optimization { name, keeps_aslr, for_cold: false, build: Box::leak(Box::new(build)) }
    }

    fn optimized(&self, options: &[&str], all: &[Optimization]) -> Result<OptimizationReport> {
        let program = self.path("program");
        let words = [&["optimize"], options, &["--", &program]].concat();
        let arguments = Line::parse_from(words).arguments;
        optimized(&arguments, all)
    }
}

fn of<'a>(found: &'a OptimizationReport, name: &str) -> &'a VariantReport {
    found.variants.iter().find(|variant| variant.name == name).unwrap()
}

#[test]
fn the_fastest_that_does_the_same_is_left() {
    let Some(bench) = Bench::new() else { return };
    let all = [
        bench.made("half", true, &sleeper(20_000)),
        bench.made("wrong", true, "int main(void) { return 0; }"),
        bench.made("none", true, ""),
        bench.made("fast", true, &sleeper(0)),
        bench.made("fixed", false, &sleeper(0)),
    ];
    let out = bench.path("out");
    let found = bench.optimized(&["--runs", "12", "--out", &out], &all).unwrap();
    assert_eq!(found.best, "fast");
    let names: Vec<&str> = found.variants.iter().map(|variant| variant.name.as_str()).collect();
    assert_eq!(names, ["default", "half", "wrong", "none", "fast", "fixed"]);
    let states = found.variants.iter().map(|variant| variant.state).collect::<Vec<_>>();
    use VariantState::{Baseline, Declined, Failed, NotTried, Verified};
    assert_eq!(states, [Baseline, Verified, Failed, Declined, Verified, NotTried]);
    let (half, fast) = (of(&found, "half").warm, of(&found, "fast").warm);
    assert!(fast.ratio < half.ratio && half.ratio < Some(1.0), "{fast:?} {half:?}");
    assert!(fast.low <= fast.ratio && fast.ratio <= fast.high && fast.min_us <= fast.median_us);
    assert!(fast.minor_faults > Some(0) && fast.peak_rss_kib > Some(0), "{fast:?}");
    assert_eq!(of(&found, "wrong").warm, Default::default());
    assert!(of(&found, "wrong").reason.as_ref().unwrap().contains("instead of 'done'"));
    assert_eq!(of(&found, "none").reason.as_deref(), Some("there is nothing to do"));
    let output = std::process::Command::new(Path::new(&out).join("run")).output().unwrap();
    assert_eq!(output.stdout, b"done\n");
    let text = fs::read_to_string(Path::new(&out).join("headstart.json")).unwrap();
    let manifest: Manifest = serde_json::from_str(&text).unwrap();
    assert_eq!((manifest.variant.as_str(), manifest.starts), ("fast", format!("{out}/files/fast")));
    assert_eq!(manifest.figures.len(), 2);
    assert_eq!(manifest.replaced, [bench.path("program")]);
    assert_eq!(manifest.notes, ["It sleeps less."]);
}

#[test]
fn weaknesses_are_asked_for_and_names_chosen() {
    let Some(bench) = Bench::new() else { return };
    let all = [
        bench.made("half", true, &sleeper(20_000)),
        bench.made("fast", false, &sleeper(0)),
        bench.made("more", true, &sleeper(0)),
    ];
    let options = ["--runs", "12", "--allow", "no-aslr", "--skip", "more"];
    let found = bench.optimized(&options, &all).unwrap();
    assert_eq!((found.best.as_str(), found.variants.len()), ("fast", 3));
    assert!(!of(&found, "fast").keeps_aslr);
    let found = bench.optimized(&["--runs", "3", "--only", "half,default"], &all).unwrap();
    assert_eq!((found.best.as_str(), found.variants.len()), ("default", 2), "too few to tell");
    let found = bench.optimized(&["--runs", "3", "--only", "default"], &all).unwrap();
    assert_eq!(found.variants.len(), 1);
    let error = bench.optimized(&["--only", "hafl"], &all).unwrap_err();
    assert!(matches!(error.downcast_ref(), Some(OptimizeError::UnknownVariant { .. })));
    assert!(error.to_string().contains("half, fast, more"), "{error}");
}

/// Works eight times, which is often enough to be verified, and never again.
#[test]
fn one_that_fails_while_measured_is_not_offered() {
    let Some(bench) = Bench::new() else { return };
    let count = bench.path("count");
    let source = format!(
        "#include <fcntl.h>\n#include <stdio.h>\n#include <sys/stat.h>\n#include <unistd.h>\n\
         int main(void) {{ struct stat s; int f = open(\"{count}\", O_CREAT | O_APPEND | O_RDWR, 0600);\n\
         fstat(f, &s); if (s.st_size >= 8) return 7; write(f, \"x\", 1); puts(\"done\"); }}"
    );
    let all = [bench.made("tired", true, &source), bench.made("fast", true, &sleeper(0))];
    let found = bench.optimized(&["--runs", "12"], &all).unwrap();
    let tired = of(&found, "tired");
    assert_eq!((tired.state, tired.verified), (VariantState::Failed, false));
    let reason = tired.reason.as_ref().unwrap();
    assert!(reason.starts_with("while it was measured, ") && reason.contains("exit code 7"));
    assert_eq!(tired.warm, Default::default());
    assert_eq!(found.best, "fast", "the others are measured all the same");
}

#[test]
fn cold_launches_are_measured_too() {
    let Some(bench) = Bench::new() else { return };
    let all = [bench.made("fast", true, &sleeper(0))];
    match bench.optimized(&["--runs", "2", "--cold"], &all) {
        Ok(found) => {
            for name in ["default", "fast"] {
                let (warm, cold) = (of(&found, name).warm, of(&found, name).cold.unwrap());
                assert!((cold.rounds, cold.min_us > Some(0.0)) == (Some(2), true), "{cold:?}");
                assert!(cold.min_us != warm.min_us, "{cold:?}");
            }
        }
        Err(error) => {
            assert!(error.to_string().contains("TMPDIR"), "{error}");
            testkit::skip("the folder for temporary files is in memory");
        }
    }
}

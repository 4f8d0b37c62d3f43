//! A small program with two libraries, and variants of it made for the test.
#![allow(clippy::unwrap_used, dead_code)] // each test file uses a part of this

use model::Command;
use optimize::trials::{Selection, trials};
use optimize::{
    Baseline, BuildFolders, Built, Launches, Optimization, OptimizeError, Program, Terms,
    TrialOutcome, Verifier,
};
use os::launcher::Launcher;
use rewrite::Declined;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// What builds a variant.
pub type Build = fn(&Bench, &Program, &Path) -> Result<Built, Declined>;

/// A folder with libone.so, libtwo.so (both define `shared`) and a program of them.
pub struct Bench {
    folder: TempDir,
    pub cc: PathBuf,
}

pub const MAIN: &str = "#include <stdio.h>\nint shared(void), two(void);\n\
    int main(int argc, char **argv) { printf(\"%d %d\\n\", shared(), two()); return argc > 5; }";
const ONE: &str = "int shared(void) { return 1; }";
const TWO: &str = "int shared(void) { return 1; }\nint two(void) { return 2; }";

impl Bench {
    /// `None`, said loudly, without a C compiler. It lives as long as the tests: optimizations do.
    pub fn new() -> Option<&'static Bench> {
        let cc = testkit::tool("cc")?;
        let bench = Bench { folder: tempfile::tempdir().unwrap(), cc };
        for (name, source) in [("libone.so", ONE), ("libtwo.so", TWO)] {
            bench.cc(&bench.path(""), name, source, &["-shared", "-fPIC"]);
        }
        bench.program(&bench.path(""), "program", MAIN, &["libone.so", "libtwo.so"]);
        Some(Box::leak(Box::new(bench)))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub fn cc(&self, folder: &Path, name: &str, source: &str, options: &[&str]) -> PathBuf {
        testkit::compile(&self.cc, folder, name, source, options)
    }

    /// A program linked to these libraries of the bench, in their order.
    pub fn program(&self, folder: &Path, name: &str, source: &str, needs: &[&str]) -> PathBuf {
        let own = self.path("").display().to_string();
        let (search, rpath) = (format!("-L{own}"), format!("-Wl,-rpath,{own}"));
        let needs: Vec<String> = needs.iter().map(|name| format!("-l:{name}")).collect();
        let mut options = vec!["-Wl,--no-as-needed", &search, &rpath];
        options.extend(needs.iter().map(String::as_str));
        self.cc(folder, name, source, &options)
    }

    /// The command of the program.
    pub fn command(&self, name: &str) -> Command {
        os::program::resolve(&[self.path(name).display().to_string()]).unwrap()
    }

    pub fn made(&'static self, name: &'static str, build: Build) -> Optimization {
        let build = move |program: &Program, folder: &Path| Ok(build(self, program, folder)?);
        Optimization { name, keeps_aslr: true, for_cold: false, build: Box::leak(Box::new(build)) }
    }

    /// What becomes of these variants of `command`, in their order, and the streams that are not compared.
    pub fn outcomes_of(
        &'static self,
        command: Command,
        terms: &Terms,
        made: &[(&'static str, Build)],
    ) -> Result<(Vec<TrialOutcome>, Vec<&'static str>), OptimizeError> {
        let mut launches = Launches::new(Launcher::start()?, None)?;
        let baseline = Baseline::new(command, terms, &mut launches)?;
        let mut verifier = Verifier::new(&baseline, terms, &mut launches);
        let mut folders = BuildFolders::new()?;
        let all: Vec<_> = made.iter().map(|&(name, build)| self.made(name, build)).collect();
        let choice = Selection::default();
        let found = trials(&baseline, &mut verifier, &mut folders, (&choice, &all), &mut |_| ())?;
        let uncompared = verifier.uncompared();
        Ok((found.into_iter().map(|trial| trial.outcome).collect(), uncompared))
    }

    /// What becomes of one variant of the program.
    pub fn outcome(&'static self, build: Build) -> TrialOutcome {
        let made = [("variant", build)];
        let (mut outcomes, _) = self.outcomes_of(self.command("program"), &terms(), &made).unwrap();
        outcomes.remove(0)
    }
}

pub fn terms() -> Terms {
    Terms { timeout: Duration::from_secs(20), ignore_failure: false, cpu: None, check: None }
}

/// A plain copy, called run.
pub fn copy(_: &Bench, program: &Program, folder: &Path) -> Result<Built, Declined> {
    let run = folder.join("run");
    fs::copy(&program.file, &run).map_err(|error| Declined(error.to_string()))?;
    Ok(Built { run, replaced: vec![program.file.clone()], ..Built::default() })
}

/// The reason of a variant that failed.
pub fn failed(outcome: TrialOutcome) -> String {
    match outcome {
        TrialOutcome::Failed(reason) => reason.to_string(),
        other => panic!("{other:?}"),
    }
}

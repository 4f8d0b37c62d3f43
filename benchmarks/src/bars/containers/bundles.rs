//! The bundles that are made in a root, and what a start of one of them does there.

use super::root::{self, HEADSTART, Root};
use super::{Bench, done};
use crate::statistics::median;
use anyhow::{Context as _, Result, ensure};
use model::Results;
use model::bundle::BundleVerification;
use std::process::{Command, Stdio};

pub const PROGRAMS: [&str; 3] = ["gs", "git", "inkscape"];
const RUNS: &str = "15";

/// A bundle in a root.
#[derive(Clone, Debug)]
pub struct Bundle {
    pub program: &'static str,
    pub form: &'static Form,
}

/// How it is made.
#[derive(Debug)]
pub struct Form {
    pub name: &'static str,
    /// It is for copies of the root.
    pub ships: bool,
    /// The program and its libraries need not be there.
    pub stands_alone: bool,
    words: &'static [&'static str],
}

pub const FORMS: [Form; 5] = [
    Form { name: "host", ships: false, stands_alone: false, words: &["--check", "host"] },
    Form { name: "image", ships: true, stands_alone: false, words: &["--check", "image"] },
    Form {
        name: "image-fixed",
        ships: true,
        stands_alone: false,
        words: &["--check", "image", "--fixed"],
    },
    Form { name: "sealed", ships: true, stands_alone: true, words: &["--check", "sealed"] },
    Form {
        name: "sealed-fixed",
        ships: true,
        stands_alone: true,
        words: &["--check", "sealed", "--fixed"],
    },
];

/// What a start did, and what was told of it.
#[derive(Debug)]
pub struct Start {
    pub code: Option<i32>,
    pub stdout: String,
    /// Programs that were executed, the first one included.
    pub executed: usize,
    /// The line of the trace.
    pub told: String,
    pub verified: BundleVerification,
}

impl Start {
    /// Whether all that was asked says so.
    pub fn is_used(&self) -> bool {
        self.executed == 1 && self.told_used() && self.verified.used
    }

    pub fn told_used(&self) -> bool {
        self.told.contains("the bundle is used")
    }

    /// Whether start and `verify` say the same.
    pub fn agrees(&self) -> bool {
        self.told_used() == self.verified.used
    }
}

impl Bundle {
    /// One of each form of each program.
    pub fn all() -> Vec<Bundle> {
        let of = |program| FORMS.iter().map(move |form| Bundle { program, form });
        PROGRAMS.into_iter().flat_map(of).collect()
    }

    pub fn folder(&self) -> String {
        format!("/opt/{}-{}", self.program, self.form.name)
    }

    pub fn run(&self) -> String {
        format!("{}/run", self.folder())
    }

    pub fn name(&self) -> String {
        format!("{} {}", self.program, self.form.name)
    }

    /// # Errors
    /// It is declined.
    pub fn make(&self, root: &Root) -> Result<()> {
        let folder = self.folder();
        let words = [&[HEADSTART, "bundle", "--out", &folder], self.form.words, &[self.program]];
        root.run(&words.concat())?;
        Ok(())
    }

    /// # Errors
    /// Nothing can be started.
    pub fn start(&self, root: &Root) -> Result<Start> {
        let run = self.run();
        let mut traced = Command::new("strace");
        traced.args(["-f", "-qq", "-e", "trace=execve,execveat", "-e", "signal=none"]);
        traced.args(["-o", "/dev/stderr"]);
        let chroot = root.command(&run);
        traced.arg(chroot.get_program()).args(chroot.get_args()).arg("--version");
        traced.env_clear().envs(chroot.get_envs().filter_map(|(n, v)| Some((n, v?))));
        traced.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").stdin(Stdio::null());
        let output = traced.output().context("strace cannot be run")?;
        let calls = String::from_utf8_lossy(&output.stderr).into_owned();
        // The first is that of chroot, and attempts along PATH fail.
        let executed = calls.lines().filter(|line| line.contains("exec") && line.ends_with(" = 0"));
        let executed = executed.count().saturating_sub(1);
        let told = root.command(&run).arg("--version").env("HEADSTART_TRACE", "1").output()?;
        let told = String::from_utf8_lossy(&told.stderr).into_owned();
        let told = told.lines().find(|line| line.starts_with("headstart: ")).unwrap_or_default();
        Ok(Start {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            executed,
            told: told.to_owned(),
            verified: self.verify(root)?,
        })
    }

    /// # Errors
    /// headstart prints nothing that can be read.
    pub fn verify(&self, root: &Root) -> Result<BundleVerification> {
        let output = root.output(&[HEADSTART, "verify", "--json", &self.folder()])?;
        let said = || format!("verify: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).with_context(said)
    }

    /// Its time ÷ that of the original, launches of both taking turns.
    ///
    /// # Errors
    /// Nothing can be measured.
    pub fn ratio(&self, root: &Root, cpu: u32) -> Result<f64> {
        let (cpu, run) = (cpu.to_string(), self.run());
        let commands = [self.program, &run].map(|program| format!("{program} --version"));
        let how = [HEADSTART, "compare", "--json", "--runs", RUNS, "--cpu", &cpu, "--"];
        let words = [&how[..], &commands.each_ref().map(String::as_str)].concat();
        let results: Results = serde_json::from_str(&root.run(&words)?)?;
        let effect = results.effects.first().context("a comparison without an effect")?;
        ensure!(effect.ratio > 0.0, "a ratio of {}", effect.ratio);
        Ok(effect.ratio)
    }

    /// The ratios here and where it was made, each the median of rounds that take turns.
    ///
    /// # Errors
    /// As [`Bundle::ratio`].
    pub fn ratios(&self, made: &Root, here: &Root, cpu: u32, rounds: usize) -> Result<[f64; 2]> {
        let mut ratios: [Vec<f64>; 2] = Default::default();
        for _ in 0..rounds {
            ratios[0].push(self.ratio(made, cpu)?);
            ratios[1].push(self.ratio(here, cpu)?);
        }
        Ok(ratios.map(median))
    }
}

/// The root in which all bundles are made: a copy of the kept one. Made at the first call.
///
/// # Errors
/// No root can be made, or a bundle is declined.
pub fn made(bench: &Bench) -> Result<Root> {
    let path = bench.work.join("made");
    if path.exists() {
        return Ok(Root { path });
    }
    let kept = root::kept(bench, "bookworm", &["ghostscript", "git", "inkscape"])?;
    std::fs::create_dir(&path)?;
    done(Command::new("cp").arg("-a").arg(kept.join(".")).arg(&path))?;
    let made = Root::opened(path, &bench.context.headstart.program)?;
    for bundle in Bundle::all() {
        bundle.make(&made)?;
    }
    Ok(made)
}

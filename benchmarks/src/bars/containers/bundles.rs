//! The bundles that are made in a root, and what a start of one of them does there.

use super::root::{self, HEADSTART, Root};
use super::{Bench, done};
use anyhow::{Context as _, Result};
use model::Results;
use model::bundle::BundleVerification;
use std::process::{Command, Stdio};

pub const PROGRAMS: [&str; 3] = ["gs", "git", "inkscape"];
/// Launches in one round of each: more of those that are short, for the same part of them to be told.
const RUNS: [(&str, &str); 2] = [("gs", "150"), ("git", "300")];
const FEW_RUNS: &str = "40";
/// The share of the fastest launches of which the slowest counts.
const FASTEST: f64 = 0.1;

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

    /// Times of the original and of the bundle in microseconds, launches of both taking turns.
    ///
    /// # Errors
    /// Nothing can be measured.
    fn times_us(&self, root: &Root, cpu: u32) -> Result<[Vec<f64>; 2]> {
        let (cpu, run) = (cpu.to_string(), self.run());
        let commands = [self.program, &run].map(|program| format!("{program} --version"));
        let runs = RUNS.iter().find(|(program, _)| *program == self.program);
        let runs = runs.map_or(FEW_RUNS, |(_, runs)| runs);
        let how = [HEADSTART, "compare", "--json", "--runs", runs, "--cpu", &cpu, "--"];
        let words = [&how[..], &commands.each_ref().map(String::as_str)].concat();
        let results: Results = serde_json::from_str(&root.run(&words)?)?;
        let times = results.variants.into_iter().map(|variant| variant.times_us);
        let times: Vec<Vec<f64>> = times.collect();
        times.try_into().ok().context("a comparison of other than two")
    }

    /// Its time ÷ that of the original.
    ///
    /// # Errors
    /// Nothing can be measured.
    pub fn ratio(&self, root: &Root, cpu: u32) -> Result<f64> {
        Ok(ratio(self.times_us(root, cpu)?))
    }

    /// The ratios where it was made and here, of rounds that take turns.
    ///
    /// # Errors
    /// As [`Bundle::ratio`].
    pub fn ratios(&self, made: &Root, here: &Root, cpu: u32, rounds: usize) -> Result<[f64; 2]> {
        let mut times: [[Vec<f64>; 2]; 2] = Default::default();
        for _ in 0..rounds {
            for (times, root) in times.iter_mut().zip([made, here]) {
                let [original, bundle] = self.times_us(root, cpu)?;
                times[0].extend(original);
                times[1].extend(bundle);
            }
        }
        Ok(times.map(ratio))
    }
}

/// Of the fastest launches: beside other work the slow ones say more of that.
fn ratio(times_us: [Vec<f64>; 2]) -> f64 {
    let [original, bundle] = times_us.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times.get((times.len() as f64 * FASTEST) as usize).copied().unwrap_or(f64::NAN)
    });
    bundle / original
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

//! What the bars of orders are measured on: the compiler in link order, traces of its tasks, and
//! orders that are made of these.

use crate::context::Context;
use crate::subjects::file_systems::Mounted;
use crate::subjects::relinked::{Link, Relinked, Task, tasks};
use anyhow::{Context as _, Result, ensure};
use model::{OrderReport, OrderVerification};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Tasks that orders are made of; the last is the one that is mostly held out.
pub const NAMES: [&str; 8] = ["h1", "h2", "h3", "h4", "h5", "h6", "h7", "t8"];
/// Room for a few programs of 190 MB.
const DISK_BYTES: u64 = 4 << 30;
/// LLVM cuts longer traces off, unless it is told otherwise.
const LONGEST_TRACE: &str = "--temporal-profile-max-trace-length=1000000";

/// The compiler, its tasks and their traces, on a disk that is read ahead as usual.
pub struct Bed<'a> {
    pub context: &'a Context,
    pub relinked: Relinked,
    /// Those of [`NAMES`].
    pub tasks: Vec<Task>,
    /// The program in link order.
    pub base: PathBuf,
    /// The linker's map of it.
    map: PathBuf,
    /// Traces of it, parallel to the tasks.
    pub traces: Vec<PathBuf>,
    disk: Mounted,
}

/// An order of headstart's, and what it promises.
pub struct Ordered {
    pub file: PathBuf,
    pub report: OrderReport,
}

impl<'a> Bed<'a> {
    /// Links and traces.
    ///
    /// # Errors
    /// As [`super::check`].
    pub fn make(context: &'a Context) -> Result<Bed<'a>> {
        let disk = Mounted::cold_disk(context, DISK_BYTES)?;
        let all = tasks(&context.scratch.join("tasks"))?;
        let tasks = all.into_iter().filter(|task| NAMES.contains(&task.name)).collect();
        let relinked = Relinked::prepare()?;
        let (base, map) = (disk.place.join("base"), context.scratch.join("base.map"));
        let mut bed = Bed { context, relinked, tasks, base, map, traces: Vec::new(), disk };
        bed.relinked.link(&bed.base, &Link::default().with(format!("-Map={}", text(&bed.map)?)))?;
        put_on_disk(&bed.base)?;
        // A launch that finds the file of an earlier one calls two functions more.
        for task in &bed.tasks {
            succeeds(Command::new(&bed.base).args(&task.arguments))?;
        }
        bed.traces = bed.tasks.iter().map(|task| bed.trace(task)).collect::<Result<_>>()?;
        Ok(bed)
    }

    fn trace(&self, task: &Task) -> Result<PathBuf> {
        let file = self.context.scratch.join(format!("{}.trace", task.name));
        let (out, base) = (text(&file)?, text(&self.base)?);
        let arguments: Vec<&str> = task.arguments.iter().map(String::as_str).collect();
        let words = ["trace", "--json", "--out", out, "--", base];
        self.context.headstart.run(&[&words, arguments.as_slice()].concat())?;
        Ok(file)
    }

    /// The traces of all tasks but this.
    pub fn traces_without(&self, held_out: &str) -> Vec<&Path> {
        let pairs = self.tasks.iter().zip(&self.traces);
        pairs.filter(|(task, _)| task.name != held_out).map(|(_, trace)| trace.as_path()).collect()
    }

    /// headstart's order, by default options.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn order(&self, traces: &[&Path]) -> Result<Ordered> {
        let file = self.context.scratch.join("headstart.order");
        let mut words = vec!["order", "write", "--linker", "lld", "--json", "--out", text(&file)?];
        words.extend(["--map", text(&self.map)?]);
        for trace in traces {
            words.push(text(trace)?);
        }
        let report = self.context.headstart.json(&words)?;
        Ok(Ordered { file, report })
    }

    /// LLVM's own order of the same traces.
    ///
    /// # Errors
    /// Its tool fails.
    pub fn order_of_llvm(&self, traces: &[&Path]) -> Result<PathBuf> {
        let path = |name: &str| self.context.scratch.join(name);
        let (merged, file) = (path("llvm.profdata"), path("llvm.order"));
        let mut merge = Command::new("llvm-profdata-19");
        merge.arg("merge").arg(LONGEST_TRACE).arg("-o").arg(&merged);
        for trace in traces {
            let profile = trace.with_extension("proftext");
            let words = ["trace", "--export", "proftext", "--module", "base", "--out"];
            let files = [text(&profile)?, text(trace)?];
            self.context.headstart.run(&[&words[..], &files].concat())?;
            merge.arg(profile);
        }
        succeeds(&mut merge)?;
        succeeds(Command::new("llvm-profdata-19").arg("order").arg(&merged).arg("-o").arg(&file))?;
        Ok(file)
    }

    /// Links a program by that name on the disk.
    ///
    /// # Errors
    /// The linker's messages.
    pub fn link(&self, name: &str, link: &Link) -> Result<PathBuf> {
        let program = self.disk.place.join(name);
        let _ = fs::remove_file(&program);
        self.relinked.link(&program, link)?;
        put_on_disk(&program)?;
        Ok(program)
    }

    /// Two builds compared at one task, with so many cold launches timed.
    ///
    /// # Errors
    /// They cannot be compared; that the new one is rejected is none.
    pub fn verify(
        &self,
        [old, new]: [&Path; 2],
        task: &Task,
        cold_runs: u32,
    ) -> Result<OrderVerification> {
        let (arguments, cold_runs) = (task.arguments.join(" "), cold_runs.to_string());
        let options = ["order", "verify", "--json", "--runs", "0", "--cold-runs", &cold_runs];
        let words = ["--arguments", &arguments, "--", text(old)?, text(new)?];
        let output = self.context.headstart.output(&[&options[..], &words].concat())?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let messages = String::from_utf8_lossy(&output.stderr);
        serde_json::from_str(&printed).with_context(|| format!("no verification: {messages}"))
    }

    /// The task of that name.
    ///
    /// # Errors
    /// There is none.
    pub fn task(&self, name: &str) -> Result<&Task> {
        let found = self.tasks.iter().find(|task| task.name == name);
        found.with_context(|| format!("no task {name}"))
    }
}

/// Only what is on the disk can be evicted from memory.
fn put_on_disk(program: &Path) -> Result<()> {
    Ok(File::open(program)?.sync_all()?)
}

/// A path as an argument.
///
/// # Errors
/// It is not UTF-8.
pub fn text(path: &Path) -> Result<&str> {
    path.to_str().with_context(|| format!("{} is not UTF-8", path.display()))
}

/// Runs a command that has to succeed.
///
/// # Errors
/// Its messages.
pub fn succeeds(command: &mut Command) -> Result<()> {
    let output = command.output().with_context(|| format!("{command:?} cannot be run"))?;
    let messages = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} failed, {}: {messages}", output.status);
    Ok(())
}

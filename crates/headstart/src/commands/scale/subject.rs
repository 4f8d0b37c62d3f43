//! What changes its size, from the command line.

use crate::args::{choice, no_option};
use crate::exit::Usage;
use anyhow::Result;
use clap::builder::{PossibleValue, TypedValueParser};
use lab::Runner;
use lab::sweep::{OLD_SIZE_MARK, SIZE_MARK, SweepSubject, parse_sizes, workloads};
use model::growth::Unit;
use stats::growth::LEAST_SIZES;
use std::ffi::OsStr;

/// A list of sizes, ascending, each once.
#[derive(Clone, Debug)]
pub struct Sizes(Vec<u64>);

fn sizes(text: &str) -> Result<Sizes, String> {
    parse_sizes(text).map(Sizes).map_err(|error| error.to_string())
}

/// Work that can be counted.
pub fn counted() -> impl TypedValueParser<Value = Unit> {
    let value = |name: &'static str, about: &'static str| PossibleValue::new(name).help(about);
    choice([
        (
            value("instructions", "User-mode instructions of all processes (needs valgrind)"),
            Unit::Instructions,
        ),
        (value("syscalls", "System calls of all processes (needs ptrace)"), Unit::Syscalls),
        (value("faults", "Page faults, as counted by the kernel"), Unit::Faults),
    ])
}

/// A workload that the system's own images can be.
const WORKLOAD: &str = if cfg!(windows) { "dawson" } else { "shape dense" };

/// What changes its size, and the sizes.
#[derive(Debug, clap::Args)]
pub struct SubjectArgs {
    #[cfg_attr(
        not(windows),
        doc = "A generated workload: shape star, shape chain, … ('generate shape --help' lists all), \
               pietrek, dawson"
    )]
    #[cfg_attr(windows, doc = "A generated workload, launched as PE images: pietrek, dawson")]
    #[arg(value_name = "WORKLOAD")]
    workload: Vec<String>,
    /// Your own command, in which @N@ is replaced by the size
    #[arg(last = true, value_name = "CMD", conflicts_with_all = ["workload", "programs"])]
    command: Vec<String>,
    /// A program and its size; repeat for each size
    #[arg(long = "program", value_name = "N=CMD", conflicts_with = "workload")]
    programs: Vec<String>,
    /// Sizes: 0,64,128 or 0..1024:8 (8 equal steps) or 16..1024*2 (doubling)
    #[arg(long, value_name = "SIZES", value_parser = sizes, conflicts_with = "programs")]
    n: Option<Sizes>,
    /// Leave out n = 0, which is otherwise always measured
    #[arg(long)]
    no_zero: bool,
    /// pietrek: number of libraries. Only one of these options may be a list
    #[arg(long, value_name = "SIZES", value_parser = sizes)]
    dlls: Option<Sizes>,
    /// pietrek: functions per library; dawson: virtual functions per class
    #[arg(long, value_name = "SIZES", value_parser = sizes)]
    functions: Option<Sizes>,
    /// pietrek: globals per function
    #[arg(long, value_name = "SIZES", value_parser = sizes)]
    globals: Option<Sizes>,
    /// dawson: number of source files
    #[arg(long, value_name = "SIZES", value_parser = sizes)]
    sources: Option<Sizes>,
    /// dawson: classes per source file
    #[arg(long, value_name = "SIZES", value_parser = sizes)]
    classes: Option<Sizes>,
}

fn usage<T>(text: String) -> Result<T> {
    Err(Usage(text).into())
}

impl SubjectArgs {
    /// The subject and its sizes, checked as far as can be without making any.
    pub fn subject(&self) -> Result<(SweepSubject, Vec<u64>)> {
        let (subject, mut sizes) = if !self.command.is_empty() {
            self.of_command()?
        } else if !self.programs.is_empty() {
            self.of_programs()?
        } else if !self.workload.is_empty() {
            self.of_workload()?
        } else {
            return usage(format!(
                "name what is to grow: a workload such as '{WORKLOAD}', a command with {SIZE_MARK} in it \
                 after --n SIZES --, or --program N=CMD for each size"
            ));
        };
        let ready = matches!(subject, SweepSubject::Programs(_));
        if self.no_zero {
            sizes.retain(|n| *n > 0);
        } else if !ready && !sizes.contains(&0) {
            sizes.insert(0, 0);
        }
        if sizes.len() < LEAST_SIZES {
            let (count, list) = (sizes.len(), list(&sizes));
            let are = if count == 1 { "size is" } else { "sizes are" };
            return usage(format!(
                "{count} {are} too few to tell one law from another (n = {list}): at least \
                 {LEAST_SIZES} are needed, and six or more are better"
            ));
        }
        Ok((subject, sizes))
    }

    fn no_parameters(&self) -> Result<()> {
        match self.given().iter().find(|(name, _)| *name != "n") {
            Some((name, _)) => usage(format!("--{name} belongs to a generated workload")),
            None => Ok(()),
        }
    }

    fn of_command(&self) -> Result<(SweepSubject, Vec<u64>)> {
        self.no_parameters()?;
        let line = self.command.join(" ");
        let has = |word: &String| word.contains(SIZE_MARK) || word.contains(OLD_SIZE_MARK);
        if !self.command.iter().any(has) {
            return usage(format!(
                "the command has no {SIZE_MARK} in it, so it is the same at every size: {line}; write \
                 {SIZE_MARK} where the size goes, such as: -- ./prog --size {SIZE_MARK}"
            ));
        }
        let Some(Sizes(sizes)) = &self.n else {
            return usage(format!("give the sizes, such as: --n 0,10,100,1000 -- {line}"));
        };
        no_option(OsStr::new(&self.command[0]))?;
        Ok((SweepSubject::Command(self.command.clone()), sizes.clone()))
    }

    fn of_programs(&self) -> Result<(SweepSubject, Vec<u64>)> {
        self.no_parameters()?;
        let mut programs: Vec<(u64, String)> = Vec::new();
        for text in &self.programs {
            let parsed = text.split_once('=').and_then(|(n, line)| {
                let n = n.trim().replace('_', "").parse().ok()?;
                (!line.trim().is_empty()).then(|| (n, line.to_owned()))
            });
            let Some((n, line)) = parsed else {
                return usage(format!("--program {text}: write the size first, as in 64=./prog"));
            };
            if let Some((_, other)) = programs.iter().find(|(size, _)| *size == n) {
                return usage(format!("two programs have the size {n}: {other} and {line}"));
            }
            no_option(OsStr::new(&line))?;
            programs.push((n, line));
        }
        programs.sort();
        let sizes = programs.iter().map(|(n, _)| *n).collect();
        Ok((SweepSubject::Programs(programs), sizes))
    }

    fn of_workload(&self) -> Result<(SweepSubject, Vec<u64>)> {
        let kind = self.workload.join(" ");
        let Some(parameters) = workloads::parameters(&kind) else {
            let known = workloads::kinds(Runner::OWN).join(", ");
            return usage(format!(
                "there is no workload '{kind}'; there are: {known}; a command of your own stands \
                 after --, such as: headstart scale --n 0,10,100,1000 -- {kind} @N@"
            ));
        };
        let given = self.given();
        if let Some((name, _)) = given.iter().find(|(name, _)| !parameters.contains(name)) {
            let known: Vec<String> = parameters.iter().map(|name| format!("--{name}")).collect();
            return usage(format!("{kind} has no --{name}; it has {}", known.join(", ")));
        }
        let mut lists = given.iter().filter(|(_, sizes)| sizes.len() > 1);
        let (varied, sizes) = match (lists.next(), lists.next()) {
            (Some((one, _)), Some((two, _))) => {
                return usage(format!(
                    "--{one} and --{two} are both lists, but only one can grow; give a single \
                     number for the other"
                ));
            }
            (Some((name, sizes)), None) => (*name, (*sizes).clone()),
            (None, _) => match given.iter().find(|(name, _)| *name == parameters[0]) {
                Some((name, sizes)) => (*name, (*sizes).clone()),
                None => (parameters[0], workloads::sizes(&kind, parameters[0])),
            },
        };
        let fixed = given.iter().filter(|(name, _)| *name != varied);
        let fixed = fixed.filter_map(|(name, sizes)| Some(((*name).to_owned(), *sizes.first()?)));
        let fixed: Vec<(String, u64)> = fixed.collect();
        // What the format has no room for is refused before anything is launched.
        let mut largest = fixed.clone();
        largest.push((varied.to_owned(), sizes.last().copied().unwrap_or(0)));
        let format = Runner::OWN;
        workloads::files(&kind, format, &largest)?;
        Ok((SweepSubject::Workload { kind, varied: varied.to_owned(), fixed, format }, sizes))
    }

    fn given(&self) -> Vec<(&'static str, &Vec<u64>)> {
        let all = [
            ("n", &self.n),
            ("dlls", &self.dlls),
            ("functions", &self.functions),
            ("globals", &self.globals),
            ("sources", &self.sources),
            ("classes", &self.classes),
        ];
        all.into_iter().filter_map(|(name, sizes)| Some((name, &sizes.as_ref()?.0))).collect()
    }
}

fn list(sizes: &[u64]) -> String {
    sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

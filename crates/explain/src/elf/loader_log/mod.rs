//! glibc's debug output (`LD_DEBUG=files,reloc,libs`, see ld.so(8)) turned into per-module times.
//!
//! [`mod@line`] reads one line, [`builder`] follows the lines of one process, [`runs`] gives one
//! [`Run`] per executed image, and [`median_runs`] the middle of several launches.

mod builder;
mod line;
mod median;

use builder::Builder;
use line::Line;
pub(crate) use median::median_runs;
use model::LoaderLog;
use std::collections::BTreeMap;

/// What the log says about one module of one run; times in nanoseconds, as logged.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LoggedModule {
    /// As the search asked for it: `libz.so.1`. The program's own is the run's `program`.
    pub name: String,
    /// As the loader opened it; `None` for the program and where no line tells.
    pub path: Option<String>,
    /// From looking for it to looking for the next one.
    pub map: Option<i64>,
    pub relocate: Option<i64>,
    pub init: Option<i64>,
    pub fini: Option<i64>,
    /// Failed attempts to open it elsewhere; `None` where the log lacks `libs`.
    pub misses: Option<u64>,
    /// Loaded by dlopen, or by something that dlopen loaded.
    pub late: bool,
}

/// The log of one executed image; points are nanoseconds of the launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Run {
    pub pid: u32,
    /// `argv[0]`, as the loader calls the program.
    pub program: String,
    pub first: i64,
    pub last: i64,
    /// The last library of the start-up is mapped.
    pub mapped: Option<i64>,
    /// The first initializer is called.
    pub relocated: Option<i64>,
    /// The program's initializers are done.
    pub main: Option<i64>,
    /// The first finalizer is called.
    pub finalizing: Option<i64>,
    /// Between the last mapping and the first relocation: version checks and sorting.
    pub checking: i64,
    pub modules: Vec<LoggedModule>,
    /// For a bundle: the module whose initializers were the last before those that are merged. The
    /// log shows no end of them, so their time is counted to the bundle.
    pub before_merged: Option<String>,
    /// Failed attempts to open a library, by folder.
    pub misses: BTreeMap<String, u64>,
}

impl Run {
    /// The loader's path: what is relocated last before initializers run is the loader itself.
    pub fn loader(&self) -> Option<&str> {
        let paths = self.modules.iter().filter_map(|module| module.path.as_deref());
        paths.into_iter().find(|path| {
            let name = crate::names::base_name(path);
            name.starts_with("ld-") || name.starts_with("ld.so") || name.starts_with("ld64.so")
        })
    }

    /// Whether `module` is the loader.
    pub fn is_loader(&self, module: &LoggedModule) -> bool {
        module.path.is_some() && module.path.as_deref() == self.loader()
    }
}

/// One run per executed image, in order of their first lines.
pub(crate) fn runs(log: &LoaderLog) -> Vec<Run> {
    let mut open: BTreeMap<u32, Builder> = BTreeMap::new();
    let mut done: Vec<Run> = Vec::new();
    let mut program = String::new();
    for entry in &log.lines {
        let line = Line::parse(&entry.text);
        if line == Line::Other {
            continue;
        }
        let at = crate::time::ns(entry.at_us);
        if open.get(&entry.pid).is_some_and(|builder| builder.is_another_image(&line)) {
            done.extend(open.remove(&entry.pid).map(Builder::finish));
        }
        let builder =
            open.entry(entry.pid).or_insert_with(|| Builder::new(entry.pid, at, &program));
        builder.line(&line, at);
        if builder.program() != program {
            program = builder.program().to_owned();
        }
    }
    done.extend(open.into_values().map(Builder::finish));
    done.sort_by_key(|run| run.first);
    done
}

#[cfg(test)]
mod tests;

//! What is recorded about a launch, from which it is explained.

use model::{
    BundleContents, CalledCode, Command, ElfFacts, FaultTotals, FileOperation, Hot, ImageKind,
    LoaderLog, MemoryChange, MemoryPrices, PageFaults, PhaseTrace, Reading, UnpackedFiles,
    WaitTrace,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What repeating recorded calls on the file system took, untraced, on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplayTimes {
    /// All failed look-ups (open, stat, access, readlink and execve that failed).
    pub failed_us: f64,
    /// All successful stat, access and readlink calls.
    pub stats_us: f64,
    /// All reads of folder listings, where they were repeated.
    pub scans_us: Reading<f64>,
}

/// A record that older programs did not make.
fn not_recorded<T>() -> Reading<T> {
    Reading::unavailable("it was not recorded", "explain the program again")
}

/// Everything recorded about the launches of one command.
///
/// Each part may be missing; the explanation then names the best remaining source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inputs {
    /// What was launched.
    pub command: Command,
    /// Totals of untraced launches made beside the traced ones: as many before the first as
    /// after each.
    pub untraced_us: Vec<f64>,
    /// CPU time of the same launches, where it is known.
    #[serde(default)]
    pub untraced_cpu_us: Vec<Reading<f64>>,
    /// How many of the same launches left processes running, which headstart ended.
    #[serde(default)]
    pub left_running: u32,
    /// The launch is explained up to the moment when the program is ready, not to its end.
    #[serde(default)]
    pub until_ready: bool,
    /// Launches with marks only. The most typical one is explained.
    pub phase_traces: Reading<Vec<PhaseTrace>>,
    /// A launch with calls on the file system recorded.
    pub file_trace: Reading<PhaseTrace>,
    /// A launch with calls that wait recorded.
    #[serde(default = "not_recorded")]
    pub wait_trace: Reading<WaitTrace>,
    /// A launch with CPUID instructions counted.
    pub cpuid_trace: Reading<PhaseTrace>,
    /// Cost of one CPUID instruction here.
    pub cpuid_each_us: Reading<f64>,
    /// The hypervisor's name on a virtual machine.
    pub hypervisor: Option<String>,
    /// Launches with `LD_DEBUG=files,reloc,libs`. Those of static and musl programs are empty.
    pub loader_logs: Reading<Vec<LoaderLog>>,
    /// A launch with page faults recorded.
    pub page_faults: Reading<PageFaults>,
    /// Faults and reads as the kernel counted them for the whole launch: used where
    /// `page_faults` is missing.
    pub fault_totals: Reading<FaultTotals>,
    /// Cost of one minor page fault here.
    pub minor_fault_us: Reading<f64>,
    /// What parts of a file and copied pages cost here, where a bundle is executed.
    #[serde(default = "not_recorded")]
    pub memory_prices: Reading<MemoryPrices>,
    /// A launch with the functions recorded that it calls.
    #[serde(default = "not_recorded")]
    pub called_code: Reading<CalledCode>,
    /// Time of the recorded file-system calls when they are repeated.
    pub replay: Reading<ReplayTimes>,
    /// Real path (symbolic links resolved) by the path that a trace names. A path that is
    /// absent stands for itself.
    pub real_paths: BTreeMap<String, String>,
    /// Static facts by real path; the reason where a file could not be read as an image.
    pub facts: BTreeMap<String, Result<ElfFacts, String>>,
    /// Files that the loader would map for the launched program, in its order, where no record
    /// names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub simulated: Vec<String>,
    /// Executed files that headstart has made of others: the libraries merged in each, by its
    /// real path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bundles: BTreeMap<String, BTreeSet<String>>,
    /// The same files: what is in them, and what their start does.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub contents: BTreeMap<String, BundleContents>,
    /// Launches in which the start of these files is recorded step by step.
    #[serde(default = "not_recorded")]
    pub start_traces: Reading<Vec<PhaseTrace>>,
    /// Files of the launch that lie compressed, or that a process serves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unpacked: Vec<UnpackedFiles>,
    /// Where launches execute, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot: Option<Reading<Hot>>,
}

impl Inputs {
    /// Inputs in which every part is missing for the same reason.
    pub fn nothing(command: Command, reason: &str) -> Self {
        Inputs {
            command,
            untraced_us: Vec::new(),
            untraced_cpu_us: Vec::new(),
            left_running: 0,
            until_ready: false,
            phase_traces: Reading::unavailable(reason, ""),
            file_trace: Reading::unavailable(reason, ""),
            wait_trace: Reading::unavailable(reason, ""),
            cpuid_trace: Reading::unavailable(reason, ""),
            cpuid_each_us: Reading::unavailable(reason, ""),
            hypervisor: None,
            loader_logs: Reading::unavailable(reason, ""),
            page_faults: Reading::unavailable(reason, ""),
            fault_totals: Reading::unavailable(reason, ""),
            minor_fault_us: Reading::unavailable(reason, ""),
            memory_prices: Reading::unavailable(reason, ""),
            called_code: Reading::unavailable(reason, ""),
            replay: Reading::unavailable(reason, ""),
            real_paths: BTreeMap::new(),
            facts: BTreeMap::new(),
            simulated: Vec::new(),
            bundles: BTreeMap::new(),
            contents: BTreeMap::new(),
            start_traces: Reading::unavailable(reason, ""),
            unpacked: Vec::new(),
            hot: None,
        }
    }

    /// Every path for which `real_paths` and `facts` are wanted: the launched program, executed
    /// images, their loaders, modules of the loader logs, and files mapped executable. The logs
    /// know programs by their `argv[0]`, which may be a bare name.
    pub fn paths(&self) -> BTreeSet<String> {
        let mut paths = BTreeSet::from([model::text::text(&self.command.program)]);
        paths.extend(self.simulated.iter().cloned());
        for trace in self.phase_traces.value().into_iter().flatten() {
            for image in trace.processes.iter().flat_map(|process| &process.images) {
                paths.insert(image.path.clone());
                paths.extend(image.loader.clone());
            }
        }
        for log in self.loader_logs.value().into_iter().flatten() {
            for run in crate::elf::loader_log::runs(log) {
                paths.insert(run.program);
                paths.extend(run.modules.into_iter().filter_map(|module| module.path));
            }
        }
        if let Some(faults) = self.page_faults.value() {
            let mapped = faults.mappings.iter().filter_map(MemoryChange::mapping);
            let executable = mapped.filter(|mapping| mapping.executable);
            paths.extend(executable.map(|mapping| mapping.path.clone()));
        }
        paths.retain(|path| !path.starts_with("//") && !path.starts_with('['));
        paths
    }

    /// The least time that an untraced launch spent off the processor: what a busy machine adds is
    /// in some of them only. Nothing where several processors worked.
    pub(crate) fn idle_us(&self) -> Option<f64> {
        let launches = self.untraced_us.iter().zip(&self.untraced_cpu_us);
        let idle = launches.filter_map(|(total, cpu)| Some(total - cpu.get()?));
        idle.min_by(f64::total_cmp).filter(|us| *us > 0.0)
    }

    /// The real path that stands for `path`.
    pub(crate) fn real<'a>(&'a self, path: &'a str) -> &'a str {
        self.real_paths.get(path).map_or(path, String::as_str)
    }

    /// The real path of an executed image. The loader's log knows it by its `argv[0]` only: then
    /// the executable file of that name, where one was seen.
    pub(crate) fn program(&self, name: &str) -> String {
        let real = self.real(name);
        let base = crate::names::base_name(name);
        let is_program = |facts: &Result<ElfFacts, String>| {
            let library = [ImageKind::SharedLibrary, ImageKind::Loader];
            facts.as_ref().is_ok_and(|facts| !library.contains(&facts.kind))
        };
        let mut same = self
            .facts
            .iter()
            .filter(|(path, facts)| crate::names::base_name(path) == base && is_program(facts));
        match same.next() {
            Some((path, _)) if !real.starts_with('/') => path.clone(),
            _ => real.to_owned(),
        }
    }

    /// Failed opens in the file trace by base name: what a search along folders missed.
    pub(crate) fn failed_opens(&self) -> Option<BTreeMap<&str, u64>> {
        let trace = self.file_trace.value()?;
        let mut failed = BTreeMap::new();
        for call in &trace.file_calls {
            if call.operation == FileOperation::Open && call.error != 0 {
                *failed.entry(crate::names::base_name(&call.path)).or_default() += 1;
            }
        }
        Some(failed)
    }
}

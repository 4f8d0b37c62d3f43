//! Modules: times from the loader's log, faults from the fault record, facts from the files.

use crate::elf::faults::Attribution;
use crate::elf::inputs::Inputs;
use crate::elf::loader_log::{Run, median_runs};
use crate::elf::middle::median_by;
use crate::names::{base_name, loader_kind};
use crate::phases::Life;
use crate::time::{ns, us};
use model::{LoaderLog, ModuleReport, Phase, Reading};
use std::collections::BTreeMap;

mod bundled;
mod scale;

pub(crate) use bundled::Bundled;
use bundled::{add_bundle, merged, own_work};
use scale::{Scale, own_start};

/// Program and file or folder, real paths.
type Key = (String, String);

/// Modules with what findings need beside the reports.
#[derive(Clone, Debug, Default)]
pub(crate) struct Modules {
    /// Costliest first.
    pub reports: Vec<ModuleReport>,
    /// Failed attempts of the loader to open a library, by program and folder, most first.
    pub misses: Vec<(Key, u64)>,
    /// Modules loaded by dlopen and their map, relocate and initialize time.
    pub late: Vec<(Key, f64)>,
    /// Finalizers by module, as logged.
    pub finalizers: Vec<(Key, f64)>,
}

/// Times of one module, summed over the runs of its program.
#[derive(Default)]
struct Times {
    map: Option<f64>,
    relocate: Option<f64>,
    init: Option<f64>,
    misses: Option<u64>,
    by_kernel: bool,
}

/// The log that is analyzed: the one with the median total.
pub(crate) fn chosen_log(inputs: &Inputs) -> Option<&LoaderLog> {
    median_by(inputs.loader_logs.value()?, |log| log.total_us)
}

/// Puts together what is known of every module. `lives` are those of the phase trace; with
/// `scaled` the log's times are brought to the phases, whose launch wrote no log.
pub(crate) fn modules(
    inputs: &Inputs,
    lives: &[Life],
    scaled: bool,
    faults: &Reading<Attribution>,
    bundled: &Bundled,
) -> Modules {
    let mut modules = Modules::default();
    let mut times: BTreeMap<Key, Times> = BTreeMap::new();
    let mut misses: BTreeMap<Key, u64> = BTreeMap::new();
    let mut unmatched: Vec<&Life> = by_start(lives);
    let mut start = None;
    let log = chosen_log(inputs);
    let logs = inputs.loader_logs.value();
    for run in logs.map(|logs| median_runs(logs)).unwrap_or_default() {
        let life = take_match(&mut unmatched, &run);
        if log.is_some_and(|log| log.pid == run.pid) && times.is_empty() {
            start = life.and_then(|life| own_start(&run, life));
        }
        let started = life.filter(|_| scaled).and_then(|life| bundled.times(inputs, life));
        let outside = started.as_ref().map(|times| times.outside);
        let scale = Scale::new(&run, life.filter(|_| scaled), start, outside);
        let program = life.map_or(run.program.as_str(), |life| life.image.path.as_str());
        let program = inputs.program(program);
        add_run(&mut times, &mut modules, &run, &program, &scale, inputs);
        if let (Some(unseen), None) = (scale.outside, &run.before_merged) {
            let own = times.entry((program.clone(), program.clone())).or_default();
            add(&mut own.init, Some(unseen));
        }
        for (folder, count) in run.misses {
            *misses.entry((program.clone(), folder)).or_default() += count;
        }
    }
    for life in lives.iter().filter(|_| scaled) {
        add_bundle(&mut times, inputs, life, bundled);
    }
    modules.misses = misses.into_iter().collect();
    modules.misses.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    modules.reports = reports(inputs, lives, times, (faults, bundled));
    modules
}

fn by_start<'a, 'b>(lives: &'b [Life<'a>]) -> Vec<&'b Life<'a>> {
    let mut sorted: Vec<&Life> = lives.iter().collect();
    sorted.sort_by_key(|life| life.started);
    sorted
}

/// The executed image that wrote a run of the log: the first with its `argv[0]` that has none.
fn take_match<'a, 'b>(lives: &mut Vec<&'b Life<'a>>, run: &Run) -> Option<&'b Life<'a>> {
    let same = |life: &&&Life| life.image.argv.first() == Some(&run.program);
    let similar = |life: &&&Life| base_name(&life.image.path) == base_name(&run.program);
    let found = lives.iter().find(same).or_else(|| lives.iter().find(similar)).copied()?;
    lives.retain(|life| !std::ptr::eq(*life, found));
    Some(found)
}

fn add_run(
    times: &mut BTreeMap<Key, Times>,
    modules: &mut Modules,
    run: &Run,
    program: &str,
    scale: &Scale,
    inputs: &Inputs,
) {
    for module in &run.modules {
        let path = match &module.path {
            Some(path) => inputs.real(path).to_owned(),
            None if module.name == run.program => program.to_owned(),
            None => module.name.clone(),
        };
        let key = (program.to_owned(), path);
        let entry = times.entry(key.clone()).or_default();
        let loader = run.is_loader(module);
        let map = if loader { scale.start } else { module.map.map(|ns| us(ns) * scale.map) };
        let relocate = module.relocate.map(|ns| {
            let checking = if loader { run.checking } else { 0 };
            us(ns + checking) * scale.relocate
        });
        let init = match scale.outside {
            Some(_) if module.name == run.program => 0.0,
            Some(unseen) if run.before_merged.as_ref() == Some(&module.name) => unseen,
            _ => us(module.init.unwrap_or(0)) * scale.init,
        };
        entry.by_kernel |= module.map.is_none();
        add(&mut entry.map, map);
        add(&mut entry.relocate, relocate);
        add(&mut entry.init, Some(init));
        if let Some(misses) = module.misses {
            *entry.misses.get_or_insert(0) += misses;
        }
        if module.late {
            let sum = map.unwrap_or(0.0) + relocate.unwrap_or(0.0) + init;
            modules.late.push((key.clone(), sum));
        }
        if let Some(fini) = module.fini {
            modules.finalizers.push((key, us(fini)));
        }
    }
}

fn add(sum: &mut Option<f64>, value: Option<f64>) {
    if let Some(value) = value {
        *sum.get_or_insert(0.0) += value;
    }
}

fn reports(
    inputs: &Inputs,
    lives: &[Life],
    times: BTreeMap<Key, Times>,
    (faults, bundled): (&Reading<Attribution>, &Bundled),
) -> Vec<ModuleReport> {
    let mut times: BTreeMap<Key, Option<Times>> =
        times.into_iter().map(|(key, times)| (key, Some(times))).collect();
    let is_image = |path: &str| inputs.facts.get(path).is_some_and(Result::is_ok);
    for key in faults.value().into_iter().flat_map(|found| found.files.keys()) {
        if is_image(&key.1) && !times.contains_key(key) {
            times.insert(key.clone(), None);
        }
    }
    for life in lives {
        let path = inputs.program(&life.image.path);
        times.entry((path.clone(), path)).or_default();
    }
    let launched = inputs.program(&model::text::text(&inputs.command.program));
    if times.is_empty() && is_image(&launched) {
        times.insert((launched.clone(), launched.clone()), None);
    }
    for path in &inputs.simulated {
        times.entry((launched.clone(), inputs.real(path).to_owned())).or_default();
    }
    for program in bundled.paths() {
        for library in inputs.contents.get(program).into_iter().flat_map(|it| &it.libraries) {
            let key = (program.clone(), inputs.real(&library.path).to_owned());
            times.entry(key).or_default();
        }
    }
    let report = |(key, times): (Key, Option<Times>)| match bundled.merged(inputs, &key.0, &key.1) {
        Some(part) => bundled.report(key, times.and_then(|t| t.init), part, faults),
        None => report(inputs, lives, key, times, (faults, bundled)),
    };
    let mut reports: Vec<ModuleReport> = times.into_iter().map(report).collect();
    attribute_reads(inputs, &mut reports);
    let cost = |report: &ModuleReport| {
        let times = [&report.map_us, &report.relocate_us, &report.init_us];
        times.into_iter().filter_map(Reading::get).sum::<f64>()
    };
    reports.sort_by(|a, b| {
        let faults = |report: &ModuleReport| report.minor_faults.get();
        cost(b).total_cmp(&cost(a)).then(faults(b).cmp(&faults(a))).then(a.path.cmp(&b.path))
    });
    reports
}

fn report(
    inputs: &Inputs,
    lives: &[Life],
    (program, path): Key,
    times: Option<Times>,
    (faults, bundled): (&Reading<Attribution>, &Bundled),
) -> ModuleReport {
    let missing = || why_no_times(inputs, lives, &program);
    let figure = |value: Option<f64>, reason: &str| match (&times, value) {
        (_, Some(value)) => Reading::Value(us(ns(value))),
        (Some(_), None) => Reading::unavailable(reason, ""),
        (None, None) => missing(),
    };
    let get = |figure: fn(&Times) -> Option<f64>| times.as_ref().and_then(figure);
    let by_kernel = times.as_ref().is_some_and(|times| times.by_kernel);
    let no_map = if by_kernel {
        "mapped by the kernel during exec"
    } else {
        "the loader's log does not say when it was mapped"
    };
    let counted = faults.clone().map(|found| {
        found.files.get(&(program.clone(), path.clone())).copied().unwrap_or_default()
    });
    ModuleReport {
        map_us: figure(get(|times| times.map), no_map),
        relocate_us: figure(get(|times| times.relocate), "it was not relocated"),
        init_us: figure(get(|times| times.init), ""),
        minor_faults: counted.clone().map(|faults| faults.minor),
        major_faults: counted.map(|faults| faults.major),
        read_bytes: Reading::unavailable("counted where the file was first loaded", ""),
        search_misses: misses(inputs, times.as_ref(), by_kernel, &path),
        facts: match inputs.facts.get(&path) {
            Some(Ok(facts)) => Reading::Value(facts.clone()),
            Some(Err(reason)) => Reading::unavailable(reason, ""),
            None if !path.contains('/') => Reading::unavailable(
                "the loader's log has only its name, and there is no such program in PATH",
                "start it by its path",
            ),
            None => Reading::unavailable("the file was not read", ""),
        },
        pe: None,
        merged: merged(inputs, &path),
        merged_in: None,
        work: own_work(inputs, bundled, &path),
        path,
        program,
    }
}

/// Failed attempts to open a module: from the log, otherwise from failed opens of that name.
fn misses(inputs: &Inputs, times: Option<&Times>, by_kernel: bool, path: &str) -> Reading<u64> {
    if by_kernel {
        return Reading::unavailable("the kernel opens it without a search", "");
    }
    if let Some(misses) = times.and_then(|times| times.misses) {
        return Reading::Value(misses);
    }
    match inputs.failed_opens() {
        Some(failed) => Reading::Value(failed.get(base_name(path)).copied().unwrap_or(0)),
        None => Reading::unavailable(
            "neither the loader's searches nor its open calls were \
             seen",
            "",
        ),
    }
}

/// Why a module of `program` has no times although its file was mapped.
fn why_no_times(inputs: &Inputs, lives: &[Life], program: &str) -> Reading<f64> {
    if let Reading::Unavailable { reason, remedy } = &inputs.loader_logs {
        return Reading::unavailable(reason, remedy);
    }
    let life = lives.iter().find(|life| inputs.program(&life.image.path) == program);
    match life.map(|life| loader_kind(life.image.loader.as_deref())).as_deref() {
        Some("static") => Reading::unavailable("a static program has no loader", ""),
        Some("musl") => Reading::unavailable("musl's loader has no log", ""),
        _ => Reading::unavailable("it is not in the loader's log", ""),
    }
}

/// Bytes read belong to a file: the first program that loaded it is charged.
fn attribute_reads(inputs: &Inputs, reports: &mut [ModuleReport]) {
    let Some(record) = inputs.page_faults.value() else {
        let reason = inputs.page_faults.reason().unwrap_or_default();
        reports.iter_mut().for_each(|r| r.read_bytes = Reading::unavailable(reason, ""));
        return;
    };
    let mut by_file: BTreeMap<&str, u64> = BTreeMap::new();
    match &record.read_bytes_by_file {
        Reading::Value(files) => {
            for (path, bytes) in files {
                *by_file.entry(inputs.real(path)).or_default() += bytes;
            }
        }
        Reading::Unavailable { reason, remedy } => {
            let missing = Reading::unavailable(reason, remedy);
            reports.iter_mut().for_each(|report| report.read_bytes = missing.clone());
            return;
        }
    }
    let mut charged = std::collections::BTreeSet::new();
    for report in reports.iter_mut() {
        if charged.insert(report.path.clone()) {
            report.read_bytes =
                Reading::Value(by_file.get(report.path.as_str()).copied().unwrap_or(0));
        }
    }
}

/// Nanoseconds of a phase of a life.
fn phase_ns(life: &Life, phase: Phase) -> i64 {
    life.times().get(&phase).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests;

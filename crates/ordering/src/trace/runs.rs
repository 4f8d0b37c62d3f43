//! What traces say of one image: a run for each process that called functions of it, in terms of
//! the image's present functions.
//!
//! A call is matched by its address where the trace is of the same build, and by name where it is
//! of another, whatever its build-id says: first by the same name, then by the same
//! [`root`](super::matched_names::root).

use crate::function::{CalledFunctions, PlacedFunction};
use crate::trace::build_ids::is_contradicted;
use crate::trace::names_index::Names;
use crate::trace::pairing::{TraceMatch, pair};
use model::{FirstCall, FunctionId, FunctionModule, FunctionTrace, Rva};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// The image whose functions are to be ordered.
#[derive(Clone, Copy, Debug)]
pub struct OrderedImage<'a> {
    /// Its file; for how a trace's module is known to be this image, or another build of it, see
    /// [`super::pairing::PairedBy`].
    pub path: &'a str,
    /// The path that it has in the traces, where somebody asked for that.
    pub module: Option<&'a str>,
    /// The name that a library gives itself.
    pub soname: Option<&'a str>,
    /// Its build-id in hexadecimal digits, where it has one.
    pub build_id: Option<&'a str>,
    /// Its functions, in order of address.
    pub functions: &'a [PlacedFunction],
    /// Their names, in order of function; a function may have several.
    pub names: &'a [NamedFunction<'a>],
}

/// A name of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedFunction<'a> {
    /// The function.
    pub function: FunctionId,
    /// Its name as the linker knows it.
    pub name: &'a str,
}

/// What traces say of an image.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MatchedRuns {
    /// A run for each trace and each process of it that called the image's functions. A process
    /// that was forked without execve has its parent's calls up to then in front of its own.
    pub runs: Vec<CalledFunctions>,
    /// Calls of the image in all traces that were matched by address.
    pub by_address: usize,
    /// Those that were matched by name.
    pub by_name: usize,
    /// Those that no function of the image is for.
    pub unmatched: Vec<UnmatchedCall>,
    /// What each trace adds to that.
    pub traces: Vec<TraceMatch>,
}

/// A call of which nobody knows what function of the image it is today.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmatchedCall {
    /// Which of the traces has it.
    pub trace: usize,
    /// Its name there; empty where the trace does not tell.
    pub name: String,
    /// Its address there.
    pub rva: Rva,
}

impl MatchedRuns {
    /// Percentage of the calls that were matched; `None` without any calls.
    pub fn matched_percent(&self) -> Option<f64> {
        let matched = self.by_address + self.by_name;
        let all = matched + self.unmatched.len();
        (all > 0).then(|| 100.0 * matched as f64 / all as f64)
    }
}

/// What the traces say of the image.
pub fn runs(traces: &[FunctionTrace], image: &OrderedImage<'_>) -> MatchedRuns {
    let names = Names::new(image.names);
    let each = traces.par_iter().enumerate();
    let each = each.map(|(index, trace)| runs_of(index, trace, image, &names));
    let mut all = MatchedRuns::default();
    for mut found in each.collect::<Vec<MatchedRuns>>() {
        all.runs.append(&mut found.runs);
        all.by_address += found.by_address;
        all.by_name += found.by_name;
        all.unmatched.append(&mut found.unmatched);
        all.traces.append(&mut found.traces);
    }
    all
}

/// What one trace says.
fn runs_of(
    index: usize,
    trace: &FunctionTrace,
    image: &OrderedImage<'_>,
    names: &Names<'_>,
) -> MatchedRuns {
    let mut found = MatchedRuns::default();
    let mut paired = pair(trace, image);
    let is_wrong = |module: usize| {
        paired.paired_by_build()
            && paired.modules[module]
            && is_contradicted(trace, module, image, names)
    };
    let wrong_ids: Vec<bool> = (0..trace.modules.len()).map(is_wrong).collect();
    paired.has_wrong_id = wrong_ids.contains(&true);
    let mut runs: Vec<Option<Run>> = Vec::new();
    runs.resize_with(trace.programs.len().max(1), || None);
    for call in &trace.calls {
        begin(&mut runs, trace, call.program);
        let module = trace.modules.get(call.module.index());
        let is_of_image = paired.modules.get(call.module.index()) == Some(&true);
        let Some(module) = module.filter(|_| is_of_image) else { continue };
        let has_wrong_id = wrong_ids.get(call.module.index()) == Some(&true);
        let function = match matched(call, (module, has_wrong_id), image, names) {
            Match::Address(function) => (found.by_address += 1, function).1,
            Match::Name(function) => (found.by_name += 1, function).1,
            Match::None => {
                let (name, rva) = (call.name.clone(), call.rva);
                found.unmatched.push(UnmatchedCall { trace: index, name, rva });
                continue;
            }
        };
        if let Some(Some(run)) = runs.get_mut(call.program as usize) {
            run.call(function, call.count);
        }
    }
    let called = runs.into_iter().flatten().filter(|run| !run.order.is_empty());
    found.runs.extend(called.map(|run| run.finish(trace.weight)));
    let matched = found.by_address + found.by_name;
    found.traces.push(TraceMatch { matched, calls: matched + found.unmatched.len(), ..paired });
    found
}

pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The calls of one process.
#[derive(Clone, Default)]
struct Run {
    order: Vec<FunctionId>,
    counts: Vec<u64>,
    is_counted: bool,
    places: FxHashMap<FunctionId, usize>,
}

impl Run {
    fn call(&mut self, function: FunctionId, count: Option<u64>) {
        self.is_counted &= count.is_some();
        let place = *self.places.entry(function).or_insert(self.order.len());
        let count = count.unwrap_or(0);
        match self.counts.get_mut(place) {
            Some(sum) => *sum = sum.saturating_add(count),
            None => {
                self.order.push(function);
                self.counts.push(count);
            }
        }
    }

    fn finish(self, weight: f64) -> CalledFunctions {
        let counts = if self.is_counted { self.counts } else { Vec::new() };
        CalledFunctions { weight, first_calls: self.order, counts }
    }
}

/// Begins the run of a program that calls for the first time: with what the one that it was forked
/// from has called so far.
fn begin(runs: &mut [Option<Run>], trace: &FunctionTrace, program: u32) {
    let mut chain = Vec::new();
    let mut next = Some(program);
    // A program is forked from an earlier one: a file that says otherwise ends the chain.
    while let Some(index) = next.filter(|it| runs.get(*it as usize).is_some_and(Option::is_none)) {
        chain.push(index);
        let parent = trace.programs.get(index as usize).and_then(|it| it.forked_from);
        next = parent.filter(|parent| *parent < index);
    }
    for index in chain.into_iter().rev() {
        let parent = trace.programs.get(index as usize).and_then(|it| it.forked_from);
        let parent = parent.filter(|parent| *parent < index).map(|it| it as usize);
        let run = parent.and_then(|parent| runs.get(parent)?.clone());
        let run = run.unwrap_or(Run { is_counted: true, ..Run::default() });
        if let Some(place) = runs.get_mut(index as usize) {
            *place = Some(run);
        }
    }
}

enum Match {
    Address(FunctionId),
    Name(FunctionId),
    None,
}

fn matched(
    call: &FirstCall,
    (module, has_wrong_id): (&FunctionModule, bool),
    image: &OrderedImage<'_>,
    names: &Names<'_>,
) -> Match {
    let builds = module.build_id.as_deref().zip(image.build_id);
    let here = covering(image.functions, call.rva).filter(|_| !module.names_only && !has_wrong_id);
    match (builds, here) {
        (Some((one, other)), Some(function)) if one == other => return Match::Address(function),
        // Nobody knows whether it is the same build: names may tell.
        (None, Some(function)) if names.may_be(function, &call.name) => {
            return Match::Address(function);
        }
        _ => {}
    }
    let candidates = names.called(&call.name);
    let best = candidates.iter().min_by_key(|function| {
        let placed = image.functions.get(function.index());
        placed.map(|it| (it.bytes.abs_diff(call.bytes), it.rva.0.abs_diff(call.rva.0)))
    });
    best.map_or(Match::None, |function| Match::Name(*function))
}

/// The function that an address is in.
pub(super) fn covering(functions: &[PlacedFunction], rva: Rva) -> Option<FunctionId> {
    let after = functions.partition_point(|function| function.rva <= rva);
    let index = after.checked_sub(1)?;
    let function = functions.get(index)?;
    let within = rva.since(function.rva)?;
    (within < function.bytes.max(1)).then(|| FunctionId::at(index))
}

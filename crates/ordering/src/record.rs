//! From what the tracer recorded to a trace with names.

use crate::predict::PAGE_BYTES;
use image::DEBUG_FOLDER;
use model::text;
use model::{Command, Ending, FirstCall, FunctionModule, FunctionTrace, ModuleCalls, Rva, Va};
use os::trace::{RecordedFunctions, RecordedModule};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

/// The name by which a trace tells that headstart itself recorded it.
pub const RECORDER: &str = "headstart";

/// What a function is called, and how large it is.
#[derive(Clone, Debug, Default)]
struct NamedFunction {
    name: String,
    bytes: u32,
}

/// The functions of one module that were called, by RVA.
type NamedFunctions = FxHashMap<Rva, NamedFunction>;

/// The trace of a recorded launch of `command`. Names come from the modules' files as they are now,
/// and from their debug files.
pub fn trace(recorded: RecordedFunctions, command: &Command) -> FunctionTrace {
    let RecordedFunctions { modules, programs, calls, mut notes, ending, ready, .. } = recorded;
    let mut called: Vec<Vec<Rva>> = vec![Vec::new(); modules.len()];
    for call in &calls {
        called[call.module.index()].push(call.rva);
    }
    let named: Vec<Result<NamedFunctions, String>> =
        modules.par_iter().zip(&called).map(|(module, called)| names(module, called)).collect();
    let unnamed = |(module, called): (&RecordedModule, Vec<Rva>)| {
        let unnamed =
            |rva| (rva, NamedFunction { name: String::new(), bytes: until_next(module, rva) });
        called.into_iter().map(unnamed).collect::<NamedFunctions>()
    };
    let named: Vec<NamedFunctions> = named
        .into_iter()
        .zip(modules.iter().zip(called))
        .map(|(named, module)| {
            named.unwrap_or_else(|why| {
                notes.push(why);
                unnamed(module)
            })
        })
        .collect();
    let calls = calls.iter().map(|call| {
        let known = named[call.module.index()].get(&call.rva).cloned().unwrap_or_default();
        FirstCall {
            program: call.program,
            module: call.module,
            rva: call.rva,
            bytes: known.bytes,
            count: call.count,
            name: known.name,
        }
    });
    FunctionTrace {
        recorder: RECORDER.to_owned(),
        command: command.argv.iter().map(text::text).collect(),
        launched: Some(text::text(
            files::real_path(&command.program).as_ref().unwrap_or(&command.program),
        )),
        weight: 1.0,
        ending: Some(if ready { Ending::Ready } else { ending }),
        openoffice: None,
        calls: calls.collect(),
        modules: modules.iter().map(module).collect(),
        programs,
        notes,
    }
}

fn module(recorded: &RecordedModule) -> FunctionModule {
    let functions = &recorded.functions;
    FunctionModule {
        path: recorded.path.clone(),
        build_id: functions.build_id.clone(),
        format: functions.format,
        preferred_base: functions.preferred_base,
        mapped_at: Some(recorded.mapped_at),
        names_only: false,
        watched: u32::try_from(functions.starts.len()).ok(),
    }
}

/// Names and sizes of the functions that begin at `called`; an error in words where the file
/// cannot be read any more, or is another.
fn names(module: &RecordedModule, called: &[Rva]) -> Result<NamedFunctions, String> {
    if called.is_empty() {
        return Ok(NamedFunctions::default());
    }
    let base = module.functions.preferred_base;
    let starts: Vec<Va> = called.iter().map(|rva| base.saturating_add(rva.0.into())).collect();
    let path = text::name(&module.path);
    let build = image::build_of(Path::new(&path));
    if build.is_some() && build != module.functions.build_id {
        return Err(format!(
            "'{}' was replaced during the launch, so its functions have no names; record the launch again",
            module.path
        ));
    }
    let found = image::functions_starting(Path::new(&path), Path::new(DEBUG_FOLDER), &starts);
    let found = found.map_err(|error| format!("names of functions cannot be read: {error}"))?;
    let named = called.iter().copied().zip(found).map(|(rva, function)| {
        let known = function.map_or(NamedFunction::default(), |function| NamedFunction {
            name: function.name.unwrap_or_default(),
            bytes: u32::try_from(function.bytes).unwrap_or(u32::MAX),
        });
        let bytes = if known.bytes > 0 { known.bytes } else { until_next(module, rva) };
        (rva, NamedFunction { bytes, ..known })
    });
    Ok(named.collect())
}

/// Bytes from a start to the next one: hand-written code often states no size.
fn until_next(module: &RecordedModule, rva: Rva) -> u32 {
    let starts = &module.functions.starts;
    let after = starts.partition_point(|start| *start <= rva);
    starts.get(after).map_or(0, |next| *next - rva)
}

/// First calls, those of a library that a program loads again not counted again.
pub fn first_calls(trace: &FunctionTrace) -> u64 {
    let calls = trace.calls.iter().map(|call| (call.program, call.module, call.rva));
    calls.collect::<FxHashSet<_>>().len() as u64
}

/// What a trace has of each module, those with the most called functions first.
pub fn modules(trace: &FunctionTrace) -> Vec<ModuleCalls> {
    let mut called: Vec<BTreeMap<Rva, u32>> = vec![BTreeMap::new(); trace.modules.len()];
    for call in &trace.calls {
        called[call.module.index()].insert(call.rva, call.bytes);
    }
    let modules = trace.modules.iter().zip(called);
    let mut modules: Vec<ModuleCalls> =
        modules.map(|(module, called)| module_calls(module, &called)).collect();
    modules.sort_by_key(|module| Reverse(module.called));
    modules
}

/// Functions that were watched, those of a module once, however often it was mapped.
pub fn watched(modules: &[ModuleCalls]) -> u64 {
    modules.iter().filter_map(|module| module.watched).sum()
}

/// What was called of one module, by address.
fn module_calls(module: &FunctionModule, called: &BTreeMap<Rva, u32>) -> ModuleCalls {
    let called_bytes: u64 = called.values().map(|&bytes| u64::from(bytes)).sum();
    let page = |rva: u64| rva / PAGE_BYTES;
    let (mut touched_pages, mut behind) = (0, 0);
    for (rva, &bytes) in called {
        let first = page(rva.0.into()).max(behind);
        let end = page(u64::from(rva.0) + u64::from(bytes.max(1)) - 1) + 1;
        touched_pages += end.saturating_sub(first);
        behind = behind.max(end);
    }
    ModuleCalls {
        path: module.path.clone(),
        watched: module.watched.map(u64::from),
        called: called.len() as u64,
        called_bytes,
        touched_pages,
        floor_pages: called_bytes.div_ceil(PAGE_BYTES),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::ModuleId;

    #[test]
    fn a_library_that_is_loaded_again_counts_once() {
        let call = |program, rva| FirstCall {
            program,
            module: ModuleId(0),
            rva: Rva(rva),
            bytes: 1,
            count: None,
            name: String::new(),
        };
        let trace = FunctionTrace {
            modules: vec![FunctionModule { watched: Some(9), ..FunctionModule::default() }],
            // The second program is another launch of the same.
            calls: vec![call(0, 1), call(0, 2), call(0, 1), call(1, 1)],
            ..FunctionTrace::default()
        };
        assert_eq!(first_calls(&trace), 3);
        assert_eq!(watched(&modules(&trace)), 9);
    }
}

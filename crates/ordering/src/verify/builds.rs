//! Modules that were linked again: those of both builds that have the same name and not the same
//! file.

use crate::predict::{PAGE_BYTES, WINDOW_PAGES};
use crate::trace::matched_names::root;
use model::{FunctionTrace, Rva};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A recorded launch of a build.
pub struct TracedBuild {
    pub trace: FunctionTrace,
}

/// A module of both builds.
pub struct ModulePair {
    /// Its file name.
    pub name: String,
    /// In the build before, and in that after.
    pub sides: [BuildModule; 2],
}

/// A module of one build.
pub struct BuildModule {
    /// Its file.
    pub path: String,
    /// Its called functions: size and name by address.
    pub called: BTreeMap<Rva, CalledFunction>,
    /// In order of first call.
    pub order: Vec<Rva>,
}

/// A called function.
pub struct CalledFunction {
    pub bytes: u32,
    pub name: String,
}

/// What the called functions of a build take.
#[derive(Default)]
pub struct Layout {
    pub pages: u64,
    pub windows: u64,
    pub floor: u64,
}

/// The modules that were linked again. The program itself is one even under another name.
pub fn pairs(old: &TracedBuild, new: &TracedBuild) -> Vec<ModulePair> {
    let mut found = Vec::new();
    for (index, module) in old.trace.modules.iter().enumerate() {
        let name = file_name(&module.path);
        let same_name = |other: &&model::FunctionModule| file_name(&other.path) == name;
        let others = &new.trace.modules;
        let other = if index == 0 { others.first() } else { others.iter().find(same_name) };
        let Some(other) = other else { continue };
        let is_other = other.path != module.path
            && (other.build_id != module.build_id || other.build_id.is_none());
        if is_other {
            let sides = [side(&old.trace, &module.path), side(&new.trace, &other.path)];
            found.push(ModulePair { name: name.to_owned(), sides });
        }
    }
    found
}

fn file_name(path: &str) -> &str {
    Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path)
}

fn side(trace: &FunctionTrace, path: &str) -> BuildModule {
    let mut side =
        BuildModule { path: path.to_owned(), called: BTreeMap::new(), order: Vec::new() };
    for call in &trace.calls {
        let module = trace.modules.get(call.module.index());
        if module.is_some_and(|module| module.path == path) && !side.called.contains_key(&call.rva)
        {
            side.order.push(call.rva);
            let function = CalledFunction { bytes: call.bytes, name: call.name.clone() };
            side.called.insert(call.rva, function);
        }
    }
    side
}

/// What the called functions of one build take, in all its modules that were linked again.
pub fn layout(pairs: &[ModulePair], side: usize) -> Layout {
    let mut sum = Layout::default();
    for pair in pairs {
        let mut pages = BTreeSet::new();
        let mut bytes = 0;
        for (rva, function) in &pair.sides[side].called {
            let first = u64::from(rva.0);
            let last = first + u64::from(function.bytes.max(1)) - 1;
            pages.extend(first / PAGE_BYTES..=last / PAGE_BYTES);
            bytes += u64::from(function.bytes);
        }
        let windows: BTreeSet<u64> =
            pages.iter().map(|page| page / u64::from(WINDOW_PAGES)).collect();
        sum.pages += pages.len() as u64;
        sum.windows += windows.len() as u64;
        sum.floor += bytes.div_ceil(PAGE_BYTES);
    }
    sum
}

/// Called functions of the old build that the new one calls too, by name, in percent.
pub fn resolved_percent(pairs: &[ModulePair]) -> f64 {
    let (mut all, mut resolved) = (0_u64, 0_u64);
    for pair in pairs {
        let names = |side: &BuildModule| -> BTreeSet<String> {
            let named = side.called.values().filter(|function| !function.name.is_empty());
            named.map(|function| root(&function.name).into_owned()).collect()
        };
        let [old, new] = [names(&pair.sides[0]), names(&pair.sides[1])];
        all += old.len() as u64;
        resolved += old.intersection(&new).count() as u64;
    }
    if all == 0 { 100.0 } else { 100.0 * resolved as f64 / all as f64 }
}

//! What traced launches of a build call in its relinked modules, and what that takes.

use super::repeated::Repeated;
use crate::predict::{PAGE_BYTES, WINDOW_PAGES};
use crate::trace::matched_names::root;
use model::{FunctionTrace, Rva};
use std::collections::{BTreeMap, BTreeSet};

/// A module of both builds that was relinked.
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
    /// What each traced launch calls of it.
    pub launches: Vec<LaunchCalls>,
}

/// What one launch calls of a module.
#[derive(Default)]
pub struct LaunchCalls {
    /// Size and name by address.
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
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Layout {
    pub pages: u64,
    pub windows: u64,
    pub floor: u64,
}

impl BuildModule {
    pub fn of(traces: &[FunctionTrace], path: &str) -> BuildModule {
        let launches = traces.iter().map(|trace| LaunchCalls::of(trace, path)).collect();
        BuildModule { path: path.to_owned(), launches }
    }

    /// All functions that any of the launches calls: names by address.
    pub fn called(&self) -> BTreeMap<Rva, &str> {
        let all = self.launches.iter().flat_map(|launch| &launch.called);
        all.map(|(rva, function)| (*rva, function.name.as_str())).collect()
    }
}

impl LaunchCalls {
    fn of(trace: &FunctionTrace, path: &str) -> LaunchCalls {
        let mut found = LaunchCalls::default();
        for call in &trace.calls {
            let module = trace.modules.get(call.module.index());
            let is_it = module.is_some_and(|module| module.path == path);
            if is_it && !found.called.contains_key(&call.rva) {
                found.order.push(call.rva);
                let function = CalledFunction { bytes: call.bytes, name: call.name.clone() };
                found.called.insert(call.rva, function);
            }
        }
        found
    }
}

/// What each launch of one build takes, in all its relinked modules.
pub fn layouts(pairs: &[ModulePair], side: usize) -> Vec<Layout> {
    let launches = pairs.iter().map(|pair| pair.sides[side].launches.len()).min().unwrap_or(0);
    (0..launches).map(|launch| layout(pairs, side, launch)).collect()
}

fn layout(pairs: &[ModulePair], side: usize, launch: usize) -> Layout {
    let mut sum = Layout::default();
    for pair in pairs {
        let mut pages = BTreeSet::new();
        let mut bytes = 0;
        for (rva, function) in &pair.sides[side].launches[launch].called {
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

/// The layout of the launch with the median of the pages.
pub fn median(layouts: &[Layout]) -> Layout {
    let pages = Repeated::of(layouts.iter().map(|layout| layout.pages as f64));
    let is_median = |layout: &&Layout| layout.pages as f64 == pages.median();
    layouts.iter().find(is_median).copied().unwrap_or_default()
}

/// Whether every launch of both builds calls the same functions of the relinked modules: by address
/// within a build, and by name from one to the other.
pub fn is_steady(pairs: &[ModulePair]) -> bool {
    pairs.iter().all(|pair| {
        let is_same = |module: &BuildModule| {
            let mut each = module.launches.windows(2);
            each.all(|two| two[0].called.keys().eq(two[1].called.keys()))
        };
        let [old, new] = &pair.sides;
        is_same(old) && is_same(new) && names(old) == names(new)
    })
}

/// Names of the called functions, without what is numbered anew in each build.
fn names(module: &BuildModule) -> BTreeSet<String> {
    let called = module.called();
    let named = called.values().filter(|name| !name.is_empty());
    named.map(|name| root(name).into_owned()).collect()
}

/// Functions that the old build calls and the new one calls too, by name, in percent of the former;
/// nothing where none has a name.
pub fn resolved_percent(pairs: &[ModulePair]) -> Option<f64> {
    let (mut all, mut resolved) = (0_u64, 0_u64);
    for pair in pairs {
        let [old, new] = [names(&pair.sides[0]), names(&pair.sides[1])];
        all += old.len() as u64;
        resolved += old.intersection(&new).count() as u64;
    }
    (all > 0).then(|| 100.0 * resolved as f64 / all as f64)
}

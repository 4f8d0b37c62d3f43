//! Libraries that are merged in bundles, as modules of their own.

use super::{Key, Times, add, phase_ns};
use crate::elf::bundles::entered;
use crate::elf::faults::Attribution;
use crate::elf::inputs::Inputs;
use crate::elf::start::{StartShares, StartTimes, shares, times};
use crate::names::base_name;
use crate::phases::Life;
use crate::time::{ns, us};
use model::{
    BundleContents, BundlePart, ElfFacts, FileOffset, ModuleReport, PartWork, Phase, Reading,
};
use std::collections::BTreeMap;

/// The bundles of a launch that ran, by file, and how the start of each divides its time. One that
/// started its original instead is a file like any other.
#[derive(Debug, Default)]
pub(crate) struct Bundled(BTreeMap<String, Reading<StartShares>>);

impl Bundled {
    pub fn new(inputs: &Inputs, lives: &[Life]) -> Bundled {
        let ran = |path: &&String| {
            let mut own = lives.iter().filter(|life| inputs.program(&life.image.path) == **path);
            // Where no record shows any process, nothing speaks against it.
            lives.is_empty() || own.any(entered)
        };
        let all = inputs.contents.keys().filter(ran);
        Bundled(all.map(|path| (path.clone(), shares(inputs, path))).collect())
    }

    /// Files of bundles that ran.
    pub fn paths(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    /// The library that is merged in a program's file under this path.
    pub fn merged<'a>(
        &self,
        inputs: &'a Inputs,
        program: &str,
        path: &str,
    ) -> Option<&'a BundlePart> {
        let libraries = &inputs.contents.get(program)?.libraries;
        let known = self.0.contains_key(program);
        libraries.iter().find(|library| known && inputs.real(&library.path) == path)
    }

    /// The path of the library that a program's own file, a bundle, has at an offset.
    pub fn part<'a>(&self, inputs: &'a Inputs, program: &str, at: FileOffset) -> Option<&'a str> {
        let contents = inputs.contents.get(program).filter(|_| self.0.contains_key(program))?;
        let here = |part: &&BundlePart| part.places.iter().any(|place| place.contains(&at));
        Some(inputs.real(&contents.libraries.iter().find(here)?.path))
    }

    /// What the start of the bundle takes that an image is.
    pub fn times(&self, inputs: &Inputs, life: &Life) -> Option<StartTimes> {
        let path = inputs.program(&life.image.path);
        times(self.0.get(&path)?.value()?, inputs.contents.get(&path)?, life)
    }

    /// Why nothing is known of the steps of a bundle's start.
    pub fn missing(&self, path: &str) -> Reading<f64> {
        match self.0.get(path) {
            Some(Reading::Unavailable { reason, remedy }) => Reading::unavailable(reason, remedy),
            _ => Reading::unavailable("the launch does not show where its program begins", ""),
        }
    }

    /// The report on a merged library of a program.
    pub fn report(
        &self,
        (program, path): Key,
        init: Option<f64>,
        part: &BundlePart,
        faults: &Reading<Attribution>,
    ) -> ModuleReport {
        let counted = faults.clone().map(|found| {
            found.files.get(&(program.clone(), path.clone())).copied().unwrap_or_default()
        });
        ModuleReport {
            map_us: apart("the kernel maps it during exec with", &program),
            relocate_us: apart("it is relocated as a part of", &program),
            init_us: match init {
                Some(init) => Reading::Value(us(ns(init))),
                None => self.missing(&program),
            },
            minor_faults: counted.clone().map(|faults| faults.minor),
            major_faults: counted.map(|faults| faults.major),
            read_bytes: apart("what is read is counted for", &program),
            search_misses: apart("nothing looks for it: it is in", &program),
            facts: apart("its own file is not used: it is merged in", &program),
            pe: None,
            merged: Vec::new(),
            merged_in: Some(program.clone()),
            work: Some(part.work),
            path,
            program,
        }
    }
}

/// Why a figure is none of a merged library.
fn apart<T>(why: &str, bundle: &str) -> Reading<T> {
    Reading::unavailable(format!("{why} {bundle}"), "")
}

/// What the start of a bundle takes in one process, by library; the check and the program's own
/// initializers are the bundle's.
pub(super) fn add_bundle(
    times: &mut BTreeMap<Key, Times>,
    inputs: &Inputs,
    life: &Life,
    bundled: &Bundled,
) {
    let program = inputs.program(&life.image.path);
    let Some(contents) = inputs.contents.get(&program) else { return };
    let Some(started) = bundled.times(inputs, life) else {
        if !entered(life) {
            // Of its check the log shows the beginning only.
            let own = times.entry((program.clone(), program)).or_default();
            own.init = Some(us(phase_ns(life, Phase::Initialize)));
        }
        return;
    };
    let own = times.entry((program.clone(), program.clone())).or_default();
    own.by_kernel = true;
    add(&mut own.init, Some(started.check + started.own));
    for (library, us) in contents.libraries.iter().zip(started.libraries) {
        let key = (program.clone(), inputs.real(&library.path).to_owned());
        add(&mut times.entry(key).or_default().init, Some(us));
    }
}

/// The libraries that are merged in a file.
pub(super) fn merged(inputs: &Inputs, path: &str) -> Vec<String> {
    match inputs.contents.get(path) {
        Some(contents) => {
            contents.libraries.iter().map(|one| base_name(&one.path).to_owned()).collect()
        }
        None => inputs.bundles.get(path).into_iter().flatten().cloned().collect(),
    }
}

/// What each start of a bundle does that is not for one of its libraries; the program's own initializers are
/// called by its start code.
pub(super) fn own_work(inputs: &Inputs, bundled: &Bundled, path: &str) -> Option<PartWork> {
    let contents = inputs.contents.get(path).filter(|_| bundled.paths().any(|own| own == path))?;
    let facts = inputs.facts.get(path)?.as_ref().ok()?;
    if contents.work.is_none() {
        return Some(counted_by_loader(contents, facts));
    }
    // The check is called as an initializer.
    let own = facts.initializers.saturating_sub(1);
    Some(PartWork { initializers: contents.own_work.initializers + own, ..contents.own_work })
}

/// What the loader does for a bundle of another version without what it does for its libraries.
fn counted_by_loader(contents: &BundleContents, facts: &ElfFacts) -> PartWork {
    let rest = |all: u64, figure: fn(&PartWork) -> u64| {
        let parts: u64 = contents.libraries.iter().map(|library| figure(&library.work)).sum();
        all.saturating_sub(parts)
    };
    PartWork {
        relocations: rest(facts.relocation_count(), |work| work.relocations),
        symbolic_relocations: rest(facts.symbolic_relocations, |work| work.symbolic_relocations),
        relocated_pages: rest(facts.relocated_pages, |work| work.relocated_pages),
        initializers: facts.initializers,
    }
}

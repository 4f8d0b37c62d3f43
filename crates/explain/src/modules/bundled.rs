//! Libraries that are merged in bundles, as modules of their own.

use super::Key;
use crate::bundles::entered;
use crate::faults::Attribution;
use crate::inputs::Inputs;
use crate::phases::Life;
use crate::start::{StartShares, StartTimes, shares, times};
use crate::time::{ns, us};
use model::{BundlePart, FileOffset, ModuleReport, Reading};
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
            relocate_us: apart("the loader relocates it as a part of", &program),
            init_us: match init {
                Some(init) => Reading::Value(us(ns(init))),
                None => self.missing(&program),
            },
            minor_faults: counted.clone().map(|faults| faults.minor),
            major_faults: counted.map(|faults| faults.major),
            read_bytes: apart("what is read is counted for", &program),
            search_misses: apart("nothing looks for it: it is in", &program),
            facts: apart("its own file is not used: it is merged in", &program),
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

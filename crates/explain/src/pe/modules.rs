//! Modules: times from the debug events, facts from the files.

use super::init_times::own_times;
use super::inputs::PeInputs;
use super::search;
use super::timeline::Timeline;
use crate::time::{ns, us};
use model::{DebuggedDll, DebuggedProcess, ModuleReport, PeModule, Reading, Va};

/// The program and the DLLs of every process, in the order in which they were loaded.
pub(super) fn modules(inputs: &PeInputs, timeline: &Timeline) -> Vec<ModuleReport> {
    let mut modules = Vec::new();
    for process in &timeline.launch.processes {
        let at_us = |debugged_us| us(ns(timeline.clock.at_us(debugged_us)));
        let times = own_times(&process.dlls, at_us);
        let init_us = times.into_iter().map(|own| own.map(|own| us(ns(own)))).collect();
        let of = Process { inputs, timeline, process, init_us };
        modules.push(of.program());
        modules.extend((0..process.dlls.len()).filter_map(|place| of.dll(place)));
    }
    let loaded_us = |module: &ModuleReport| module.pe.as_ref().map_or(0.0, |pe| pe.loaded_us);
    modules.sort_by(|a, b| loaded_us(a).total_cmp(&loaded_us(b)));
    modules
}

struct Process<'a> {
    inputs: &'a PeInputs,
    timeline: &'a Timeline,
    process: &'a DebuggedProcess,
    /// Of each DLL, where it is known.
    init_us: Vec<Option<f64>>,
}

impl Process<'_> {
    fn program(&self) -> ModuleReport {
        let started_us = self.process.started_us;
        let pe = PeModule {
            loaded_us: self.at_us(started_us),
            load_us: Reading::unavailable("the system maps it when it creates the process", ""),
            late: false,
            ..self.facts(&self.process.path, self.process.base)
        };
        let init_us = Reading::unavailable("the program itself runs from its entry point on", "");
        self.report(&self.process.path, pe, init_us)
    }

    fn dll(&self, place: usize) -> Option<ModuleReport> {
        let dll = self.process.dlls.get(place)?;
        let pe = PeModule {
            loaded_us: self.at_us(dll.loaded_us),
            load_us: self.load_us(place, dll),
            late: self.is_late(dll),
            ..self.facts(&dll.path, dll.base)
        };
        Some(self.report(&dll.path, pe, self.init_us(place, dll)))
    }

    fn at_us(&self, debugged_us: f64) -> f64 {
        us(ns(self.timeline.clock.at_us(debugged_us)))
    }

    fn is_late(&self, dll: &DebuggedDll) -> bool {
        self.process.entry_us.is_some_and(|entry_us| dll.loaded_us > entry_us)
    }

    /// From the event before it: of those that were loaded before any initializer ran.
    fn load_us(&self, place: usize, dll: &DebuggedDll) -> Reading<f64> {
        if self.is_late(dll) {
            return Reading::unavailable(
                "the program's own code loads it: it is not seen when that begins",
                "",
            );
        }
        if self.process.initializing_us.is_some_and(|begun_us| dll.loaded_us > begun_us) {
            return Reading::unavailable(
                "an initializer loads it: it is not seen when that begins",
                "",
            );
        }
        let before = place.checked_sub(1).and_then(|before| self.process.dlls.get(before));
        let before_us = before.map_or(self.process.started_us, |before| before.loaded_us);
        Reading::Value(us(ns(self.at_us(dll.loaded_us)) - ns(self.at_us(before_us))))
    }

    /// From its initializer's call until it returned, without others that ran meanwhile.
    fn init_us(&self, place: usize, dll: &DebuggedDll) -> Reading<f64> {
        if let Some(us) = self.init_us.get(place).copied().flatten() {
            return Reading::Value(us);
        }
        let reason = match (dll.initialized_us, self.is_late(dll)) {
            (Some(_), _) => "its return was not seen",
            (None, true) => "initializers are not seen after the program's entry point is reached",
            (None, false) => "it has no initializer, or its initializer was not called",
        };
        Reading::unavailable(reason, "")
    }

    /// What the file says; times are left out.
    fn facts(&self, path: &str, base: u64) -> PeModule {
        let facts = self.inputs.facts(path);
        let missing = || match self.inputs.facts.get(path) {
            Some(Err(reason)) => Reading::unavailable(reason, ""),
            _ => Reading::unavailable("the file was not read", ""),
        };
        let base = Va(base);
        PeModule {
            pid: self.process.pid,
            loaded_us: 0.0,
            load_us: Reading::unavailable("", ""),
            late: false,
            of_system: self.inputs.is_of_system(path),
            base,
            preferred_base: facts
                .map_or_else(|| missing().map(Va), |facts| Reading::Value(facts.base)),
            relocations: facts.map_or_else(missing, |facts| {
                let moved = facts.base != base;
                Reading::Value(if moved { facts.relocation_count() } else { 0 })
            }),
            imports: facts.map_or_else(missing, |facts| Reading::Value(facts.imports)),
        }
    }

    fn report(&self, path: &str, pe: PeModule, init_us: Reading<f64>) -> ModuleReport {
        let with_load = "the debug events do not tell it apart: it is part of load_us";
        let uncounted = || Reading::unavailable("headstart for Windows does not count it", "");
        let is_program = path == self.process.path;
        let misses = search::misses(self.inputs, &self.process.path, path).len() as u64;
        ModuleReport {
            path: path.to_owned(),
            program: self.process.path.clone(),
            map_us: Reading::unavailable(with_load, ""),
            relocate_us: Reading::unavailable(with_load, ""),
            init_us,
            minor_faults: uncounted(),
            major_faults: uncounted(),
            read_bytes: uncounted(),
            search_misses: match is_program || pe.of_system {
                true => Reading::unavailable("not counted for programs and DLLs of the system", ""),
                false => Reading::Value(misses),
            },
            facts: Reading::unavailable("it is a PE image: see pe", ""),
            pe: Some(Box::new(pe)),
            merged: Vec::new(),
            merged_in: None,
            work: None,
        }
    }
}

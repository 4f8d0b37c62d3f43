//! Golden views of simulated launches. Look at the snapshots before accepting a change.

mod data;

use data::{ASCII, PLAIN};
use insta::assert_snapshot;
use model::simulation::{
    BoundReference, RelocationWork, SIMULATION_SCHEMA, SearchWork, SimulatedModule, Simulation,
};
use report::simulation::{bindings, view};
use report::style::Style;

fn module(index: u64) -> SimulatedModule {
    let lookups = index * 100;
    let work = RelocationWork {
        relative: 5_000 / (index + 1),
        references: lookups * 3,
        waiting: index * 2,
        lookups,
        probes: lookups * (20 + index),
        steps: lookups * 2,
        missing: index % 3,
    };
    let path =
        if index == 0 { "/usr/bin/program".to_owned() } else { format!("/lib/lib{index}.so") };
    let loaded_for = (index > 0).then(|| "/usr/bin/program".to_owned());
    SimulatedModule { path, loaded_for, work, definitions: 1_000 / (index + 1) }
}

fn simulation(modules: u64) -> Simulation {
    let modules: Vec<SimulatedModule> = (0..modules).map(module).collect();
    let total = modules.iter().map(|module| module.work).sum();
    let bound = |version: Option<&str>, definer: Option<&str>| BoundReference {
        object: "/usr/bin/program".to_owned(),
        symbol: "f".to_owned(),
        version: version.map(str::to_owned),
        definer: definer.map(str::to_owned),
    };
    Simulation {
        schema: SIMULATION_SCHEMA,
        headstart: "0.1.0".to_owned(),
        program: "/usr/bin/program".to_owned(),
        interpreter: "/lib64/ld-linux-x86-64.so.2".to_owned(),
        initialized: modules.iter().rev().map(|module| module.path.clone()).collect(),
        modules,
        search: SearchWork { opened: 29, missed: 4, folders: 2, cache_lookups: 25 },
        total,
        bindings: vec![bound(Some("V_1"), Some("/lib/lib1.so")), bound(None, None)],
    }
}

#[test]
fn views() {
    assert_snapshot!("simulation", view(&simulation(30), &PLAIN));
    assert_snapshot!("simulation_few", view(&simulation(3), &PLAIN));
    assert_snapshot!("simulation_none", view(&simulation(1), &ASCII));
    assert_snapshot!("simulation_40", view(&simulation(30), &Style { width: 40, ..PLAIN }));
    assert_snapshot!("simulation_bindings", bindings(&simulation(1)));
    assert!(view(&simulation(30), &ASCII).is_ascii());
}

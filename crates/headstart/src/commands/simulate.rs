//! `headstart simulate`: what the loader would do, counted.

use crate::output;
use anyhow::Result;
use loader::{Environment, Graph, Relocated};
use model::ModuleId;
use model::simulation::{BoundReference, SIMULATION_SCHEMA, SimulatedModule, Simulation};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// Show what the loader would do with a program: modules, look-ups, bindings, initialization order
///
/// The program is not started: its files are read as glibc's loader would read them, with the
/// current LD_LIBRARY_PATH and LD_PRELOAD. What it loads later with dlopen is not included.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The program: a path, or a name to look up in PATH
    program: OsString,
    /// Bind at start what is usually bound at the first call, as with LD_BIND_NOW=1
    #[arg(long)]
    bind_now: bool,
    /// Print what each reference binds to, one per line: object symbol@version → definer
    #[arg(long, help_heading = "Output")]
    bindings: bool,
    /// Print the order in which modules are initialized, one per line
    #[arg(long, help_heading = "Output", conflicts_with_all = ["bindings", "json"])]
    order: bool,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Simulates and prints.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let command = os::program::resolve(std::slice::from_ref(&arguments.program))?;
    let environment = Environment::own();
    let graph = loader::load(&command.program, &environment)?;
    let relocated = loader::bindings(&graph, arguments.bind_now || environment.bind_now);
    let simulation = simulation(&graph, &relocated, arguments.bindings);
    output::print(&if arguments.json {
        report::export::json(&simulation)?
    } else if arguments.bindings {
        report::simulation::bindings(&simulation)
    } else if arguments.order {
        simulation.initialized.iter().map(|path| format!("{path}\n")).collect()
    } else {
        report::simulation::view(&simulation, &output::style())
    })?;
    Ok(ExitCode::SUCCESS)
}

fn simulation(graph: &Graph, relocated: &[Relocated], with_bindings: bool) -> Simulation {
    let path = |module: ModuleId| text(&graph[module].path);
    let mut definitions = vec![0; graph.modules.len()];
    for binding in relocated.iter().flat_map(|module| &module.bindings) {
        if let Some(to) = binding.to {
            definitions[to.module.index()] += 1;
        }
    }
    let modules = graph.modules.iter().zip(relocated).zip(&definitions);
    let modules = modules.map(|((module, relocated), &definitions)| SimulatedModule {
        path: text(&module.path),
        loaded_for: module.loaded_for.map(path),
        work: relocated.work,
        definitions,
    });
    let bindings = if with_bindings { bindings(graph, relocated) } else { Vec::new() };
    Simulation {
        schema: SIMULATION_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        program: path(ModuleId::PROGRAM),
        interpreter: text(&graph.interpreter),
        modules: modules.collect(),
        search: graph.search,
        initialized: loader::order::of_initialization(graph).into_iter().map(path).collect(),
        total: relocated.iter().map(|module| module.work).sum(),
        bindings,
    }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn bindings(graph: &Graph, relocated: &[Relocated]) -> Vec<BoundReference> {
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let all = relocated.iter().flat_map(|module| &module.bindings);
    let bound = all.filter_map(|binding| {
        let module = &graph[binding.from.module];
        let symbol = module.image.symbol(binding.from.symbol)?;
        let version = module.image.symbol_version(binding.from.symbol);
        let version = version.and_then(|(index, _)| module.image.version(index));
        let version = version.filter(|version| version.hash != 0);
        Some(BoundReference {
            object: text(&module.path),
            symbol: lossy(symbol.name),
            version: version.map(|version| lossy(&version.name)),
            definer: binding.to.map(|to| text(&graph[to.module].path)),
        })
    });
    bound.collect()
}

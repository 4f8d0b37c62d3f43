//! Pietrek's question: how much faster does a program load whose libraries need no relocation,
//! whose imports need no binding?

mod beside;
mod forms;
mod launches;
mod places;
mod table;

use crate::args::{FormatArg, OldRun, PietrekSize};
use crate::exit::FileError;
use crate::exit::Usage;
use crate::{exit, output};
use anyhow::Result;
use forms::Form;
use lab::{Runner, Stop};
use model::CacheState;
use model::load_table::LoadTable;
use model::published::PublishedLoads;
use os::launcher::Launcher;
use places::Place;
use report::{load_table, published};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use workload::Pietrek;

/// Seconds for everything, half for warm launches and half for cold ones.
const BUDGET_S: f64 = 120.0;

/// What to know about the figures of PE.
const OF_WINE: [&str; 3] = [
    "These are times of Wine's loader, not of the Windows loader.",
    "All launches are warm: Wine's server runs on between them and keeps its files in memory.",
    "No row is bound, because Wine ignores bound imports.",
];

/// How much do relocation and binding matter to the time a program takes to load?
///
/// Modeled on Matt Pietrek's column (MSDN Magazine, May 2000), which measured REBASE, BIND and
/// imports by ordinal. A program imports 100 functions from each of 10 libraries, with 5 relocations
/// per function. Its other forms need less work from the loader, or serve as controls.
/// All forms are launched in turns, warm and cold, on every file system given with --on. The table
/// shows the fastest launch, as in the column, and the improvement over the first row.
///
/// With --format pe the forms are those of the column, as PE files that Wine loads: libraries at the
/// same base or at chosen ones, imports by name or by ordinal, hints right or zero. Wine runs with a
/// server and a prefix of its own, which are removed afterwards; ~/.wine is not touched.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Format of the images; pe is launched under Wine, warm only
    #[arg(long, value_enum, default_value_t)]
    format: FormatArg,
    /// A folder on a file system to launch from; repeat it for others [default: the run folder]
    #[arg(long, value_name = "DIR")]
    on: Vec<PathBuf>,
    /// Only write the workloads to this new folder, for example to make a read-only file system
    /// from it for a later --on
    #[arg(long, value_name = "DIR", conflicts_with_all = ["on", "save", "json", "beside"])]
    generate: Option<PathBuf>,
    #[command(flatten)]
    size: PietrekSize,
    /// Maximum number of rounds; each launches every form once [default: 300 warm, 50 cold]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(help_heading = "How often")]
    runs: Option<u32>,
    /// Stop after this time [default: 120s]
    #[arg(long, value_name = "TIME", value_parser = crate::args::seconds)]
    #[arg(help_heading = "How often")]
    budget: Option<Duration>,
    /// Leave out cold launches
    #[arg(long, help_heading = "How often")]
    warm_only: bool,
    /// Seed of the random order
    #[arg(long, value_name = "N", help_heading = "How often")]
    seed: Option<u64>,
    /// Pin launches to this CPU [default: the quietest]
    #[arg(long, value_name = "N", help_heading = "How to launch")]
    cpu: Option<u32>,
    /// Show the figures of this file too; each line is a row's name, a comma, and milliseconds
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    beside: Option<PathBuf>,
    /// Keep the tables and graphs in this new folder [default: a folder below ~/.cache/headstart]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    save: Option<PathBuf>,
    #[command(flatten)]
    old: OldRun,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl Arguments {
    fn workload(&self) -> Pietrek {
        let PietrekSize { dlls, functions, globals } = self.size;
        let format = self.format.into();
        Pietrek { dlls, functions, globals, format, ..Pietrek::default() }
    }

    /// States of the cache to launch in.
    fn states(&self) -> &[CacheState] {
        const STATES: [CacheState; 2] = [CacheState::Warm, CacheState::ColdEvicted];
        &STATES[..if self.warm_only || self.format == FormatArg::Pe { 1 } else { 2 }]
    }

    /// Seconds for each state.
    fn share_s(&self) -> f64 {
        let all = self.budget.map_or(BUDGET_S, |budget| budget.as_secs_f64());
        all / self.states().len() as f64
    }
}

/// What all launches have in common.
struct Setting<'a> {
    arguments: &'a Arguments,
    forms: &'a [Form],
    runner: Runner,
    /// CPU of the launches, and of Wine's server.
    cpu: u32,
    folder: &'a Path,
}

/// Launches all forms everywhere and prints the table.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let base = arguments.workload();
    if base.dlls == 0 {
        let text = "without libraries there is nothing to compare: --dlls 1 is the least";
        return Err(Usage(text.to_owned()).into());
    }
    let forms = forms::all(&base)?;
    if let Some(folder) = &arguments.generate {
        places::prepare(folder, &base, &forms)?;
        return Ok(ExitCode::SUCCESS);
    }
    os::interrupt::install();
    let beside = arguments.beside.as_deref().map(|file| beside::read(file, &forms)).transpose()?;
    let cpu = arguments.cpu.unwrap_or_else(os::host::quiet_cpu);
    let runner = Runner::of(arguments.format.into(), Some(cpu))?;
    let folder = claim(arguments.save.as_deref(), Path::new("pietrek"))?;
    let places = places::all(&arguments.on, &folder, &base, &forms)?;
    let setting = Setting { arguments, forms: &forms, runner, cpu, folder: &folder };
    let mut table = table::empty(&base, &setting);
    let mut stop = Stop::Rounds;
    for &state in arguments.states() {
        stop = one_state(state, &places, &setting, &mut table)?;
        if stop == Stop::Interrupted {
            break;
        }
    }
    table.columns.extend(beside);
    if let Runner::Wine(_) = setting.runner {
        table.notes.extend(OF_WINE.map(str::to_owned));
    }
    if stop == Stop::Interrupted {
        output::say_ended(true, None);
    }
    keep(&table, &folder)?;
    print(&table, &folder, arguments.json)?;
    Ok(match stop {
        Stop::Interrupted => ExitCode::from(exit::INTERRUPTED),
        _ => ExitCode::SUCCESS,
    })
}

/// A new folder for an experiment of several runs: the one that was asked for, or one in the
/// default place.
///
/// # Errors
/// It cannot be made, or is not empty.
fn claim(asked: Option<&Path>, name: &Path) -> Result<PathBuf> {
    let folder = match asked {
        Some(path) => path.to_owned(),
        None => lab::default_folder::new(name)?,
    };
    let failed = |source| FileError {
        path: folder.display().to_string(),
        source,
        remedy: "choose another folder with --save",
    };
    std::fs::create_dir_all(&folder).map_err(failed)?;
    if std::fs::read_dir(&folder).map_err(failed)?.next().is_some() {
        let folder = folder.display();
        return Err(Usage(format!("{folder} is not empty: name a new folder with --save")).into());
    }
    Ok(folder)
}

/// Launches all forms in one state of the cache and adds the columns.
fn one_state(
    state: CacheState,
    places: &[Place],
    setting: &Setting<'_>,
    table: &mut LoadTable,
) -> Result<Stop> {
    let (possible, never_cold): (Vec<&Place>, Vec<&Place>) =
        places.iter().partition(|place| state == CacheState::Warm || place.leaves_memory());
    for place in never_cold {
        let note = format!("{}: its files never leave memory, so none is cold.", place.name);
        table.notes.push(note);
    }
    if possible.is_empty() {
        return Ok(Stop::Rounds);
    }
    let launched = launches::all(state, &possible, setting, Launcher::start()?);
    setting.runner.check()?;
    let launched = launched?;
    table::add(table, state, &possible, setting.forms, &launched);
    Ok(launched.stop)
}

fn keep(table: &LoadTable, folder: &Path) -> Result<()> {
    let write = |name: &str, text: &str| output::write_file(&folder.join(name), text);
    write("pietrek.json", &object(table)?)?;
    let published = published::loads_markdown(table, &PublishedLoads::pietrek());
    write("table.md", &(load_table::markdown(table) + &published))?;
    write("table.csv", &load_table::csv(table))?;
    for (name, drawn) in load_table::charts(table) {
        write(&format!("{name}.svg"), &drawn)?;
    }
    Ok(())
}

/// The table, with the published figures beside it.
fn object(table: &LoadTable) -> Result<String> {
    let mut value = serde_json::to_value(table)?;
    value["published"] = serde_json::to_value(PublishedLoads::pietrek())?;
    Ok(report::export::json(&value)?)
}

fn print(table: &LoadTable, folder: &Path, json: bool) -> Result<()> {
    if json {
        return output::print(&object(table)?);
    }
    let style = output::style();
    let view = load_table::view(table, &style);
    let published = published::loads(table, &PublishedLoads::pietrek(), &style);
    output::print(&format!("{view}\n{published}\n{}", output::left_in(folder)))
}

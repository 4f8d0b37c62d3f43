//! `headstart experiment pietrek`: how much relocation and binding matter to the time of loading.

use crate::args::{OWN_FORMAT, OldRun, PietrekSize, format, seconds};
use crate::exit::{self, Usage};
use crate::output;
use crate::progress::StatusLine;
use anyhow::Result;
use lab::Stop;
use lab::pietrek::{self, LoadTimes, PietrekRequest};
use model::load_table::LoadTable;
use model::published::PublishedLoads;
use report::{load_table, published};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use workload::{Format, Pietrek};

/// How much do relocation and binding matter to the time a program takes to load?
///
/// Modeled on Matt Pietrek's column (MSDN Magazine, May 2000), which measured REBASE, BIND and
/// imports by ordinal. A program imports 100 functions from each of 10 libraries, with 5 relocations
/// per function. Its other forms need less work from the loader, or serve as controls.
#[cfg_attr(
    not(windows),
    doc = "All forms are launched in turns, warm and cold, on every file system given with --on. The table \
           shows the fastest launch, as in the column, and the improvement over the first row."
)]
#[cfg_attr(
    windows,
    doc = "All forms are launched in turns, warm, on every file system given with --on. The table shows \
           the fastest launch, as in the column, and the improvement over the first row."
)]
///
#[cfg_attr(
    not(windows),
    doc = "With --format pe the forms are those of the column, as PE files that Wine loads: libraries at the \
           same base or at chosen ones, imports by name or by ordinal, hints right or zero. Wine runs with a \
           server and a prefix of its own, which are removed afterwards; ~/.wine is not touched."
)]
#[cfg_attr(
    windows,
    doc = "The forms are those of the column: libraries at the same base or at chosen ones, imports by name or \
           by ordinal, bound or not, and hints right or zero."
)]
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[cfg_attr(not(windows), doc = "Format of the images; pe is launched under Wine, warm only")]
    #[cfg_attr(windows, doc = "Format of the images; elf only with --generate")]
    #[arg(long, default_value = OWN_FORMAT, value_parser = format())]
    format: Format,
    /// A folder on a file system to launch from; repeat it for others [default: the run folder]
    #[arg(long, value_name = "DIR")]
    on: Vec<PathBuf>,
    /// Only write the workloads to this new folder, for example to make a read-only file system
    /// from it for a later --on
    #[arg(long, value_name = "DIR", conflicts_with_all = ["on", "save", "json", "beside"])]
    generate: Option<PathBuf>,
    #[command(flatten)]
    size: PietrekSize,
    #[cfg_attr(
        not(windows),
        doc = "Maximum number of rounds; each launches every form once [default: 300 warm, 50 cold]"
    )]
    #[cfg_attr(
        windows,
        doc = "Maximum number of rounds; each launches every form once [default: 300]"
    )]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(help_heading = "How often")]
    runs: Option<u32>,
    /// Stop after this time [default: 120s]
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    #[arg(help_heading = "How often")]
    budget: Option<Duration>,
    /// Leave out cold launches
    #[arg(long, help_heading = "How often", hide = cfg!(windows))]
    warm_only: bool,
    /// Seed of the random order
    #[arg(long, value_name = "N", help_heading = "How often")]
    seed: Option<u64>,
    #[cfg_attr(not(windows), doc = "Pin launches to this CPU [default: the quietest]")]
    #[cfg_attr(
        windows,
        doc = "Pin launches to this CPU [default: the last one that headstart may use]"
    )]
    #[arg(long, value_name = "N", help_heading = "How to launch")]
    cpu: Option<u32>,
    /// Show the figures of this file too; each line is a row's name, a comma, and milliseconds
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    beside: Option<PathBuf>,
    #[cfg_attr(
        not(windows),
        doc = "Keep the tables and graphs in this new folder [default: a folder below ~/.cache/headstart]"
    )]
    #[cfg_attr(
        windows,
        doc = r"Keep the tables and graphs in this new folder [default: a folder below %LOCALAPPDATA%\headstart]"
    )]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    save: Option<PathBuf>,
    #[command(flatten)]
    old: OldRun,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl Arguments {
    fn workload(&self) -> Result<Pietrek> {
        let PietrekSize { dlls, functions, globals } = self.size;
        if dlls == 0 {
            let text = "without libraries there is nothing to compare: --dlls 1 is the least";
            return Err(Usage(text.to_owned()).into());
        }
        let format = self.format;
        Ok(Pietrek { dlls, functions, globals, format, ..Pietrek::default() })
    }
}

/// Launches all forms everywhere and prints the table.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let workload = arguments.workload()?;
    if let Some(folder) = &arguments.generate {
        pietrek::prepare(folder, &workload)?;
        return Ok(ExitCode::SUCCESS);
    }
    os::interrupt::install();
    let request = PietrekRequest {
        workload,
        on: arguments.on.clone(),
        rounds: arguments.runs,
        budget_s: arguments.budget.map(|budget| budget.as_secs_f64()),
        warm_only: arguments.warm_only,
        seed: arguments.seed,
        cpu: arguments.cpu.unwrap_or_else(os::host::quiet_cpu),
        beside: arguments.beside.clone(),
        save: arguments.save.clone(),
    };
    let line = StatusLine::new();
    let LoadTimes { table, folder, stop } =
        pietrek::pietrek(&request, &mut |event| line.observe(event))?;
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

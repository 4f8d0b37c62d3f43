//! Dawson's question: is it linear?

use crate::args::{LaunchArgs, OWN_FORMAT, OldRun, SweepArgs, format};
use crate::commands::scale;
use crate::exit::Usage;
use crate::output;
use crate::progress::StatusLine;
use anyhow::Result;
use lab::sweep::workloads::FILE_ALIGNMENT;
use lab::sweep::{SweepRequest, SweepSubject, Swept};
use lab::{Keep, Runner};
use model::Until;
use model::growth::{Scale, Unit};
use model::published::PublishedGrowth;
use os::launcher::Launcher;
use report::published;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use workload::{Dawson, Format, Workload};

/// Published sizes: virtual functions of each of 800 classes.
const STEP: u64 = 100;
const SIZES: u64 = 17;
/// The table as text that needs no terminal.
const TABLE: &str = "table.md";

/// Does start-up time grow with the square of the number of virtual functions?
///
/// Modeled on an experiment of Bruce Dawson (2019), who found that CreateProcess takes time quadratic
/// in the number of entries of the Control Flow Guard table. Seventeen programs of 16 source files
/// with 50 classes each, and 0 to 1600 virtual functions per class (up to 1.28 million functions),
/// are generated and launched in turns. Both of his graphs are drawn: n against time, and n against
/// the square root of time, where n² is a straight line.
///
#[cfg_attr(
    not(windows),
    doc = "With --format pe the programs are PE files with a Guard CF table, launched under Wine, which \
           ignores the table."
)]
#[cfg_attr(
    windows,
    doc = "The programs are PE files with a Guard CF table. CreateProcess is also timed separately. Wine \
           ignores the table."
)]
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[cfg_attr(not(windows), doc = "Format of the programs; pe is launched under Wine")]
    #[cfg_attr(windows, doc = "Format of the programs; elf is refused")]
    #[arg(long, default_value = OWN_FORMAT, value_parser = format(), hide = cfg!(windows))]
    format: Format,
    #[cfg_attr(not(windows), doc = "pe: FileAlignment, 512, 1024, 2048 or 4096 [default: 512]")]
    #[cfg_attr(windows, doc = "FileAlignment, 512, 1024, 2048 or 4096 [default: 512]")]
    #[arg(long, value_name = "BYTES")]
    file_alignment: Option<u32>,
    #[command(flatten)]
    sweep: SweepArgs,
    #[command(flatten)]
    launching: LaunchArgs,
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
    /// Refuses options that would have no effect, or not the one that is meant.
    fn check(&self) -> Result<()> {
        let wrong = match self.format {
            Format::Elf if self.file_alignment.is_some() => {
                "--file-alignment is for PE images: add --format pe"
            }
            Format::Pe if self.launching.until != Until::Exit && Runner::OWN == Format::Elf => {
                "under Wine a launch is complete when the program ends: omit --until with \
                 --format pe"
            }
            _ => {
                let mut dawson = Dawson { format: self.format, ..Dawson::default() };
                dawson.pe.file_alignment = self.file_alignment.unwrap_or(dawson.pe.file_alignment);
                return Ok(workload::generate(&Workload::Dawson(dawson)).map(drop)?);
            }
        };
        Err(Usage(wrong.to_owned()).into())
    }
}

/// Launches all sizes and prints the law.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    arguments.check()?;
    os::interrupt::install();
    let launcher = Launcher::start()?;
    let (kind, varied) = ("dawson".to_owned(), "functions".to_owned());
    let alignment = |bytes| (FILE_ALIGNMENT.to_owned(), u64::from(bytes));
    let fixed = arguments.file_alignment.map(alignment).into_iter().collect();
    let request = SweepRequest {
        subject: SweepSubject::Workload { kind, varied, fixed, format: arguments.format },
        unit: Unit::Us,
        sizes: (0..SIZES).map(|step| step * STEP).collect(),
        extent: arguments.sweep.extent(),
        seed: arguments.sweep.seed,
        options: arguments.launching.options(),
        keep: arguments.save.clone().map_or(Keep::ByDefault, Keep::In),
        // Half a gigabyte that can be generated again in a second is not kept.
        keep_workloads: false,
    };
    let line = StatusLine::new();
    let swept = lab::sweep::sweep(launcher, request, &mut |event| line.observe(event))?;
    scale::conclude(swept, |swept| {
        if let Some(folder) = &swept.folder {
            keep(&swept.scale, folder.path())?;
        }
        print(swept, arguments.json)?;
        match &swept.folder {
            Some(folder) if !arguments.json => {
                output::print(&format!("\n{}", output::left_in(folder.path())))
            }
            _ => Ok(()),
        }
    })
}

/// What was measured, and the published figures beside it.
fn print(swept: &Swept, json: bool) -> Result<()> {
    let dawson = PublishedGrowth::dawson();
    if json {
        scale::keep(swept)?;
        let mut value = serde_json::to_value(scale::printed(swept))?;
        value["published"] = serde_json::to_value(dawson)?;
        return output::print(&report::export::json(&value)?);
    }
    scale::print(swept, json)?;
    output::print(&format!("\n{}", published::growth(&swept.scale, &dawson, &output::style())))
}

fn keep(scale: &Scale, folder: &Path) -> Result<()> {
    scale::draw(scale, folder)?;
    let published = published::growth_markdown(scale, &PublishedGrowth::dawson());
    output::write_file(&folder.join(TABLE), &(report::scale::markdown(scale) + &published))
}

//! OpenOffice's question: does a program start faster when its functions are in order?

use crate::args::{choice, split};
use crate::commands::order_try::linker;
use crate::commands::order_verify::{READS, VerifyArgs};
use crate::exit::Usage;
use crate::output;
use crate::progress::StatusLine;
use anyhow::Result;
use clap::builder::TypedValueParser;
use model::published::PublishedOrder;
use model::{Command, OrderExperiment, quoted};
use ordering::attempt::{ORDER, OUT};
use ordering::openoffice::{
    ExperimentLaunchers, OpenOffice, OpenOfficeRequest, OwnProgram, ProgramSource, Task, openoffice,
};
use ordering::write::Linker;
use os::launcher::Stdio;
use report::order_experiment;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Does a program start faster when its functions are in order of use?
///
/// Modeled on OpenOffice's Reorder Symbols For Libraries (2009). A real program is linked, several
/// of its launches are traced, it is relinked with an order for them, and both builds are compared:
/// pages, cold reads, times; also for held-out launches. Then it answers what the document left
/// open: is it better to read the whole file ahead, to order its functions, or to do both? The
/// published tables are printed below.
///
/// The program is vim from Debian's source package (20 MB, downloaded and compiled once, which takes
/// some minutes; kept below ~/.cache/headstart), clang from Debian's static archives, or one that you
/// build. Reads are recorded only as root.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Program to use, unless --source names another
    #[arg(long, value_name = "NAME", default_value = "vim", value_parser = program())]
    program: Known,
    /// A program of your own: the folder in which --build is run
    #[arg(long, value_name = "DIR", requires = "build", conflicts_with = "program")]
    #[arg(help_heading = "Your own program")]
    source: Option<PathBuf>,
    /// Shell command that links it as @OUT@ with the order file @ORDER@
    #[arg(long, value_name = "COMMAND", requires = "source", help_heading = "Your own program")]
    build: Option<String>,
    /// The linker that the command uses
    #[arg(long, value_name = "LINKER", default_value = "lld", requires = "source")]
    #[arg(value_parser = linker(), help_heading = "Your own program")]
    linker: Linker,
    /// Arguments of a launch to make the order for, in one word; may be repeated, the first is timed
    #[arg(long, value_name = "ARGUMENTS", requires = "source", allow_hyphen_values = true)]
    #[arg(help_heading = "Your own program")]
    launch: Vec<String>,
    /// Arguments of a launch that the order is not made for, in one word; may be repeated
    #[arg(long, value_name = "ARGUMENTS", requires = "source", allow_hyphen_values = true)]
    #[arg(help_heading = "Your own program")]
    held_out: Vec<String>,
    /// A folder on the file system to launch from [default: the run folder]
    #[arg(long, value_name = "DIR")]
    on: Option<PathBuf>,
    #[command(flatten)]
    how: VerifyArgs,
    /// List every read
    #[arg(long, help_heading = "Output")]
    all: bool,
    /// Keep the order file and the tables in this new folder [default: one below ~/.cache/headstart]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    save: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// A program that is made here.
#[derive(Clone, Copy, Debug)]
enum Known {
    Vim,
    Clang,
}

fn program() -> impl TypedValueParser<Value = Known> {
    choice([("vim", Known::Vim), ("clang", Known::Clang)])
}

/// Makes the experiment and prints the tables.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    os::interrupt::install();
    let launchers = ExperimentLaunchers::start()?;
    let null = Stdio::all(output::null()?);
    let request = arguments.request(null)?;
    let line = StatusLine::new();
    let made = openoffice(&request, launchers, &mut |step| {
        line.show(f64::from(step.done) / f64::from(step.of), step.what.to_owned());
    });
    line.clear();
    let OpenOffice { experiment, folder } = made?;
    keep(&experiment, &folder)?;
    if arguments.json {
        output::print(&object(&experiment)?)?;
    } else {
        let rows = (!arguments.all).then_some(READS);
        let published = PublishedOrder::openoffice();
        let view = order_experiment::view(&experiment, &published, rows, &output::style());
        output::print(&format!("{view}\nOrder file, tables and reads: {}\n", quoted(&folder)))?;
    }
    Ok(ExitCode::SUCCESS)
}

impl Arguments {
    fn request(&self, null: Stdio) -> Result<OpenOfficeRequest> {
        // The commands follow from the program, when it is there.
        let none = Command {
            argv: Vec::new(),
            program: PathBuf::new(),
            directory: None,
            environment: Vec::new(),
        };
        Ok(OpenOfficeRequest {
            source: self.source()?,
            linker: self.linker,
            on: self.on.clone(),
            save: self.save.clone(),
            verify: self.how.request(none.clone(), none, Vec::new(), null),
        })
    }

    fn source(&self) -> Result<ProgramSource> {
        let (Some(source), Some(build)) = (&self.source, &self.build) else {
            return Ok(match self.program {
                Known::Vim => ProgramSource::Vim,
                Known::Clang => ProgramSource::Clang,
            });
        };
        for place in [ORDER, OUT] {
            if !build.contains(place) {
                let text = format!("--build has to name the files: {place} is missing");
                return Err(Usage(text).into());
            }
        }
        let tasks = |lines: &[String]| -> Result<Vec<Task>> {
            let task = |line: &String| Ok(Task { title: line.clone(), arguments: split(line)? });
            lines.iter().map(task).collect()
        };
        Ok(ProgramSource::Own(OwnProgram {
            source: source.clone(),
            build: build.clone(),
            launches: tasks(&self.launch)?,
            held_out: tasks(&self.held_out)?,
        }))
    }
}

fn keep(found: &OrderExperiment, folder: &Path) -> Result<()> {
    let write = |name: &str, text: &str| output::write_file(&folder.join(name), text);
    write("openoffice.json", &object(found)?)?;
    write("table.md", &order_experiment::markdown(found, &PublishedOrder::openoffice()))?;
    write("reads.csv", &order_experiment::reads_csv(found))
}

/// What was found, with the published figures beside it.
fn object(found: &OrderExperiment) -> Result<String> {
    let mut value = serde_json::to_value(found)?;
    value["published"] = serde_json::to_value(PublishedOrder::openoffice())?;
    Ok(report::export::json(&value)?)
}

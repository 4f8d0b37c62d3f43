//! `headstart generate`: synthetic programs of any size.

use crate::output;
use anyhow::Result;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use model::figures;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use workload::{Arch, By, Counts, Dawson, Format, Kind, Pietrek, Shape, Workload, Written};

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;

/// Make a synthetic program of any size, with its libraries, without a compiler
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Pietrek(PietrekArgs),
    Dawson(DawsonArgs),
    Shape(ShapeArgs),
}

/// Where to write what, and what to print.
#[derive(Debug, Args)]
struct CommonArgs {
    /// Folder to write to: a new one, or an empty one
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Write equivalent C sources and a build.sh instead of images
    #[arg(long)]
    source: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Libraries of functions that store their addresses, and a program that imports them all
///
/// After Matt Pietrek's MakeLoadTimeTest. The program is LoadTimeTest; it exits at the start of
/// its code. `LoadTimeTest --call` calls every import and checks that it is the right function:
/// exit code 0, or 1 and the number of the first wrong one on stderr.
#[derive(Debug, Args)]
struct PietrekArgs {
    /// Number of libraries
    #[arg(long, default_value_t = 10, value_name = "N")]
    dlls: u32,
    /// Exported functions of each library
    #[arg(long, default_value_t = 100, value_name = "N")]
    functions: u32,
    /// Globals that hold each function's address: one relocation each
    #[arg(long, default_value_t = 5, value_name = "N")]
    globals: u32,
    /// How imports are named; ordinals are for PE
    #[arg(long, value_enum, default_value_t)]
    by: ByArg,
    /// ELF: bind imports at their first call instead of at start
    #[arg(long)]
    lazy: bool,
    #[command(flatten)]
    images: ImageArgs,
    #[command(flatten)]
    common: CommonArgs,
}

/// A program of classes with virtual functions
///
/// After Bruce Dawson's generator. The program exits at the start of its code; with `--call` it
/// calls every function through its object.
#[derive(Debug, Args)]
struct DawsonArgs {
    /// Number of source files
    #[arg(long, default_value_t = 16, value_name = "N")]
    sources: u32,
    /// Classes of each source file
    #[arg(long, default_value_t = 50, value_name = "N")]
    classes: u32,
    /// Virtual functions of each class; 0 to 1600 were published
    #[arg(long, default_value_t = 0, value_name = "N")]
    functions: u32,
    #[command(flatten)]
    images: ImageArgs,
    #[command(flatten)]
    common: CommonArgs,
}

/// A program, main, whose libraries depend on each other in one form; ELF
#[derive(Debug, Args)]
struct ShapeArgs {
    /// The form
    #[arg(value_parser = kinds())]
    kind: Kind,
    /// How many libraries, symbols or folders
    #[arg(long, value_name = "N")]
    n: u32,
    #[command(flatten)]
    common: CommonArgs,
}

fn kinds() -> impl TypedValueParser<Value = Kind> {
    let values = Kind::ALL.map(|kind| PossibleValue::new(kind.name()).help(kind.about()));
    PossibleValuesParser::new(values).try_map(|name| {
        Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or("no such form")
    })
}

/// Format and processor of the images.
#[derive(Debug, Args)]
struct ImageArgs {
    /// Format of the images
    #[arg(long, value_enum, default_value_t)]
    format: FormatArg,
    /// Processor of the images; i686 is for PE
    #[arg(long, value_enum, default_value_t)]
    arch: ArchArg,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum ByArg {
    #[default]
    Name,
    Ordinal,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum FormatArg {
    #[default]
    Elf,
    Pe,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum ArchArg {
    #[default]
    #[value(name = "x86_64")]
    X86_64,
    I686,
}

/// Generates and says what was written.
///
/// # Errors
/// The sizes do not fit, the folder is not empty or cannot be written, or standard output.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let (workload, common) = match &arguments.what {
        What::Pietrek(pietrek) => (Workload::Pietrek(pietrek.workload()), &pietrek.common),
        What::Dawson(dawson) => (Workload::Dawson(dawson.workload()), &dawson.common),
        What::Shape(shape) => (Workload::Shape(shape.workload()), &shape.common),
    };
    let make = if common.source { workload::source } else { workload::generate };
    let files = make(&workload)?;
    let written = files.write_to(&common.out)?;
    let text = if common.json {
        json(common, &written, files.counts())?
    } else {
        text(common, &written, files.counts())
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn json(common: &CommonArgs, written: &Written, counts: Counts) -> Result<String> {
    let value = serde_json::json!({
        "schema": SCHEMA,
        "folder": common.out,
        "program": written.program,
        "source": common.source,
        "files": written.files,
        "bytes": written.bytes,
        "relocations": counts.relocations,
        "imports": counts.imports,
        "exports": counts.exports,
    });
    Ok(serde_json::to_string_pretty(&value)? + "\n")
}

fn text(common: &CommonArgs, written: &Written, counts: Counts) -> String {
    let program = quoted(&written.program);
    let next = if common.source {
        format!("sh {program}")
    } else {
        format!("headstart measure {program}")
    };
    format!(
        "{}: {}, {}\n{}, {}, {}\nnext: {next}\n",
        common.out.display(),
        figures::plural(written.files, "file", "files"),
        figures::bytes(written.bytes),
        figures::plural(counts.relocations, "relocation", "relocations"),
        figures::plural(counts.imports, "import", "imports"),
        figures::plural(counts.exports, "export", "exports"),
    )
}

/// As a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    shlex::try_quote(&text).map_or_else(|_| text.to_string(), |quoted| quoted.into_owned())
}

impl PietrekArgs {
    fn workload(&self) -> Pietrek {
        let by = match self.by {
            ByArg::Name => By::Name,
            ByArg::Ordinal => By::Ordinal,
        };
        let (dlls, functions, globals) = (self.dlls, self.functions, self.globals);
        let (format, arch) = (self.images.format(), self.images.arch());
        Pietrek { dlls, functions, globals, by, format, arch, lazy: self.lazy }
    }
}

impl DawsonArgs {
    fn workload(&self) -> Dawson {
        let (sources, classes, functions) = (self.sources, self.classes, self.functions);
        let (format, arch) = (self.images.format(), self.images.arch());
        Dawson { sources, classes, functions, format, arch }
    }
}

impl ShapeArgs {
    fn workload(&self) -> Shape {
        Shape { kind: self.kind, n: self.n }
    }
}

impl ImageArgs {
    fn format(&self) -> Format {
        match self.format {
            FormatArg::Elf => Format::Elf,
            FormatArg::Pe => Format::Pe,
        }
    }

    fn arch(&self) -> Arch {
        match self.arch {
            ArchArg::X86_64 => Arch::X86_64,
            ArchArg::I686 => Arch::I686,
        }
    }
}

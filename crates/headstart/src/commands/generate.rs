//! `headstart generate`: synthetic programs of any size.

use crate::args::{PietrekSize, choice, format};
use crate::exit::Usage;
use crate::output;
use crate::verbs;
use anyhow::Result;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Args, Subcommand};
use model::figures;
use std::path::PathBuf;
use std::process::ExitCode;
use workload::{
    Arch, Bases, By, Counts, Dawson, Format, Hints, Kind, PeOptions, Pietrek, Shape, Workload,
    Written,
};

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
#[command(next_help_heading = "Output")]
struct CommonArgs {
    /// New or empty folder to write to
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Write equivalent C sources and a build.sh instead of images
    #[arg(long)]
    source: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Libraries with functions and pointers to them, and a program that imports every function
///
/// Modeled on Matt Pietrek's MakeLoadTimeTest. The program is LoadTimeTest, which exits at the start
/// of its code. `LoadTimeTest --call` calls every import and checks that it is the right function:
/// the exit code is 0, or 1 with the number of the first wrong function on stderr.
#[derive(Debug, Args)]
struct PietrekArgs {
    #[command(flatten)]
    size: PietrekSize,
    /// Import by name, or by ordinal (PE only)
    #[arg(long, default_value = "name")]
    #[arg(value_parser = choice([("name", By::Name), ("ordinal", By::Ordinal)]))]
    by: By,
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
/// Modeled on Bruce Dawson's generator. The program exits at the start of its code; with `--call` it
/// calls every function through its object.
#[derive(Debug, Args)]
struct DawsonArgs {
    /// Number of source files
    #[arg(long, default_value_t = 16, value_name = "N")]
    sources: u32,
    /// Classes of each source file
    #[arg(long, default_value_t = 50, value_name = "N")]
    classes: u32,
    /// Virtual functions of each class; the published experiment used 0 to 1600
    #[arg(long, default_value_t = 0, value_name = "N")]
    functions: u32,
    /// PE: bytes of an entry in the Guard CF table, 4 or 5
    #[arg(long, value_name = "N")]
    guard_entry_bytes: Option<u32>,
    #[command(flatten)]
    images: ImageArgs,
    #[command(flatten)]
    common: CommonArgs,
}

/// A program, main, with libraries that depend on each other in a given shape (ELF)
#[derive(Debug, Args)]
struct ShapeArgs {
    /// The shape
    #[arg(value_parser = kinds())]
    kind: Kind,
    /// How many libraries, symbols or folders
    #[arg(long, value_name = "N")]
    n: u32,
    #[command(flatten)]
    common: CommonArgs,
}

fn kinds() -> impl TypedValueParser<Value = Kind> {
    choice(Kind::ALL.map(|kind| (PossibleValue::new(kind.name()).help(kind.about()), kind)))
}

/// Format and processor of the images.
#[derive(Debug, Args)]
struct ImageArgs {
    /// Format of the images
    #[arg(long, default_value = "elf", value_parser = format())]
    format: Format,
    /// Processor of the images; i686 is for PE only
    #[arg(long, default_value = "x86_64")]
    #[arg(value_parser = choice([("x86_64", Arch::X86_64), ("i686", Arch::I686)]))]
    arch: Arch,
    #[command(flatten)]
    pe: PeArgs,
}

/// What only PE images have.
#[derive(Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "PE images")]
struct PeArgs {
    /// Preferred bases of the libraries: all at the linker's default, or chosen not to collide
    #[arg(long, value_parser = choice([("default", Bases::Default), ("chosen", Bases::Chosen)]))]
    bases: Option<Bases>,
    /// Hints of imports by name: correct, or all zero
    #[arg(long, value_parser = choice([("right", Hints::Right), ("zero", Hints::Zero)]))]
    hints: Option<Hints>,
    /// TimeDateStamp, in seconds since 1970
    #[arg(long, value_name = "N")]
    timestamp: Option<u32>,
    /// Leave CheckSum 0
    #[arg(long)]
    no_checksum: bool,
    /// FileAlignment: 512, 1024, 2048 or 4096
    #[arg(long, value_name = "BYTES")]
    file_alignment: Option<u32>,
    /// Set DYNAMIC_BASE (ASLR) in the libraries; needs --bases chosen
    #[arg(long)]
    dynamic_base: bool,
    /// Seed of the numbers that functions return
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

impl PeArgs {
    fn options(&self) -> PeOptions {
        let usual = PeOptions::default();
        PeOptions {
            bases: self.bases.unwrap_or(Bases::Default),
            hints: self.hints.unwrap_or(Hints::Right),
            timestamp: self.timestamp.unwrap_or(usual.timestamp),
            checksum: !self.no_checksum,
            file_alignment: self.file_alignment.unwrap_or(usual.file_alignment),
            dynamic_base: self.dynamic_base,
            seed: self.seed.unwrap_or(usual.seed),
        }
    }
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
    let images = match &arguments.what {
        What::Pietrek(pietrek) => Some((&pietrek.images, pietrek.lazy, false)),
        What::Dawson(dawson) => Some((&dawson.images, false, dawson.guard_entry_bytes.is_some())),
        What::Shape(_) => None,
    };
    if let Some((images, lazy, guard)) = images {
        images.check(lazy, guard)?;
    }
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
        "folder": model::text::text(&common.out),
        "program": model::text::text(&written.program),
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
    let next = next_step(common, &output::quoted(&written.program));
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

/// What to type next.
fn next_step(common: &CommonArgs, program: &str) -> String {
    match (common.source, program.ends_with(".exe")) {
        (true, _) => format!("sh {program}"),
        (false, true) if cfg!(not(windows)) => format!("headstart measure wine {program}"),
        (false, false) if cfg!(windows) => format!("headstart inspect {program}"),
        (false, _) if verbs::is_here("measure") => format!("headstart measure {program}"),
        (false, _) => program.to_owned(),
    }
}

impl PietrekArgs {
    fn workload(&self) -> Pietrek {
        let PietrekSize { dlls, functions, globals } = self.size;
        let ImageArgs { format, arch, ref pe } = self.images;
        let (by, lazy, pe) = (self.by, self.lazy, pe.options());
        Pietrek { dlls, functions, globals, by, format, arch, lazy, pe }
    }
}

impl DawsonArgs {
    fn workload(&self) -> Dawson {
        let (sources, classes, functions) = (self.sources, self.classes, self.functions);
        let ImageArgs { format, arch, ref pe } = self.images;
        let pe = pe.options();
        let guard_entry_bytes = self.guard_entry_bytes.unwrap_or(4);
        Dawson { sources, classes, functions, format, arch, guard_entry_bytes, pe }
    }
}

impl ShapeArgs {
    fn workload(&self) -> Shape {
        Shape { kind: self.kind, n: self.n }
    }
}

impl ImageArgs {
    /// Options that would have no effect are mistakes.
    fn check(&self, lazy: bool, guard: bool) -> Result<()> {
        let wrong = match self.format {
            Format::Elf if self.pe != PeArgs::default() || guard => {
                "these options are for PE images: add --format pe"
            }
            Format::Pe if lazy => "--lazy is for ELF: PE imports are always bound at start",
            _ => return Ok(()),
        };
        Err(Usage(wrong.to_owned()).into())
    }
}

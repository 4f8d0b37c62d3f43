//! `headstart order try`: trace, order, link again and verify in one go.

use crate::args::{CommandArgs, SnippetArgs, linkers, one_command};
use crate::commands::order_verify::{self, VerifyArgs};
use crate::commands::order_write::notes;
use crate::exit::Usage;
use crate::progress::StatusLine;
use crate::{output, spared};
use anyhow::Result;
use clap::builder::TypedValueParser;
use model::{Command, OrderReport, OrderVerification, text};
use ordering::Algorithm;
use ordering::attempt::{AttemptRequest, Attempted, BecameOfOld, NewBuild, ORDER, OUT, attempt};
use ordering::write::Linker;
use os::launcher::{Launcher, Stdio};
use report::Style;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Reads of each build that are shown.
const READS: usize = 12;

/// Order the functions of a program that you build, and prove what that gains
///
/// The launch is traced, an order file is written, your own command relinks the program with it, and
/// both builds are compared: pages, cold reads, times. In the command, @ORDER@ stands for the order
/// file. The command has to replace the program, or with --out write it to @OUT@. The order file is
/// kept. An order that makes a launch worse is rejected. The exit code is 1 then, and also if there is
/// no verdict (see `order verify --help`). Unless the exit code is 0, the old program is put back; a new
/// build that can be read is kept beside it, with .headstart-new appended to its name.
///
/// Compile with -ffunction-sections. --snippet prints the lines for CMake, Meson, Cargo or make.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    launched: CommandArgs,
    /// Shell command that relinks the program, with @ORDER@ in it
    #[arg(long, value_name = "COMMAND", required = true)]
    relink: String,
    /// The linker that the command uses
    #[arg(long, value_name = "LINKER", default_value = "lld", value_parser = linker())]
    linker: Linker,
    /// Write the order file here
    #[arg(long, value_name = "FILE", default_value = "headstart.order", help_heading = "Output")]
    order: PathBuf,
    /// Where the command writes the new program (@OUT@) [default: it replaces the old one]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Another launch to make the order for, as a whole command line; may be repeated
    #[arg(long, value_name = "CMD")]
    also: Vec<String>,
    /// A launch of the program that the order is not made for and must not make worse; may be repeated
    #[arg(long, value_name = "CMD")]
    held_out: Vec<String>,
    #[command(flatten)]
    how: VerifyArgs,
    #[command(flatten)]
    snippet: SnippetArgs,
    /// List every read
    #[arg(long, help_heading = "Output")]
    all: bool,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Linkers that read an order file as it is: objcopy is for whoever drives it.
pub fn linker() -> impl TypedValueParser<Value = Linker> {
    linkers::choice([
        ("lld", Linker::Lld),
        ("gold", Linker::Gold),
        ("bfd", Linker::Bfd),
        ("ld-script", Linker::Script),
    ])
}

/// What `--json` prints.
#[derive(Serialize)]
struct Printed<'a> {
    order: &'a OrderReport,
    verification: &'a OrderVerification,
    old_program: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_program: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<String>,
}

/// Tries and prints.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    os::interrupt::install();
    let launchers = [Launcher::start()?, Launcher::start()?, Launcher::start()?];
    let null = Stdio::all(output::null()?);
    let request = arguments.request(null)?;
    let line = StatusLine::new();
    let attempted = attempt(request, launchers, &mut |step| {
        line.show(f64::from(step.done) / f64::from(step.of), step.what.to_owned());
    });
    line.clear();
    let Attempted { mut order, assumption, verification, old, new } = attempted?;
    order.notes.extend(assumption.map(|it| notes::assumed(it, false)));
    let (linker, file) = (Some(arguments.linker), Some(arguments.order.as_path()));
    let snippet = arguments.snippet.text(linker, file)?;
    let code = order_verify::code(verification.verdict);
    // Nobody is told how to use an order that is rejected or gone, unless asked.
    let is_told = (code == 0 && order.file.is_some()) || snippet.is_some();
    let below = if is_told { arguments.snippet.below(linker, file)? } else { String::new() };
    let (old_program, new_program) = programs(&old, &new);
    let verification = &verification;
    let printed = Printed { order: &order, verification, old_program, new_program, snippet };
    let rows = (!arguments.all).then_some(READS);
    output::print_either(arguments.json, &printed, |style| {
        report::order::view(&order, style)
            + "\n"
            + &report::order_verification::view(verification, rows, style)
            + &state(&old, style)
            + &below
    })?;
    Ok(ExitCode::from(code))
}

/// Which program is where, unless the new one is where it was to go.
fn state(old: &BecameOfOld, style: &Style) -> String {
    match old {
        BecameOfOld::Untouched | BecameOfOld::Replaced => String::new(),
        BecameOfOld::PutBack { .. } | BecameOfOld::Lost { .. } => {
            format!("\n{}\n", style.wrap(&format!("{old}."), 0))
        }
    }
}

/// What became of the old program, in one word, and where the new one is.
fn programs(old: &BecameOfOld, new: &Path) -> (&'static str, Option<String>) {
    let new = Some(text::text(new));
    match old {
        BecameOfOld::Untouched => ("untouched", new),
        BecameOfOld::Replaced => ("replaced", new),
        BecameOfOld::PutBack { new: NewBuild::Kept(new), .. } => {
            ("put_back", Some(text::text(new)))
        }
        BecameOfOld::PutBack { .. } => ("put_back", None),
        BecameOfOld::Lost { .. } => ("lost", new),
    }
}

impl Arguments {
    fn request(&self, null: Stdio) -> Result<AttemptRequest> {
        self.check()?;
        let launch = self.launched.command()?;
        let lines = |lines: &[String]| -> Result<Vec<Command>> {
            lines.iter().map(|line| one_command(std::slice::from_ref(line))).collect()
        };
        let (also, held_out) = (lines(&self.also)?, lines(&self.held_out)?);
        self.check_order([&launch].into_iter().chain(&also).chain(&held_out))?;
        Ok(AttemptRequest {
            verify: self.how.request(launch.clone(), launch.clone(), Vec::new(), null),
            launch,
            also,
            held_out,
            relink: self.relink.clone(),
            out: self.out.clone(),
            linker: self.linker,
            algorithm: Algorithm::Signature,
            order: self.order.clone(),
        })
    }

    fn check(&self) -> Result<()> {
        self.snippet.check(Some(self.linker), Some(&self.order))?;
        if !self.relink.contains(ORDER) {
            let text = format!("--relink has to name the order file: write {ORDER} where it goes");
            return Err(Usage(text).into());
        }
        if self.relink.contains(OUT) != self.out.is_some() {
            let text = format!("{OUT} in --relink and --out belong together; give both or neither");
            return Err(Usage(text).into());
        }
        let place = |path: &Path| std::path::absolute(path).ok();
        if self.out.as_deref().and_then(place).is_some_and(|out| Some(out) == place(&self.order)) {
            let text = "--order and --out name the same file; the program would replace the order";
            return Err(Usage(text.to_owned()).into());
        }
        Ok(())
    }

    /// Whether the order file can be written, and is no file that a launch or the relink reads.
    fn check_order<'a>(&self, launches: impl Iterator<Item = &'a Command>) -> Result<()> {
        let mut inputs = spared::named_in(&self.relink.replace(ORDER, " ").replace(OUT, " "));
        for launch in launches {
            inputs.push(launch.program.clone());
            inputs.extend(spared::named_by(&launch.argv));
        }
        inputs.extend(self.out.clone());
        // A folder that is named is where the order file may well be.
        inputs.retain(|path| path.is_file());
        output::may_be_written_beside(&self.order, inputs.iter().map(PathBuf::as_path))
    }
}

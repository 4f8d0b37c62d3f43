//! What `measure` and `compare` share: the request, and what becomes of the results.

use crate::args::{Look, MeasuredArgs, OutputArgs, ScheduleArgs};
use crate::exit::{self, Usage};
use crate::output::{self, may_be_written};
use crate::phrases::VIEW_WORDS;
use crate::progress::StatusLine;
use anyhow::Result;
use lab::{Keep, MeasureRequest, Measured, ResumeRequest, RunFolder, Series, Stop};
use model::{OutputTo, Results, Variant};
use os::clock::ticks_per_second;
use os::launcher::Launcher;
use std::path::Path;
use std::process::ExitCode;

/// What the user asked for, beside the commands.
#[derive(Clone, Copy)]
pub struct MeasuringArgs<'a> {
    /// How often to launch.
    pub schedule: &'a ScheduleArgs,
    /// How to launch.
    pub launching: &'a MeasuredArgs,
    /// What to print.
    pub output: &'a OutputArgs,
}

/// Makes the launches of a new run of `variants`, or those that `--resume` still lacks.
///
/// `launcher` was started before anything large was in memory.
pub fn measure(
    launcher: Launcher,
    variants: Option<Vec<Variant>>,
    asked: MeasuringArgs<'_>,
) -> Result<Measured> {
    let MeasuringArgs { schedule, launching, output } = asked;
    output.export.iter().chain(output.exports.files()).try_for_each(|file| may_be_written(file))?;
    let line = match output.look.look() {
        Look::Basic | Look::Color | Look::None => StatusLine::silent(),
        Look::Auto | Look::Full | Look::Nocolor => StatusLine::new(),
    };
    let mut measured = match (&launching.kept.resume, variants) {
        (Some(_), Some(_)) => {
            let text = "--resume already knows the commands; omit them";
            return Err(Usage(text.to_owned()).into());
        }
        (Some(folder), None) => {
            not_among_results(&RunFolder::experiment(folder)?.variants, output)?;
            let request = ResumeRequest { folder: folder.clone(), changes: schedule.changes() };
            lab::resume(launcher, &request, &mut |event| line.observe(event))?
        }
        (None, Some(variants)) => {
            not_among_results(&variants, output)?;
            let request = MeasureRequest {
                variants,
                schedule: launching.schedule(schedule)?,
                options: launching.options(),
                keep: launching.kept.save.clone().map_or(Keep::ByDefault, Keep::In),
            };
            lab::measure(launcher, request, &mut |event| line.observe(event))?
        }
        (None, None) => return Err(Usage("name a command to launch".to_owned()).into()),
    };
    let stale = stale_bundles(&measured.experiment.variants);
    measured.results.notes.extend(stale);
    if let Some(error) = &measured.unkept {
        measured.results.notes.insert(0, exit::unkept(error));
    }
    Ok(measured)
}

/// What was launched though a bundle was named.
#[cfg(target_os = "linux")]
fn stale_bundles(variants: &[Variant]) -> Vec<String> {
    let stale = variants.iter();
    let stale = stale.filter_map(|variant| Some((variant, bundle::stale(&variant.command)?)));
    let notes = stale.map(|(variant, reason)| {
        format!(
            "{} is a bundle that starts the original, so the original was launched too: {reason}; run \
             headstart verify on its folder",
            variant.command.program.display()
        )
    });
    notes.collect()
}

/// Bundles are programs of Linux.
#[cfg(not(target_os = "linux"))]
fn stale_bundles(_variants: &[Variant]) -> Vec<String> {
    Vec::new()
}

/// What programs print would be in the midst of what another program is to read.
fn not_among_results(variants: &[Variant], output: &OutputArgs) -> Result<()> {
    let shown = variants.iter().any(|variant| variant.streams.output == OutputTo::Inherit);
    if shown && (output.json || output.csv || output.markdown) {
        let text = "the programs' output would be mixed with the results: write these to a file \
                    (--export FILE.json), or leave out --show-output and --output inherit";
        return Err(Usage(text.to_owned()).into());
    }
    Ok(())
}

/// Prints and exports what was measured. One command is shown alone, several are compared.
pub fn print(results: &Results, arguments: &OutputArgs) -> Result<()> {
    if results.variants.is_empty() {
        return Ok(());
    }
    let look = arguments.look.look();
    let shown = arguments.look.shown(results);
    let text = if arguments.json {
        report::export::json(results)?
    } else if arguments.csv {
        report::export::csv(results)
    } else if arguments.markdown {
        report::export::markdown(&shown)
    } else {
        let view =
            if shown.variants.len() > 1 { report::compare_view } else { report::measure_view };
        view(&shown, &VIEW_WORDS, &output::style_as(look)) + &ticks(results, arguments)
    };
    if look != Look::None {
        output::print(&text)?;
    }
    for path in &arguments.export {
        let text = match path.extension().and_then(|extension| extension.to_str()) {
            Some("csv") => report::export::csv(results),
            Some("md") => report::export::markdown(&shown),
            _ => report::export::json(results)?,
        };
        output::write_file(path, &text)?;
    }
    arguments.exports.write(results, &shown, |path, text| match path.to_str() {
        Some("-") => output::print(&format!("\n{text}")),
        _ => output::write_file(path, text),
    })
}

/// The exit code, after why the run ended early has been said on stderr.
pub fn conclude(measured: Measured, code: u8) -> Result<ExitCode> {
    let interrupted = match &measured.stop {
        Ok(Stop::Interrupted) => true,
        Ok(_) => return Ok(ExitCode::from(code)),
        Err(failure) => failure.error.is_interrupt(),
    };
    let folder = measured.results.run.as_deref().map(Path::new);
    let series = Series::of_experiment(&measured.experiment);
    output::say_ended(interrupted, folder.map(|folder| (series, folder)));
    match measured.stop {
        Err(failure) if !interrupted => Err(failure.error.into()),
        _ => Ok(ExitCode::from(exit::INTERRUPTED)),
    }
}

fn ticks(results: &Results, arguments: &OutputArgs) -> String {
    if !arguments.ticks {
        return String::new();
    }
    let several = results.variants.len() > 1;
    let lines = results.variants.iter().map(|variant| {
        let head = if several { format!("{}:\n", variant.name) } else { String::new() };
        head + &report::ticks_lines(variant.summary.min_us, ticks_per_second())
    });
    format!("\n{}", lines.collect::<String>())
}

//! One run from its experiment to its results: what `measure` and `compare` share.

use crate::args::{Look, MeasuredArgs, OutputArgs, ScheduleArgs};
use crate::exit::{self, Usage};
use crate::output::may_be_written;
use crate::{output, progress, runs};
use anyhow::Result;
use lab::{Bench, Chill, LabError, RunFolder, Stop};
use model::{Experiment, OutputTo, Request, Results, Rules, Sample, Until, Variant};
use os::attend::Options;
use os::clock::TICKS_PER_SECOND;
use os::launcher::Launcher;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// A run that is over, for whatever reason.
pub struct Finished {
    /// What it measured; without variants where not a single launch was counted.
    pub results: Results,
    /// Why it ended.
    pub stop: Result<Stop, LabError>,
    /// The command that goes on with it.
    verb: &'static str,
}

/// A run about to begin or to go on.
struct Begun {
    experiment: Experiment,
    samples: Vec<Sample>,
    folder: Option<RunFolder>,
    /// The folder is older than this process.
    resumed: bool,
    notes: Vec<String>,
}

/// What the user asked for, beside the commands.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
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
pub fn run(
    launcher: Launcher,
    variants: Option<Vec<Variant>>,
    asked: Asked<'_>,
) -> Result<Finished> {
    let Asked { schedule, launching, output } = asked;
    output.export.iter().chain(output.exports.files()).try_for_each(|file| may_be_written(file))?;
    let mut begun = match (&launching.kept.resume, variants) {
        (Some(_), Some(_)) => {
            let text = "--resume already knows the commands; omit them";
            return Err(Usage(text.to_owned()).into());
        }
        (Some(path), None) => {
            let begun = resume(path, schedule)?;
            not_among_results(&begun.experiment.variants, output)?;
            begun
        }
        (None, Some(variants)) => {
            not_among_results(&variants, output)?;
            begin(variants, schedule, launching)?
        }
        (None, None) => return Err(Usage("name a command to launch".to_owned()).into()),
    };
    let line = match output.look.look() {
        Look::Basic | Look::Color | Look::None => progress::Line::silent(),
        Look::Auto | Look::Full | Look::Nocolor => progress::Line::new(),
    };
    let stop = launch_all(launcher, &mut begun, &line);
    Ok(finish(begun, stop))
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

fn begin(
    variants: Vec<Variant>,
    schedule: &ScheduleArgs,
    launching: &MeasuredArgs,
) -> Result<Begun> {
    let schedule = launching.schedule(schedule)?;
    let experiment = runs::experiment(variants, schedule, launching.request());
    let program = experiment.variants.first().map(|variant| variant.command.program.as_path());
    let program = program.unwrap_or(Path::new(""));
    let (folder, note) = runs::create(launching.kept.save.as_deref(), program, &experiment)?;
    let notes = note.into_iter().chain(scripts(&experiment)).collect();
    Ok(Begun { experiment, samples: Vec::new(), folder, resumed: false, notes })
}

/// What `--until entry` means for scripts, as their figures look like those of programs.
fn scripts(experiment: &Experiment) -> Vec<String> {
    let is_script = |variant: &&Variant| {
        let mut start = [0; 2];
        let read = std::fs::File::open(&variant.command.program)
            .and_then(|mut file| file.read_exact(&mut start));
        read.is_ok() && &start == b"#!"
    };
    let note = |variant: &Variant| {
        format!("{} is a script: the entry measured is its interpreter's.", variant.command.name())
    };
    match experiment.request.until {
        Until::Entry => experiment.variants.iter().filter(is_script).map(note).collect(),
        _ => Vec::new(),
    }
}

fn resume(path: &Path, schedule: &ScheduleArgs) -> Result<Begun> {
    let (folder, mut experiment, samples) = RunFolder::resume(path)?;
    let before = experiment.schedule.clone();
    schedule.change(&mut experiment.schedule);
    if experiment.schedule != before {
        folder.write_experiment(&experiment)?;
    }
    let notes = runs::moved(&experiment).into_iter().collect();
    Ok(Begun { experiment, samples, folder: Some(folder), resumed: true, notes })
}

fn launch_all(
    launcher: Launcher,
    begun: &mut Begun,
    line: &progress::Line,
) -> Result<Stop, LabError> {
    let Begun { experiment, samples, folder, notes, .. } = begun;
    launches(launcher, experiment, samples, (folder, notes), line)
}

/// Makes the launches that `samples` still lacks, and appends them there and to the folder. What
/// the figures of cold launches leave open is added to the notes.
pub fn launches(
    launcher: Launcher,
    experiment: &Experiment,
    samples: &mut Vec<Sample>,
    (folder, notes): (&mut Option<RunFolder>, &mut Vec<String>),
    line: &progress::Line,
) -> Result<Stop, LabError> {
    let chill = chill(experiment, line)?;
    if let Some(chill) = &chill {
        notes.extend(limits(experiment, chill));
    }
    let mut bench = Bench::new(experiment, launcher, chill)?;
    bench.set_up()?;
    let schedule = &experiment.schedule;
    let stop = lab::run(experiment, samples, &mut bench, folder, &mut |progress| {
        let (share, text) = progress::of_run(&progress, schedule.budget_s, schedule.precision);
        line.show(share, text);
    });
    line.clear();
    let cleaned = bench.clean_up();
    // Why the launches ended says more than what failed after them.
    let stop = stop?;
    if stop != Stop::Interrupted {
        cleaned?;
    }
    Ok(stop)
}

/// How the cache is emptied before each launch, where that was asked for.
fn chill(experiment: &Experiment, line: &progress::Line) -> Result<Option<Chill>, LabError> {
    if experiment.request.cache == model::CacheState::Warm {
        return Ok(None);
    }
    line.show(0.0, "finding the files that the launches map".to_owned());
    let commands: Vec<_> = experiment.variants.iter().map(|v| v.command.clone()).collect();
    let options = Options {
        timeout: look_for(&experiment.request),
        cpu: experiment.request.cpu,
        to_entry: false,
    };
    Chill::new(&commands, &options).map(Some)
}

/// How long to watch a launch for the files that it maps. One that does not end by itself is
/// ended after a few seconds.
fn look_for(request: &Request) -> Duration {
    let most =
        if request.until == Until::Exit { request.timeout_s } else { request.timeout_s.min(5.0) };
    Duration::try_from_secs_f64(most).unwrap_or(Duration::MAX)
}

/// What a cold start of one's own files alone cannot make cold.
fn limits(experiment: &Experiment, chill: &Chill) -> Vec<String> {
    if chill.state() == model::CacheState::ColdDropped {
        return Vec::new();
    }
    let name = |index: usize| match experiment.variants.as_slice() {
        [_] => String::new(),
        variants => format!("{}: ", variants[index].name),
    };
    let source = |(index, source): (usize, &String)| format!("{}Evicted {source}.", name(index));
    chill.sources.iter().enumerate().map(source).collect()
}

fn finish(begun: Begun, stop: Result<Stop, LabError>) -> Finished {
    let Begun { experiment, samples, folder, resumed, notes } = begun;
    let verb = if experiment.variants.len() > 1 { "compare" } else { "measure" };
    let mut results = stats::results(&experiment, &samples, &Rules::default());
    if let Some(folder) = folder {
        if samples.is_empty() && !resumed {
            // It would only get in the way of the next run of that name.
            folder.discard();
        } else {
            results.run = Some(folder.path().display().to_string());
        }
    }
    results.notes.splice(0..0, notes);
    if matches!(stop, Ok(Stop::Budget)) && experiment.schedule.precision.is_some() {
        let text = "The budget was spent before the result was as precise as asked for.";
        results.notes.push(text.to_owned());
    }
    Finished { results, stop, verb }
}

impl Finished {
    /// Prints and exports what was measured. `view` draws the results for people.
    pub fn print(
        &self,
        arguments: &OutputArgs,
        view: impl Fn(&Results, &report::Style) -> String,
    ) -> Result<()> {
        if self.results.variants.is_empty() {
            return Ok(());
        }
        let (results, look) = (&self.results, arguments.look.look());
        let shown = arguments.look.shown(results);
        let text = if arguments.json {
            report::export::json(results)?
        } else if arguments.csv {
            report::export::csv(results)
        } else if arguments.markdown {
            report::export::markdown(&shown)
        } else {
            view(&shown, &output::style_as(look)) + &ticks(results, arguments)
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
    pub fn conclude(self, code: u8) -> Result<ExitCode> {
        let interrupted = match &self.stop {
            Ok(Stop::Interrupted) => true,
            Ok(_) => return Ok(ExitCode::from(code)),
            Err(error) => error.is_interrupt(),
        };
        runs::say_ended(interrupted, self.verb, self.results.run.as_deref().map(Path::new));
        match self.stop {
            Err(error) if !interrupted => Err(error.into()),
            _ => Ok(ExitCode::from(exit::INTERRUPTED)),
        }
    }
}

fn ticks(results: &Results, arguments: &OutputArgs) -> String {
    if !arguments.ticks {
        return String::new();
    }
    let several = results.variants.len() > 1;
    let lines = results.variants.iter().map(|variant| {
        let head = if several { format!("{}:\n", variant.name) } else { String::new() };
        head + &report::ticks_lines(variant.summary.min_us, TICKS_PER_SECOND)
    });
    format!("\n{}", lines.collect::<String>())
}

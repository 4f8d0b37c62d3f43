//! One run from its experiment to its results: what `measure` and `compare` share.

use crate::args::{MeasuredArgs, OutputArgs, ScheduleArgs};
use crate::exit::{self, Usage};
use crate::{output, progress, runs};
use anyhow::Result;
use lab::{Bench, Chill, LabError, Output, RunFolder, Samples, Stop};
use model::{EXPERIMENT_SCHEMA, Experiment, Request, Results, Rules, Sample, Until, Variant};
use os::LaunchError;
use os::attend::Options;
use os::launcher::Launcher;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A run that is over, for whatever reason.
pub struct Finished {
    /// What it measured; without variants where not a single launch was counted.
    pub results: Results,
    /// Why it ended.
    pub stop: Result<Stop, LabError>,
}

/// Where samples are kept: in a run folder, or nowhere if there is none to write to.
struct Kept(Option<RunFolder>);

impl Samples for Kept {
    fn append(&mut self, sample: &Sample) -> Result<(), LabError> {
        self.0.as_mut().map_or(Ok(()), |folder| folder.append(sample))
    }
}

/// A run about to begin or to go on.
struct Begun {
    experiment: Experiment,
    samples: Vec<Sample>,
    kept: Kept,
    notes: Vec<String>,
}

/// Makes the launches of a new run of `variants`, or those that `--resume` still lacks.
///
/// `launcher` was started before anything large was in memory.
pub fn run(
    launcher: Launcher,
    variants: Option<Vec<Variant>>,
    schedule: &ScheduleArgs,
    launching: &MeasuredArgs,
) -> Result<Finished> {
    let mut begun = match (&launching.resume, variants) {
        (Some(_), Some(_)) => {
            let text = "a run that goes on knows its commands: leave them away after --resume DIR";
            return Err(Usage(text.to_owned()).into());
        }
        (Some(path), None) => resume(path, schedule)?,
        (None, Some(variants)) => begin(variants, schedule, launching)?,
        (None, None) => return Err(Usage("name a command to launch".to_owned()).into()),
    };
    let stop = launch_all(launcher, &mut begun, launching);
    Ok(finish(begun, stop))
}

fn begin(
    variants: Vec<Variant>,
    schedule: &ScheduleArgs,
    launching: &MeasuredArgs,
) -> Result<Begun> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let program = variants.first().map(|variant| variant.command.program.clone());
    let experiment = Experiment {
        schema: EXPERIMENT_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        started_unix_s: now.map_or(0, |time| time.as_secs()),
        machine: os::host::machine(),
        variants,
        schedule: schedule.schedule(launching.cold),
        request: launching.request()?,
    };
    let (folder, note) = match &launching.run {
        Some(path) => (Some(RunFolder::create(path, &experiment)?), None),
        None => default_folder(program.as_deref().unwrap_or(Path::new("")), &experiment),
    };
    let notes = note.into_iter().collect();
    Ok(Begun { experiment, samples: Vec::new(), kept: Kept(folder), notes })
}

/// A folder in the default place; a run that was not asked to be kept goes on without one.
fn default_folder(program: &Path, experiment: &Experiment) -> (Option<RunFolder>, Option<String>) {
    let unkept = |why: String| format!("The launches are not kept on disk: {why}");
    match runs::default_folder(program).map(|path| RunFolder::create(&path, experiment)) {
        Some(Ok(folder)) => (Some(folder), None),
        Some(Err(error)) => (None, Some(unkept(error.to_string()))),
        None => {
            (None, Some(unkept("neither XDG_CACHE_HOME nor HOME is set; use --run".to_owned())))
        }
    }
}

fn resume(path: &Path, schedule: &ScheduleArgs) -> Result<Begun> {
    let (folder, mut experiment, samples) = RunFolder::resume(path)?;
    let before = experiment.schedule.clone();
    schedule.change(&mut experiment.schedule);
    if experiment.schedule != before {
        folder.write_experiment(&experiment)?;
    }
    let mut notes = Vec::new();
    if experiment.machine != os::host::machine() {
        notes.push("The run began on another machine or kernel: its launches differ.".to_owned());
    }
    Ok(Begun { experiment, samples, kept: Kept(Some(folder)), notes })
}

fn launch_all(
    launcher: Launcher,
    begun: &mut Begun,
    launching: &MeasuredArgs,
) -> Result<Stop, LabError> {
    let Begun { experiment, samples, kept, notes } = begun;
    let line = progress::Line::new();
    let chill = chill(experiment, &line)?;
    if let Some(chill) = &chill {
        notes.extend(limits(experiment, chill));
    }
    let output = if launching.show_output { Output::Inherit } else { Output::Discard };
    let mut bench = Bench::new(experiment, launcher, output, chill)?;
    let schedule = &experiment.schedule;
    lab::run(experiment, samples, &mut bench, kept, &mut |progress| {
        let (share, text) = progress::of_run(&progress, schedule.budget_s, schedule.precision);
        line.show(share, text);
    })
}

/// How the cache is emptied before each launch, where that was asked for.
fn chill(experiment: &Experiment, line: &progress::Line) -> Result<Option<Chill>, LabError> {
    if experiment.request.cache == model::CacheState::Warm {
        return Ok(None);
    }
    line.show(0.0, "finding the files that the launches map".to_owned());
    let commands: Vec<_> = experiment.variants.iter().map(|v| v.command.clone()).collect();
    let options = Options { timeout: look_for(&experiment.request), cpu: experiment.request.cpu };
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
    let Begun { experiment, samples, kept, notes } = begun;
    let mut results = stats::results(&experiment, &samples, &Rules::default());
    if let Some(folder) = kept.0 {
        if samples.is_empty() {
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
    Finished { results, stop }
}

impl Finished {
    /// Prints and exports what was measured, then passes on why the run ended. `view` draws the
    /// results for people.
    pub fn print(
        &self,
        arguments: &OutputArgs,
        view: impl Fn(&Results, &report::Style) -> String,
    ) -> Result<()> {
        if self.results.variants.is_empty() {
            return Ok(());
        }
        let results = &self.results;
        output::print(&if arguments.json {
            report::export::json(results)?
        } else if arguments.csv {
            report::export::csv(results)
        } else if arguments.markdown {
            report::export::markdown(results)
        } else {
            view(results, &output::style()) + &ticks(results, arguments)
        })?;
        for path in &arguments.export {
            let text = match path.extension().and_then(|extension| extension.to_str()) {
                Some("csv") => report::export::csv(results),
                Some("md") => report::export::markdown(results),
                _ => report::export::json(results)?,
            };
            output::write_file(path, &text)?;
        }
        if let Some(path) = &arguments.export_hyperfine {
            output::write_file(path, &report::export::hyperfine(results)?)?;
        }
        Ok(())
    }

    /// The exit code, after why the run ended early has been said on stderr.
    pub fn conclude(self, code: u8) -> Result<ExitCode> {
        let kept = self.results.run.as_ref().map(|run| {
            let verb = if self.results.variants.len() > 1 { "compare" } else { "measure" };
            format!("headstart {verb} --resume {}", shlex::try_quote(run).unwrap_or_default())
        });
        let interrupted = match self.stop {
            Ok(Stop::Interrupted) => true,
            Err(LabError::Launch(LaunchError::Interrupted)) => true,
            Ok(_) => return Ok(ExitCode::from(code)),
            Err(_) => false,
        };
        let said =
            if interrupted { "interrupted" } else { "the launches before this one are kept" };
        if let Some(resume) = kept {
            anstream::eprintln!("headstart: {said}; go on with: {resume}");
        } else if interrupted {
            anstream::eprintln!("headstart: {said}");
        }
        match self.stop {
            Err(error) if !interrupted => Err(error.into()),
            _ => Ok(ExitCode::from(exit::INTERRUPTED)),
        }
    }
}

/// The launch clock counts nanoseconds (CLOCK_MONOTONIC_RAW).
const TICKS_PER_SECOND: u64 = 1_000_000_000;

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

//! Makes the launches whose records [`super::explain()`] turns into an explanation.

use super::inputs::{DllSearchPath, PeInputs};
use crate::recording::{RecordingPlan, RecordingStep};
use crate::untraced::{UNTRACED, Untraced};
use dlls::survey::look_up;
use dlls::{MemberId, OpenFiles};
use image::pe::PeFile;
use lab::{LabError, Launching};
use model::{
    Command, DebuggedLaunch, DebuggedProcess, Ending, Launch, PeFacts, Reading, Sample, Until, text,
};
use os::LaunchError;
use os::dll_search::DllSearch;
use os::launcher::{Configuration, GRACE, LaunchSpec, Launcher, NO_DEBUG_HEAP, Slot, Stdio};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Steps besides the debugged launches.
const OTHER_STEPS: u32 = 1;

/// Launches the experiment's command as often as necessary; returns what was recorded, and the launches without
/// a debugger.
///
/// # Errors
/// The program cannot be launched without a debugger, fails, or is not finished in time; and
/// [`LaunchError::Interrupted`].
pub fn gather(
    plan: RecordingPlan<'_>,
    launching: &mut dyn Launching,
    progress: &mut dyn FnMut(RecordingStep),
) -> Result<(PeInputs, Vec<Sample>), LabError> {
    let RecordingPlan { experiment, traces, .. } = plan;
    let Some(variant) = experiment.variants.first() else {
        return Err(LaunchError::NotFound(String::new()).into());
    };
    let command = &variant.command;
    let options = &experiment.options;
    let spec = LaunchSpec {
        until: options.until.clone(),
        timeout: Duration::try_from_secs_f64(options.timeout_s).unwrap_or(Duration::MAX),
        grace: GRACE,
    };
    let before = Stamp::of(command);
    let mut untraced = Untraced::warmed_up(launching)?;
    untraced.launch(UNTRACED, launching)?;
    let mut debugger = Debugger::new(command, spec, options.cpu)?;
    let mut step = RecordingStep { done: 0, total: traces + OTHER_STEPS, what: "" };
    let mut next = |what| {
        step.what = what;
        progress(step);
        step.done += 1;
    };
    let mut recorded = Recorded::default();
    for _ in 0..traces {
        next("recording DLLs under the debugger");
        if recorded.missing.is_none() {
            match debugger.launch(&untraced) {
                Ok(Ok(launch)) => recorded.launches.push(launch),
                Ok(Err(difference)) => recorded.differences.push(difference),
                Err(LaunchError::Interrupted) => return Err(LaunchError::Interrupted.into()),
                Err(error) => recorded.missing = Some(error.to_string()),
            }
        }
        untraced.launch(UNTRACED, launching)?;
    }
    next("reading the files");
    let left_out = recorded.differences.len() as u32;
    let debugged = recorded.reading();
    let mut inputs = PeInputs {
        command: command.clone(),
        untraced_us: untraced.times(),
        untraced_cpu_us: untraced.figure(Launch::cpu_us),
        left_running: untraced.left_running(),
        until_ready: options.until != Until::Exit,
        facts: BTreeMap::new(),
        left_out,
        debugged,
        search: search_path(command),
        changed: before != Stamp::of(command),
        wine: os::host::wine().map(|version| version.trim_start_matches("wine-").to_owned()),
    };
    inputs.facts = facts(&inputs);
    Ok((inputs, untraced.samples))
}

/// What the debugged launches gave.
#[derive(Default)]
struct Recorded {
    launches: Vec<DebuggedLaunch>,
    /// What was different in others.
    differences: Vec<String>,
    /// Why there are no more.
    missing: Option<String>,
}

impl Recorded {
    /// The launches, unless most were different.
    fn reading(self) -> Reading<Vec<DebuggedLaunch>> {
        let most_differ = self.differences.len() >= self.launches.len();
        let different = self.differences.into_iter().next().filter(|_| most_differ);
        match self.missing.or(different) {
            Some(reason) => Reading::unavailable(reason, ""),
            None => Reading::Value(self.launches),
        }
    }
}

/// What tells whether the program's file has changed.
#[derive(PartialEq)]
struct Stamp(Option<(u64, Option<SystemTime>)>);

impl Stamp {
    fn of(command: &Command) -> Stamp {
        let data = command.program.metadata().ok();
        Stamp(data.map(|data| (data.len(), data.modified().ok())))
    }
}

/// Launches the command under the debugger.
struct Debugger {
    launcher: Launcher,
    slot: Slot,
    spec: LaunchSpec,
}

impl Debugger {
    fn new(command: &Command, spec: LaunchSpec, cpu: Option<u32>) -> Result<Debugger, LaunchError> {
        let mut launcher = Launcher::start()?;
        launcher.configure(Configuration { cpu, realtime: false })?;
        let slot = launcher.prepare(command, &Stdio::null()?, &[NO_DEBUG_HEAP])?;
        Ok(Debugger { launcher, slot, spec })
    }

    /// A launch, if it goes as those without a debugger do; otherwise what is different.
    fn launch(
        &mut self,
        untraced: &Untraced,
    ) -> Result<Result<DebuggedLaunch, String>, LaunchError> {
        let launch = self.launcher.debugged(self.slot, &self.spec)?;
        let mut endings = untraced.samples.iter().map(|sample| sample.launch.ending);
        if !endings.clone().any(|ending| ending == launch.ending) {
            let otherwise = endings.next_back().map_or_else(String::new, Ending::words);
            let how = launch.ending.words();
            return Ok(Err(format!("under the debugger, it {how}; without, it {otherwise}")));
        }
        // Wine may end a program that raises an exception in an initializer, with the code of a good end.
        let began =
            |process: &DebuggedProcess| process.entry_us.is_some() || !process.notes.is_empty();
        match launch.processes.first().is_some_and(began) {
            true => Ok(Ok(launch)),
            false => Ok(Err("under the debugger, it did not come to its entry point".to_owned())),
        }
    }
}

/// The facts of every file that was loaded.
fn facts(inputs: &PeInputs) -> BTreeMap<String, Result<PeFacts, String>> {
    let processes =
        inputs.debugged.value().into_iter().flatten().flat_map(|launch| &launch.processes);
    let paths: BTreeSet<&String> = processes
        .flat_map(|process| process.dlls.iter().map(|dll| &dll.path).chain([&process.path]))
        .collect();
    let read = |path: &&String| {
        let facts = image::pe::facts(Path::new(&text::name(path)));
        ((*path).clone(), facts.map_err(|error| error.to_string()))
    };
    let mut facts: BTreeMap<String, Result<PeFacts, String>> = paths.iter().map(read).collect();
    let own = facts.values_mut().flatten().filter(|facts| !inputs.is_of_system(&facts.path));
    check_hints(own);
    facts
}

/// Compares the hints of every file with the exports of the others. Files of the system are left out: their
/// exports differ from version to version.
fn check_hints<'a>(own: impl Iterator<Item = &'a mut PeFacts>) {
    let mut known: Vec<&mut PeFacts> = Vec::new();
    let mut open = Vec::new();
    for facts in own {
        if let Ok(file) = PeFile::open(Path::new(&facts.path)) {
            known.push(facts);
            open.push(file);
        }
    }
    let files = OpenFiles::of(open, &[]);
    let set = files.set();
    let images: Vec<MemberId> = set.named().collect();
    known.into_iter().zip(images).for_each(|(facts, id)| look_up(&set, id, facts));
}

/// Where the loader looks for the DLLs of a command.
fn search_path(command: &Command) -> DllSearchPath {
    let search = DllSearch::of(command);
    let texts = |folders: &[PathBuf]| folders.iter().map(text::text).collect();
    DllSearchPath {
        system: texts(&search.system),
        working: search.working.map_or_else(String::new, text::text),
        path: texts(&search.path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_replaced_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("app.exe");
        let command = Command {
            argv: vec!["app".into()],
            program: program.clone(),
            directory: None,
            environment: Vec::new(),
        };
        let missing = Stamp::of(&command);
        std::fs::write(&program, "one").unwrap();
        let before = Stamp::of(&command);
        assert!(before != missing && before == Stamp::of(&command));
        let set_modified = |time: SystemTime| {
            let file = std::fs::File::options().write(true).open(&program).unwrap();
            file.set_modified(time).unwrap();
        };
        set_modified(SystemTime::UNIX_EPOCH);
        assert!(before != Stamp::of(&command), "as long, of another time");
        std::fs::write(&program, "longer").unwrap();
        set_modified(before.0.and_then(|(_, modified)| modified).unwrap());
        assert!(before != Stamp::of(&command), "of the same time, longer");
    }
}

//! What looking at a program does to its next launch: each probe, then a launch, in interleaved
//! rounds.

use crate::{fresh_seed, order};
use model::{
    CacheState, Command, Ending, Launch, PROBE_EXPERIMENT_SCHEMA, ProbeExperiment, ProbeFigures,
    ProbeKind, ProbeRow, ProbedState, Reading, Rules, Until, text,
};
use os::LaunchError;
use os::launcher::{Configuration, GRACE, LaunchSpec, Launcher, Slot, Stdio};
use os::probes;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// As much as the post's probes look at.
const START_BYTES: usize = 64 << 10;

/// What to launch, and how often.
#[derive(Clone, Debug)]
pub struct ProbesRequest {
    /// The launch.
    pub command: Command,
    /// Rounds, in each of which every row is launched once.
    pub rounds: u32,
    /// Whether to leave out the rows in which the program is evicted first.
    pub warm_only: bool,
    /// Seed of the order of rows; a fresh one where none is given.
    pub seed: Option<u64>,
    /// CPU of the launches; any where none is given.
    pub cpu: Option<u32>,
    /// A launch that takes longer is an error.
    pub timeout: Duration,
}

/// Why the experiment cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ProbesError {
    /// The program cannot be launched, or the user wants to stop.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// It fails.
    #[error("{command}: it {}; choose a command that ends by itself with exit code 0", .ending.words())]
    Failed {
        /// The command line.
        command: String,
        /// How it ended.
        ending: Ending,
    },
    /// Its file cannot be read.
    #[error("{path}: {source}; choose a program whose file may be read")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
}

/// What makes the launches.
struct Stand<'a> {
    launcher: Launcher,
    /// The command, and `file` on its program where that is there.
    slot: Slot,
    file: Result<Slot, String>,
    program: PathBuf,
    spec: LaunchSpec,
    command: &'a Command,
}

/// One probe and the launch behind it.
struct Trial {
    before: Reading<u64>,
    after: Reading<u64>,
    probe_us: f64,
    launch: Launch,
}

/// Makes all launches. `launcher` was started before anything large was in memory; `observe` is told
/// the share that is done.
///
/// # Errors
/// The command cannot be launched or fails.
pub fn probe(
    launcher: Launcher,
    request: &ProbesRequest,
    observe: &mut dyn FnMut(f64),
) -> Result<ProbeExperiment, ProbesError> {
    let mut stand = Stand::new(launcher, request)?;
    let seed = request.seed.unwrap_or_else(fresh_seed);
    let states: &[ProbedState] = match request.warm_only {
        true => &[ProbedState::Warm],
        false => &[ProbedState::Warm, ProbedState::ProgramEvicted],
    };
    let rows: Vec<(ProbedState, ProbeKind)> =
        states.iter().flat_map(|state| ProbeKind::ALL.map(|probe| (*state, probe))).collect();
    let mut trials: Vec<Result<Vec<Trial>, String>> = rows.iter().map(|_| Ok(Vec::new())).collect();
    // Everything comes into memory.
    stand.launch()?;
    let all = f64::from(request.rounds) * rows.len() as f64;
    let mut done = 0.0;
    for round in 0..request.rounds {
        for row in order(seed, round as i32, rows.len()) {
            observe(done / all);
            done += 1.0;
            let (state, probe) = rows[row.index()];
            let row = &mut trials[row.index()];
            if let Ok(made) = row {
                match stand.trial(state, probe)? {
                    Ok(trial) => made.push(trial),
                    Err(reason) => *row = Err(reason),
                }
            }
        }
    }
    let check = os::cache::check(&[&stand.program], CacheState::Warm);
    Ok(ProbeExperiment {
        schema: PROBE_EXPERIMENT_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        command: request.command.line(),
        program: text::text(stand.program.as_os_str()),
        pages: check.total_pages,
        rounds: request.rounds,
        seed,
        rows: figures(&rows, &trials, seed),
        notes: notes(request.rounds, &stand.program),
    })
}

impl<'a> Stand<'a> {
    fn new(mut launcher: Launcher, request: &'a ProbesRequest) -> Result<Self, ProbesError> {
        let program = &request.command.program;
        let unreadable = |source| ProbesError::Unreadable { path: program.clone(), source };
        let program = program.canonicalize().map_err(unreadable)?;
        probes::read_start(&program, 1).map_err(unreadable)?;
        let null = &Stdio::null()?;
        launcher.configure(Configuration { cpu: request.cpu, realtime: false })?;
        let slot = launcher.prepare(&request.command, null, &[])?;
        let words = ["file".into(), "-b".into(), program.clone().into_os_string()];
        let file = match os::program::resolve(&words) {
            Ok(command) => Ok(launcher.prepare(&command, null, &[])?),
            Err(_) => Err("file is not installed (apt-get install file)".to_owned()),
        };
        let spec = LaunchSpec { until: Until::Exit, timeout: request.timeout, grace: GRACE };
        Ok(Stand { launcher, slot, file, program, spec, command: &request.command })
    }

    fn launch(&mut self) -> Result<Launch, ProbesError> {
        let launch = self.launcher.once(self.slot, &self.spec)?.launch;
        match launch.ending {
            ending if ending.is_success() => Ok(launch),
            ending => Err(ProbesError::Failed { command: self.command.line(), ending }),
        }
    }

    /// Makes the state, looks, and launches; or says why that probe is not possible here.
    fn trial(
        &mut self,
        state: ProbedState,
        kind: ProbeKind,
    ) -> Result<Result<Trial, String>, ProbesError> {
        // Whatever the trial before has left is in memory after this.
        self.launch()?;
        if state == ProbedState::ProgramEvicted {
            os::cache::emptied_of(&[&self.program]);
        }
        let before = self.resident();
        let started = Instant::now();
        if let Err(reason) = self.look(kind)? {
            return Ok(Err(reason));
        }
        let probe_us = started.elapsed().as_secs_f64() * 1e6;
        let after = self.resident();
        let launch = self.launch()?;
        Ok(Ok(Trial { before, after, probe_us, launch }))
    }

    fn resident(&self) -> Reading<u64> {
        os::cache::check(&[&self.program], CacheState::Warm).resident_pages
    }

    fn look(&mut self, kind: ProbeKind) -> Result<Result<(), String>, LaunchError> {
        let program: &Path = &self.program;
        let looked = match kind {
            ProbeKind::Nothing => Ok(()),
            ProbeKind::ReadStart => probes::read_start(program, START_BYTES),
            ProbeKind::MapStart => probes::map_start(program, START_BYTES, false),
            ProbeKind::TouchStart => probes::map_start(program, START_BYTES, true),
            ProbeKind::ReadDirectly => probes::read_start_directly(program, START_BYTES),
            ProbeKind::ReadUncached => probes::read_without_caching(program),
            ProbeKind::ReadAndDrop => probes::read_and_drop(program),
            ProbeKind::Identify => image::identify::identify(program).map(drop),
            ProbeKind::FileProgram => {
                let slot = match &self.file {
                    Ok(slot) => *slot,
                    Err(reason) => return Ok(Err(reason.clone())),
                };
                let ending = self.launcher.once(slot, &self.spec)?.launch.ending;
                let failed = || io::Error::other(format!("file {}", ending.words()));
                ending.is_success().then_some(()).ok_or_else(failed)
            }
        };
        Ok(looked.map_err(|error| error.to_string()))
    }
}

/// Rows with their figures; those of one state are compared with the row of that state before which
/// nobody looked.
fn figures(
    rows: &[(ProbedState, ProbeKind)],
    trials: &[Result<Vec<Trial>, String>],
    seed: u64,
) -> Vec<ProbeRow> {
    let times = |row: usize| -> Vec<f64> {
        let trials = trials[row].as_deref().unwrap_or_default();
        trials.iter().map(|trial| trial.launch.total_us).collect()
    };
    let row = |(at, (state, probe)): (usize, &(ProbedState, ProbeKind))| {
        let trials = match &trials[at] {
            Ok(trials) => trials,
            Err(reason) => return row_of(*state, *probe, Reading::unavailable(reason, "")),
        };
        let baseline = rows.iter().position(|row| *row == (*state, ProbeKind::Nothing));
        let effect = baseline.filter(|_| *probe != ProbeKind::Nothing).and_then(|baseline| {
            let (nothing, this) = (times(baseline), times(at));
            let baseline = (ProbeKind::Nothing.words(), &*nothing);
            stats::effect(baseline, (probe.words(), &this), &Rules::default(), seed)
        });
        let summary = stats::summarize(&times(at), seed);
        let found = summary.map(|summary| ProbeFigures {
            pages_before: median(trials.iter().map(|trial| &trial.before))
                .map(|pages| pages as u64),
            pages_after: median(trials.iter().map(|trial| &trial.after)).map(|pages| pages as u64),
            probe_us: middle(trials.iter().map(|trial| trial.probe_us).collect()),
            times_us: times(at),
            summary,
            read_bytes: median(trials.iter().map(|trial| &trial.launch.read_bytes)),
            effect,
        });
        let found =
            found.map_or_else(|| Reading::unavailable("there was no launch", ""), Reading::Value);
        row_of(*state, *probe, found)
    };
    rows.iter().enumerate().map(row).collect()
}

fn row_of(state: ProbedState, probe: ProbeKind, found: Reading<ProbeFigures>) -> ProbeRow {
    ProbeRow { state, probe, found }
}

/// The median of what is known, or why nothing is.
fn median<'a>(readings: impl Iterator<Item = &'a Reading<u64>> + Clone) -> Reading<f64> {
    let known: Vec<f64> = readings.clone().filter_map(Reading::get).map(|it| it as f64).collect();
    match known.is_empty() {
        false => Reading::Value(middle(known)),
        true => match readings.into_iter().next() {
            Some(reading) => reading.clone().map(|value| value as f64),
            None => Reading::unavailable("there was no launch", ""),
        },
    }
}

fn middle(values: Vec<f64>) -> f64 {
    stats::percentile(&stats::ascending(&values), 0.5).unwrap_or(f64::NAN)
}

fn notes(rounds: u32, program: &Path) -> Vec<String> {
    let mut notes = Vec::new();
    let least = Rules::default().least_rounds;
    if rounds < least {
        notes.push(format!("With fewer than {least} rounds no difference is called one."));
    }
    let found = image::identify::identify(program);
    if found.is_ok_and(|found| found.kind == model::FileKind::Script) {
        notes.push(
            "The program is a script: the probes look at the script, not at its interpreter."
                .to_owned(),
        );
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(words: &[&str]) -> ProbesRequest {
        ProbesRequest {
            command: os::program::resolve(words).unwrap(),
            rounds: 1,
            warm_only: false,
            seed: Some(1),
            cpu: None,
            timeout: Duration::from_secs(20),
        }
    }

    /// A copy of its own, which nobody else has mapped.
    #[test]
    fn dropping_leaves_nothing_in_memory_and_mapping_alone_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("true");
        std::fs::copy(testkit::find("true").unwrap(), &program).unwrap();
        let launcher = Launcher::start().unwrap();
        let found = probe(launcher, &request(&[program.to_str().unwrap()]), &mut |_| ()).unwrap();
        assert_eq!(found.rows.len(), 2 * ProbeKind::ALL.len());
        let pages = |state, kind| {
            let row = found.rows.iter().find(|row| (row.state, row.probe) == (state, kind));
            let figures = row.unwrap().found.value().unwrap();
            (figures.pages_before.get().unwrap(), figures.pages_after.get().unwrap())
        };
        if pages(ProbedState::ProgramEvicted, ProbeKind::Nothing).0 > 0 {
            return testkit::skip("the folder for temporary files is in memory");
        }
        let all = found.pages;
        assert_eq!(pages(ProbedState::Warm, ProbeKind::Nothing), (all, all));
        assert_eq!(pages(ProbedState::Warm, ProbeKind::ReadAndDrop), (all, 0));
        assert_eq!(pages(ProbedState::ProgramEvicted, ProbeKind::MapStart), (0, 0));
        assert!(pages(ProbedState::ProgramEvicted, ProbeKind::TouchStart).1 > 0);
    }

    #[test]
    fn a_command_that_fails_is_an_error() {
        let launcher = Launcher::start().unwrap();
        let error = probe(launcher, &request(&["false"]), &mut |_| ()).unwrap_err();
        assert!(error.to_string().starts_with("false: it ended with exit code 1"), "{error}");
    }
}

//! A bundle is made in the folder of its program, and held against the original.

use crate::journal::Journal;
use crate::{InstallPlaces, ProgramError, swap};
use bundle::{BundleError, BundleOptions, Made};
use files::Stamp;
use lab::{Keep, MeasureRequest, Stop};
use loader::Environment;
use model::{
    CacheState, Command, LaunchOptions, ProgramAdvice, ProgramPlace, ProgramVariant, Schedule,
    Until, Variant, Verdict, text,
};
use optimize::verify::Flaw;
use optimize::{
    Baseline, BindingProof, Built, Launches, MadeOf, Optimization, OptimizeError, Terms, Verifier,
    registry,
};
use os::launcher::Launcher;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";
/// Launches that are tried where the user names none.
const QUESTIONS: [&str; 2] = ["--version", "--help"];
/// What answers later is no launch to verify by.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time for one that the user names.
const LONG_PATIENCE: Duration = Duration::from_secs(60);
const WARM_UP_ROUNDS: u32 = 2;
const LEAST_ROUNDS: u32 = 10;
/// Rounds and seconds, and more where the first cannot tell, as beside other work.
const ROUNDS: [(u32, f64); 2] = [(40, 6.0), (200, 30.0)];

/// What was measured.
pub(crate) struct Gain {
    pub(crate) ratio: f64,
    pub(crate) verdict: Verdict,
    pub(crate) words: String,
}

/// The original, with what it does when it is launched.
pub(crate) struct Original {
    terms: Terms,
    launches: Launches,
    baseline: Baseline,
    /// The arguments of the launch.
    pub(crate) arguments: Vec<String>,
}

/// A file that is launched in the place of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launched<'a> {
    /// The path of the program, which it is told.
    pub(crate) program: &'a Path,
    /// The file.
    pub(crate) file: &'a Path,
    /// LD_LIBRARY_PATH, where it is set.
    pub(crate) library_path: Option<&'a OsStr>,
}

impl Launched<'_> {
    pub(crate) fn command(&self, arguments: &[OsString]) -> Command {
        let words = [self.program.into()].into_iter().chain(arguments.iter().cloned());
        let set = self.library_path.map(|path| (LIBRARY_PATH.into(), Some(path.to_owned())));
        Command {
            argv: words.collect(),
            program: self.file.to_owned(),
            directory: None,
            environment: set.into_iter().collect(),
        }
    }

    /// What the environment tells the loader.
    pub(crate) fn environment(&self) -> Environment {
        Environment::of(&self.command(&[]))
    }

    /// What tells whether the file or a library of it was replaced or changed since.
    pub(crate) fn stamps(&self) -> Vec<(PathBuf, Option<Stamp>)> {
        let graph = loader::load(self.file, &self.environment());
        let modules = graph.iter().flat_map(|graph| &graph.modules);
        let modules = modules.map(|module| (module.path.clone(), Stamp::now(&module.path)));
        modules.chain([(self.file.to_owned(), Stamp::now(self.file))]).collect()
    }
}

impl Original {
    /// Launches the original at `file`, with these arguments or those that most programs answer.
    pub(crate) fn observe(
        launched: &Launched<'_>,
        given: Option<&[OsString]>,
    ) -> Result<Original, ProgramError> {
        let timeout = if given.is_some() { LONG_PATIENCE } else { PATIENCE };
        let terms = Terms { timeout, ignore_failure: false, cpu: None, check: None };
        let launcher = Launcher::start().map_err(OptimizeError::from)?;
        let mut launches = Launches::new(launcher, None).map_err(OptimizeError::from)?;
        let tried: Vec<Vec<OsString>> = match given {
            Some(arguments) => vec![arguments.to_vec()],
            None => QUESTIONS.map(|word| vec![word.into()]).to_vec(),
        };
        let mut failed = None;
        for arguments in tried {
            match Baseline::new(launched.command(&arguments), &terms, &mut launches) {
                Ok(baseline) => {
                    let arguments = arguments.iter().map(text::text).collect();
                    return Ok(Original { terms, launches, baseline, arguments });
                }
                Err(error) if error.is_interrupt() => return Err(error.into()),
                Err(error) => drop(failed.get_or_insert(error)),
            }
        }
        let reason = failed.map_or(String::new(), |error| error.to_string());
        let advice = given.is_none().then_some(ProgramAdvice::NameLaunch);
        Err(ProgramError::Declined { program: launched.program.to_owned(), reason, advice })
    }

    /// Whether the bundle does what the original does.
    pub(crate) fn verify(
        &mut self,
        program: &Path,
        folder: &Path,
        made: &Made,
        fixed: bool,
    ) -> Result<(), ProgramError> {
        let mut verifier = Verifier::new(&self.baseline, &self.terms, &mut self.launches);
        let optimization = optimization(fixed);
        let built = built(made);
        let found = verifier.verify(optimization, &built, folder);
        found.map_err(|flaw| wrong(program, flaw))
    }

    /// Whether it still does, started by the path at which it is.
    pub(crate) fn verify_in_place(
        &mut self,
        program: &Path,
        run: &Path,
    ) -> Result<(), ProgramError> {
        let mut verifier = Verifier::new(&self.baseline, &self.terms, &mut self.launches);
        verifier.behaves_alike(run).map_err(|flaw| wrong(program, flaw))
    }

    /// How long a launch of the bundle takes against one of the original, in turns.
    pub(crate) fn measure(&self, program: &Path, run: &Path) -> Result<Gain, ProgramError> {
        let [short, long] = ROUNDS;
        let gain = self.measured(program, run, short)?;
        match gain.verdict {
            Verdict::Inconclusive => self.measured(program, run, long),
            _ => Ok(gain),
        }
    }

    fn measured(
        &self,
        program: &Path,
        run: &Path,
        (rounds, budget_s): (u32, f64),
    ) -> Result<Gain, ProgramError> {
        let original = self.baseline.program.command.clone();
        let bundled = self.baseline.program.command_for(run);
        let names = ["original", "bundle"];
        let request = MeasureRequest {
            variants: vec![
                Variant::new(names[0].to_owned(), original),
                Variant::new(names[1].to_owned(), bundled),
            ],
            schedule: Schedule {
                seed: lab::fresh_seed(),
                warm_up_rounds: WARM_UP_ROUNDS,
                rounds,
                least_rounds: Some(LEAST_ROUNDS),
                budget_s: Some(budget_s),
                ..Schedule::default()
            },
            options: LaunchOptions {
                until: Until::Exit,
                cache: CacheState::Warm,
                cpu: None,
                realtime: false,
                timeout_s: self.terms.timeout.as_secs_f64(),
                ignore_failure: false,
                ignored_codes: Vec::new(),
                prepare: None,
            },
            keep: Keep::Nowhere,
        };
        let launcher = Launcher::start().map_err(OptimizeError::from)?;
        let measured = lab::measure(launcher, request, &mut |_| {}).map_err(OptimizeError::from)?;
        match measured.stop {
            Ok(Stop::Interrupted) => {
                return Err(OptimizeError::from(os::LaunchError::Interrupted).into());
            }
            Ok(_) => {}
            Err(failure) => {
                let (program, found) =
                    (program.to_owned(), format!("while it was measured, {failure}"));
                return Err(ProgramError::Wrong { program, found });
            }
        }
        let effect = measured.results.effects.iter().find(|effect| effect.variant == names[1]);
        let effect = effect.ok_or_else(|| ProgramError::Wrong {
            program: program.to_owned(),
            found: "none of its launches could be measured".to_owned(),
        })?;
        let (ratio, low, high) = (effect.ratio, effect.low, effect.high);
        let words = format!(
            "a launch takes {:.0} % of the time of the original ({:.0} to {:.0} %)",
            ratio * 100.0,
            low * 100.0,
            high * 100.0
        );
        Ok(Gain { ratio, verdict: effect.verdict, words })
    }
}

fn wrong(program: &Path, flaw: Flaw) -> ProgramError {
    let program = program.to_owned();
    match flaw {
        Flaw::Wrong(reason) => ProgramError::Wrong { program, found: reason.to_string() },
        Flaw::Unknown(reason) => ProgramError::Declined {
            program,
            reason: reason.to_string(),
            advice: Some(ProgramAdvice::NameLaunch),
        },
        Flaw::Stop(error) => error.into(),
    }
}

/// A bundle among the ways to make a program start faster.
fn optimization(fixed: bool) -> Optimization {
    let is_bundle = |one: &Optimization| one.name.starts_with("bundle") && !one.for_cold;
    let found = registry::ALL.into_iter().find(|one| is_bundle(one) && one.keeps_aslr != fixed);
    // A bundle keeps what any other way keeps.
    found.unwrap_or(registry::ALL[0])
}

fn built(made: &Made) -> Built {
    let merged = made.manifest.modules.iter().filter(|module| module.outside.is_none());
    Built {
        run: made.run.clone(),
        replaced: merged.map(|module| PathBuf::from(text::name(&module.path))).collect(),
        bindings: BindingProof::ByBuilder,
        made_of: MadeOf::Bundle,
        ..Built::default()
    }
}

/// Makes the bundle of a program in `folder`, of the file where its original is.
pub(crate) fn make(journal: &Journal, folder: &Path) -> Result<Made, ProgramError> {
    swap::make_folder(folder)?;
    let made = bundle::make(&original(journal), folder, &options(journal));
    made.map_err(|error| match error {
        BundleError::Declined { reason, .. } => ProgramError::Declined {
            program: journal.program(),
            advice: (reason.advice == Some(bundle::BundleAdvice::MakeFixed))
                .then_some(ProgramAdvice::MakeFixed),
            reason: reason.text,
        },
        error => error.into(),
    })
}

/// What a diverted program was called before it was diverted is what it still is called. One that is
/// started through a link is told the path of the original instead of that of the link.
fn options(journal: &Journal) -> BundleOptions {
    let (program, file, library_path) =
        (journal.program(), original(journal), journal.library_path());
    let library_path = library_path.as_deref();
    let launched = Launched { program: &program, file: &file, library_path };
    let plain = BundleOptions {
        fixed: journal.state.variant == ProgramVariant::Fixed,
        environment: Some(Box::new(launched.environment())),
        ..BundleOptions::default()
    };
    match &journal.state.place {
        ProgramPlace::Diversion { .. } => BundleOptions { told: Some(program), ..plain },
        ProgramPlace::Folder { link, .. } => {
            let link = PathBuf::from(text::name(link));
            BundleOptions { own_name: link.file_name().map(OsStr::to_owned), ..plain }
        }
    }
}

/// Whether a start of the bundle uses it, and why not.
pub(crate) fn freshness(journal: &Journal) -> (bool, Option<String>) {
    match bundle::used(&journal.bundle(), journal.library_path().as_deref()) {
        Ok(Ok(())) => (true, None),
        Ok(Err(reason)) => (false, Some(reason)),
        Err(error) => (false, Some(error.to_string())),
    }
}

/// Whether somebody wants to stop.
pub(crate) fn stop_if_asked() -> Result<(), ProgramError> {
    match os::interrupt::requested() {
        true => Err(OptimizeError::from(os::LaunchError::Interrupted).into()),
        false => Ok(()),
    }
}

/// Seconds since 1970.
pub(crate) fn now() -> Option<u64> {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed();
    since.ok().map(|since| since.as_secs())
}

/// Where the original of a program is.
pub(crate) fn original(journal: &Journal) -> PathBuf {
    match &journal.state.place {
        ProgramPlace::Diversion { original, .. } => text::name(original).into(),
        ProgramPlace::Folder { .. } => journal.program(),
    }
}

/// Whether a folder is one in which programs can be started.
pub(crate) fn can_start(places: &InstallPlaces) -> Result<(), ProgramError> {
    match os::program::is_on_noexec(&places.state) {
        true => Err(ProgramError::in_the_way(
            &places.state,
            "it is on a file system that is mounted with noexec, so nothing in it can be started",
        )),
        false => Ok(()),
    }
}

//! Cold launches of a program with whole files, with recorded ranges and with nothing read ahead, and
//! warm ones, in interleaved rounds.

use crate::{fresh_seed, order};
use model::{
    AheadForm, AheadFormFigures, CacheState, ColdCheck, Command, Effect, Ending, FileReads,
    ReadSum, Reading, Rules, Until,
};
use os::LaunchError;
use os::attend::AttendOptions;
use os::cache::{self, DropError};
use os::launcher::{GRACE, LaunchSpec, Launcher, Slot, Stdio};
use std::path::PathBuf;
use std::time::Duration;

/// Launches of each form whose reads are recorded.
const RECORDED: usize = 3;

/// What to launch, and how often.
#[derive(Clone, Debug)]
pub struct PageinRequest {
    /// The forms, that without reading ahead first, and what is launched for each.
    pub forms: Vec<PageinLaunch>,
    /// All files of a launch: they leave memory before a cold one.
    pub files: Vec<PathBuf>,
    /// How the page cache is emptied: as a whole, or of the files alone.
    pub cold: CacheState,
    /// Rounds, in each of which every form is launched once.
    pub rounds: u32,
    /// Seed of the order of forms; a fresh one where none is given.
    pub seed: Option<u64>,
    /// A launch that takes longer is an error.
    pub timeout: Duration,
}

/// One form.
#[derive(Clone, Debug)]
pub struct PageinLaunch {
    /// Which.
    pub form: AheadForm,
    /// The command of the program, or one that reads ahead and becomes the program.
    pub command: Command,
    /// What it asks for ahead of the program.
    pub asked: Option<ReadSum>,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct PageinTimes {
    /// What stays in memory when the cache is emptied.
    pub cold: ColdCheck,
    /// The seed of the order.
    pub seed: u64,
    /// Figures of each form.
    pub forms: Vec<AheadFormFigures>,
    /// The effects of the others against the first form.
    pub effects: Vec<Effect>,
    /// The recorded ranges against whole files, where both were launched.
    pub ranges_against_files: Option<Effect>,
}

/// Why the experiment cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum PageinError {
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
    /// The page cache cannot be dropped.
    #[error(transparent)]
    Drop(#[from] DropError),
}

/// What makes the launches.
struct Stand<'a> {
    request: &'a PageinRequest,
    launcher: Launcher,
    slots: Vec<Slot>,
    spec: LaunchSpec,
}

/// Makes all launches. `launcher` was started before anything large was in memory; `observe` is told
/// the share that is done.
///
/// # Errors
/// A command cannot be launched or fails, or the cache cannot be emptied.
pub fn pagein(
    launcher: Launcher,
    request: &PageinRequest,
    observe: &mut dyn FnMut(f64),
) -> Result<PageinTimes, PageinError> {
    let mut stand = Stand::new(launcher, request)?;
    let seed = request.seed.unwrap_or_else(fresh_seed);
    let count = request.forms.len();
    let all = (request.rounds as usize * count + RECORDED * count) as f64;
    let mut done = 0.0;
    let mut step = || {
        observe(done / all);
        done += 1.0;
    };
    let cold = stand.emptied()?;
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); count];
    for round in 0..request.rounds {
        for at in order(seed, round as i32, count) {
            step();
            times[at.index()].push(stand.timed(at.index())?);
        }
    }
    let read = reads(request, &mut step)?;
    let figures = request.forms.iter().zip(&times).zip(read);
    let figures = figures.filter_map(|((launch, times), read)| {
        Some(AheadFormFigures {
            form: launch.form,
            asked: launch.asked,
            read,
            times_us: times.clone(),
            summary: stats::summarize(times, seed)?,
        })
    });
    let forms: Vec<AheadFormFigures> = figures.collect();
    let cold_times = forms.iter().find(|figures| figures.form == AheadForm::Cold);
    let others = forms.iter().filter(|figures| figures.form != AheadForm::Cold);
    let effects =
        others.filter_map(|other| effect(cold_times?, other, seed)).collect::<Vec<Effect>>();
    let of = |form| forms.iter().find(|figures| figures.form == form);
    let ranges_against_files = of(AheadForm::WholeFiles)
        .zip(of(AheadForm::Ranges))
        .and_then(|(files, ranges)| effect(files, ranges, seed));
    Ok(PageinTimes { cold, seed, effects, ranges_against_files, forms })
}

fn effect(baseline: &AheadFormFigures, other: &AheadFormFigures, seed: u64) -> Option<Effect> {
    let side = |figures: &'_ AheadFormFigures| figures.form.words();
    let baseline = (side(baseline), &*baseline.times_us);
    stats::effect(baseline, (side(other), &other.times_us), &Rules::default(), seed)
}

impl<'a> Stand<'a> {
    fn new(mut launcher: Launcher, request: &'a PageinRequest) -> Result<Self, PageinError> {
        let null = &Stdio::null()?;
        let slots = request.forms.iter().map(|launch| launcher.prepare(&launch.command, null, &[]));
        let slots = slots.collect::<Result<_, _>>()?;
        let spec = LaunchSpec { until: Until::Exit, timeout: request.timeout, grace: GRACE };
        Ok(Stand { request, launcher, slots, spec })
    }

    /// Empties the cache, and looks at what stays.
    fn emptied(&self) -> Result<ColdCheck, PageinError> {
        let files = &self.request.files;
        if self.request.cold == CacheState::ColdDropped {
            cache::drop_all()?;
            return Ok(cache::check(files, self.request.cold));
        }
        Ok(cache::emptied_of(files))
    }

    /// A launch that counts. After the whole cache was dropped nobody looks at the files, as that
    /// would bring their names and inodes back.
    fn timed(&mut self, at: usize) -> Result<f64, PageinError> {
        if self.request.forms[at].form == AheadForm::Warm {
            self.launch(at)?;
        } else if self.request.cold == CacheState::ColdDropped {
            cache::drop_all()?;
        } else {
            cache::emptied_of(&self.request.files);
        }
        self.launch(at)
    }

    fn launch(&mut self, at: usize) -> Result<f64, PageinError> {
        let launch = self.launcher.once(self.slots[at], &self.spec)?.launch;
        // A Ctrl-C reaches the program too: what it did then is no result.
        if os::interrupt::requested() {
            return Err(LaunchError::Interrupted.into());
        }
        match launch.ending {
            ending if ending.is_success() => Ok(launch.total_us),
            ending => Err(failed(&self.request.forms[at].command, ending)),
        }
    }
}

fn failed(command: &Command, ending: Ending) -> PageinError {
    PageinError::Failed { command: command.line(), ending }
}

/// What each form reads: medians of launches in turns, whose reads are recorded.
fn reads(
    request: &PageinRequest,
    step: &mut dyn FnMut(),
) -> Result<Vec<Reading<ReadSum>>, PageinError> {
    let count = request.forms.len();
    let mut sums: Vec<Vec<Reading<ReadSum>>> = vec![Vec::new(); count];
    let options = AttendOptions { timeout: request.timeout, cpu: None, to_entry: false };
    for _ in 0..RECORDED {
        for (launch, sums) in request.forms.iter().zip(&mut sums) {
            step();
            let record = match launch.form {
                AheadForm::Warm => os::file_reads::record_warm,
                _ => os::file_reads::record,
            };
            match record(&launch.command, &request.files, &options) {
                Ok(found) if found.ending.is_success() => sums.push(Reading::Value(all(&found))),
                Ok(found) => return Err(failed(&launch.command, found.ending)),
                Err(error @ LaunchError::NotPermitted { .. }) => {
                    let unknown = Reading::unavailable(error.to_string(), "");
                    return Ok(vec![unknown; count]);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(sums.into_iter().map(median).collect())
}

fn all(found: &FileReads) -> ReadSum {
    let own = found.files.iter().flat_map(|file| &file.reads);
    own.fold(found.others.sum(), |mut sum, read| {
        sum.add(read.bytes);
        sum
    })
}

/// That with the middle number of bytes.
fn median(mut sums: Vec<Reading<ReadSum>>) -> Reading<ReadSum> {
    sums.sort_by_key(|sum| sum.value().map(|sum| sum.bytes));
    match sums.len() {
        0 => Reading::unavailable("there was no launch", ""),
        count => sums.swap_remove(count / 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(words: &[&str], folder: &std::path::Path) -> PageinRequest {
        let command = os::program::resolve(words).unwrap();
        let file = folder.join("data");
        std::fs::write(&file, vec![1; 200_000]).unwrap();
        let launch = |form| PageinLaunch { form, command: command.clone(), asked: None };
        PageinRequest {
            forms: AheadForm::ALL.map(launch).into(),
            files: vec![command.program.canonicalize().unwrap(), file],
            cold: CacheState::ColdEvicted,
            rounds: 2,
            seed: Some(1),
            timeout: Duration::from_secs(20),
        }
    }

    #[test]
    fn every_form_is_launched_in_every_round() {
        let folder = tempfile::tempdir().unwrap();
        let mut shares = Vec::new();
        let request = request(&["true"], folder.path());
        let launcher = Launcher::start().unwrap();
        let found = pagein(launcher, &request, &mut |share| shares.push(share)).unwrap();
        let forms: Vec<_> = found.forms.iter().map(|it| (it.form, it.times_us.len())).collect();
        assert_eq!(forms, AheadForm::ALL.map(|form| (form, 2)));
        assert_eq!((found.effects.len(), found.cold.files, found.seed), (3, 2, 1));
        assert_eq!(found.ranges_against_files.unwrap().baseline, AheadForm::WholeFiles.words());
        assert!(shares.is_sorted() && shares.iter().all(|share| *share < 1.0), "{shares:?}");
    }

    #[test]
    fn a_command_that_fails_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let launcher = Launcher::start().unwrap();
        let error = pagein(launcher, &request(&["false"], folder.path()), &mut |_| ()).unwrap_err();
        assert!(error.to_string().starts_with("false: it ended with exit code 1"), "{error}");
    }

    #[test]
    fn the_middle_number_of_bytes_is_the_median() {
        let sum = |bytes| Reading::Value(ReadSum { reads: 1, bytes });
        assert_eq!(median(vec![sum(9), sum(1), sum(5)]), sum(5));
        assert!(median(Vec::new()).reason().is_some());
    }
}

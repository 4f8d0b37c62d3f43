//! Pietrek's question: how much faster does a program load whose libraries need no relocation,
//! whose imports need no binding?
//!
//! [`pietrek`] takes a [`PietrekRequest`] and gives [`LoadTimes`]: all forms of a workload (`forms`)
//! are launched in turns from all `places`, warm and then cold, and become the columns of a `table`.

mod beside;
mod bound;
mod error;
mod forms;
mod launches;
mod notes;
mod places;
mod table;

use crate::{Event, LabError, Runner, Stop, default_folder};
pub use error::{PietrekError, PietrekPath};
use forms::Form;
use model::CacheState;
use model::load_table::LoadTable;
use os::launcher::Launcher;
use places::Place;
use std::path::{Path, PathBuf};
use workload::{Format, Pietrek};

/// Seconds for everything, half for warm launches and half for cold ones.
const BUDGET_S: f64 = 120.0;
const STATES: [CacheState; 2] = [CacheState::Warm, CacheState::ColdEvicted];

/// What to launch, from where, and how often.
#[derive(Clone, Debug)]
pub struct PietrekRequest {
    /// The workload of which the forms are made.
    pub workload: Pietrek,
    /// Folders to launch from; the run folder where none is named.
    pub on: Vec<PathBuf>,
    /// Rounds at most.
    pub rounds: Option<u32>,
    /// Seconds for everything.
    pub budget_s: Option<f64>,
    /// No cold launches.
    pub warm_only: bool,
    /// Seed of the order; a fresh one where none is given.
    pub seed: Option<u64>,
    /// CPU of the launches, and of Wine's server.
    pub cpu: u32,
    /// A file with figures that are shown beside.
    pub beside: Option<PathBuf>,
    /// The new folder for everything; one in the default place where none is named.
    pub save: Option<PathBuf>,
}

impl PietrekRequest {
    /// States of the cache to launch in.
    fn states(&self) -> &'static [CacheState] {
        let warm_only = self.warm_only || self.workload.format == Format::Pe;
        &STATES[..if warm_only { 1 } else { 2 }]
    }

    /// Seconds for each state.
    fn share_s(&self) -> f64 {
        self.budget_s.unwrap_or(BUDGET_S) / self.states().len() as f64
    }
}

/// What the launches show.
pub struct LoadTimes {
    /// The forms and their times.
    pub table: LoadTable,
    /// Folder of the runs.
    pub folder: PathBuf,
    /// Why the launches ended.
    pub stop: Stop,
}

/// What all launches have in common.
struct Setting<'a> {
    request: &'a PietrekRequest,
    forms: &'a [Form],
    runner: Runner,
    folder: &'a Path,
}

/// Launches all forms everywhere.
///
/// # Errors
/// The workload cannot be generated, launched or kept. An interruption is none: what was launched
/// before is worth a table.
pub fn pietrek(
    request: &PietrekRequest,
    observer: &mut dyn FnMut(Event),
) -> Result<LoadTimes, PietrekError> {
    let forms = forms::forms(&request.workload).map_err(LabError::from)?;
    let rows = table::rows(&forms);
    let beside = request.beside.as_deref().map(|file| beside::read(file, &rows)).transpose()?;
    let runner = Runner::for_format(request.workload.format, Some(request.cpu))?;
    let folder = claim(request.save.as_deref())?;
    let places = places::places(request, &folder, &forms)?;
    let setting = Setting { request, forms: &forms, runner, folder: &folder };
    let mut table = table::empty(rows, &setting);
    let mut stop = Stop::Rounds;
    for &state in request.states() {
        stop = one_state(state, &places, &setting, &mut table, observer)?;
        if stop == Stop::Interrupted {
            break;
        }
    }
    table.columns.extend(beside);
    table.notes.extend(notes::of(&setting));
    Ok(LoadTimes { table, folder, stop })
}

/// Writes the files of all forms to a folder, for a file system that will be read-only.
///
/// # Errors
/// The format has no room for the workload, or the folder cannot be written.
pub fn prepare(folder: &Path, workload: &Pietrek) -> Result<(), PietrekError> {
    let forms = forms::forms(workload).map_err(LabError::from)?;
    places::prepare(folder, workload, &forms)
}

/// A new folder for several runs: the one that was asked for, or one in the default place.
fn claim(asked: Option<&Path>) -> Result<PathBuf, PietrekError> {
    let folder = match asked {
        Some(path) => path.to_owned(),
        None => default_folder::new(Path::new("pietrek"))?,
    };
    let failed = |error| PietrekError::io(&folder, PietrekPath::Kept, error);
    std::fs::create_dir_all(&folder).map_err(failed)?;
    match std::fs::read_dir(&folder).map_err(failed)?.next() {
        Some(_) => Err(PietrekError::NotEmpty(folder)),
        None => Ok(folder),
    }
}

/// Launches all forms in one state of the cache and adds the columns.
fn one_state(
    state: CacheState,
    places: &[Place],
    setting: &Setting<'_>,
    table: &mut LoadTable,
    observer: &mut dyn FnMut(Event),
) -> Result<Stop, LabError> {
    let (possible, never_cold): (Vec<&Place>, Vec<&Place>) =
        places.iter().partition(|place| state == CacheState::Warm || place.leaves_memory());
    for place in never_cold {
        let note = format!("{}: its files never leave memory, so none is cold.", place.name);
        table.notes.push(note);
    }
    if possible.is_empty() {
        return Ok(Stop::Rounds);
    }
    let launched = launches::launch(state, &possible, setting, Launcher::start()?, observer)?;
    table::add(table, state, &possible, setting.forms, &launched);
    Ok(launched.stop)
}

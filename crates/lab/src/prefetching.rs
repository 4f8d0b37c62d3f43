//! LoadDlls' procedure: evict the files of a list of libraries, load it with or without reading
//! ahead, and again, in interleaved rounds.

use crate::libraries::{LoadListRequest, RECORDED, Session, WHOLE, load_error};
use crate::{fresh_seed, order};
use model::{
    AheadWhen, CacheState, PREFETCH_EXPERIMENT_SCHEMA, PrefetchExperiment, PrefetchForm,
    PrefetchFormTimes, Reading, Rules, text,
};
use os::prefetch::AheadPlan;

/// What to load, and how often.
#[derive(Clone, Debug)]
pub struct PrefetchRequest {
    /// The list, and the limit on a library; whether it is cold or read ahead is not looked at.
    pub load: LoadListRequest,
    /// Rounds, in each of which every form is loaded once.
    pub rounds: u32,
    /// Seed of the order of forms; a fresh one where none is given.
    pub seed: Option<u64>,
    /// What a cold load of the list needs, where that was recorded, or why it was not: then whole
    /// files are read ahead.
    pub recorded: Result<AheadPlan, String>,
}

/// Why the experiment cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum PrefetchExperimentError {
    /// Processes cannot be made, or the user wants to stop.
    #[error(transparent)]
    Launch(#[from] os::LaunchError),
    /// Nothing of the list can be loaded.
    #[error("no library of the list can be loaded: {name}: {reason}")]
    NothingLoads {
        /// The first.
        name: String,
        /// Why it cannot.
        reason: String,
    },
}

/// The figures of one form, by round.
#[derive(Default)]
struct Figures {
    times_us: Vec<f64>,
    ahead_us: Vec<f64>,
    major_faults: Vec<f64>,
    read_bytes: Vec<f64>,
}

/// Loads all forms in turns. `observe` is told the share that is done.
///
/// # Errors
/// Nothing can be loaded, or the user wants to stop.
pub fn prefetching(
    request: &PrefetchRequest,
    observe: &mut dyn FnMut(f64),
) -> Result<PrefetchExperiment, PrefetchExperimentError> {
    let (load, seed) = (&request.load, request.seed.unwrap_or_else(fresh_seed));
    let mut session = Session::new(&load.names, load.timeout);
    let first = session.watched(&mut |share| observe(share / 10.0))?;
    session.files.clone_from(&first.modules);
    session.recorded = request.recorded.as_ref().ok().map(|plan| plan.only(&session.files));
    let names = load.names.iter().zip(&first.loads).enumerate();
    let failed: Vec<(String, String)> = names
        .filter_map(|(at, (name, found))| {
            let given = session.given(at);
            Some((text::text(name), load_error(&found.ending, given, load.timeout)?))
        })
        .collect();
    if failed.len() == load.names.len() {
        let (name, reason) = &failed[0];
        let (name, reason) = (name.clone(), reason.clone());
        return Err(PrefetchExperimentError::NothingLoads { name, reason });
    }
    let mut figures: [Figures; 4] = Default::default();
    let mut resident = Vec::new();
    for round in 0..request.rounds {
        let share = 0.1 + 0.9 * f64::from(round) / f64::from(request.rounds);
        for variant in order(seed, round as i32, PrefetchForm::ALL.len()) {
            observe(share);
            let form = PrefetchForm::ALL[variant.index()];
            let loaded = session.load(form != PrefetchForm::Warm, ahead(form), &mut |_| ())?;
            figures[variant.index()].add(&loaded);
            resident.extend(loaded.cold.map(|check| check.resident_pages));
        }
    }
    let check = os::cache::check(&session.files, CacheState::Warm);
    let bytes = session.files.iter().filter_map(|file| Some(file.metadata().ok()?.len()));
    let times: Vec<&[f64]> = figures.iter().map(|figures| &*figures.times_us).collect();
    let name = |at: usize| PrefetchForm::ALL[at].words();
    let against = (1..times.len()).filter_map(|at| {
        stats::effect((name(0), times[0]), (name(at), times[at]), &Rules::default(), seed)
    });
    let effects = against.collect();
    let forms = PrefetchForm::ALL.into_iter().zip(figures);
    Ok(PrefetchExperiment {
        schema: PREFETCH_EXPERIMENT_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        list: load.list.clone(),
        libraries: load.names.len() as u32,
        failed,
        files: session.files.len() as u32,
        file_bytes: bytes.sum(),
        what: if session.recorded.is_some() { RECORDED } else { WHOLE }.to_owned(),
        rounds: request.rounds,
        seed,
        resident_pages: median_reading(resident),
        total_pages: check.total_pages,
        effects,
        forms: forms.filter_map(|(form, figures)| figures.of(form, seed)).collect(),
        notes: notes(request),
    })
}

fn ahead(form: PrefetchForm) -> Option<AheadWhen> {
    match form {
        PrefetchForm::Without | PrefetchForm::Warm => None,
        PrefetchForm::With => Some(AheadWhen::Before),
        PrefetchForm::Meanwhile => Some(AheadWhen::Meanwhile),
    }
}

impl Figures {
    fn add(&mut self, loaded: &crate::libraries::Loaded) {
        let loads = &loaded.found.loads;
        self.times_us.push(loaded.total_us());
        self.ahead_us.extend(loaded.read_ahead.as_ref().map(|ahead| ahead.us));
        self.major_faults.push(loads.iter().map(|load| load.major_faults as f64).sum());
        self.read_bytes.push(loads.iter().map(|load| load.read_bytes as f64).sum());
    }

    fn of(self, form: PrefetchForm, seed: u64) -> Option<PrefetchFormTimes> {
        let median = |values: &[f64]| stats::percentile(&stats::ascending(values), 0.5);
        Some(PrefetchFormTimes {
            form,
            summary: stats::summarize(&self.times_us, seed)?,
            ahead_us: median(&self.ahead_us),
            major_faults: median(&self.major_faults)?,
            read_bytes: median(&self.read_bytes)?,
            times_us: self.times_us,
        })
    }
}

fn median_reading(checks: Vec<Reading<u64>>) -> Reading<u64> {
    let mut pages: Vec<u64> = checks.iter().filter_map(Reading::get).collect();
    pages.sort_unstable();
    match pages.get(pages.len() / 2) {
        Some(pages) => Reading::Value(*pages),
        None => checks
            .into_iter()
            .next()
            .unwrap_or_else(|| Reading::unavailable("nothing was evicted", "")),
    }
}

fn notes(request: &PrefetchRequest) -> Vec<String> {
    let mut notes = vec![
        "Files are evicted from the page cache one by one; file-system metadata and what other \
         programs have mapped stay in memory."
            .to_owned(),
    ];
    let least = Rules::default().least_rounds;
    if let Err(reason) = &request.recorded {
        notes.push(format!("Whole files are read ahead, more than loading needs: {reason}"));
    }
    if request.rounds < least {
        notes.push(format!("With fewer than {least} rounds no difference is called one."));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;
    use std::time::Duration;

    fn request(names: &[&str]) -> PrefetchRequest {
        let load = LoadListRequest {
            list: "a list".to_owned(),
            names: names.iter().map(OsString::from).collect(),
            timeout: Duration::from_secs(20),
            cold: false,
            ahead: None,
        };
        PrefetchRequest {
            load,
            rounds: 2,
            seed: Some(1),
            recorded: Err("nothing was recorded.".to_owned()),
        }
    }

    #[test]
    fn every_form_is_loaded_in_every_round() {
        let found = prefetching(&request(&["libm.so.6", "no-such.so"]), &mut |_| ()).unwrap();
        let forms: Vec<(PrefetchForm, usize, bool)> = found
            .forms
            .iter()
            .map(|form| (form.form, form.times_us.len(), form.ahead_us.is_some()))
            .collect();
        use PrefetchForm::{Meanwhile, Warm, With, Without};
        assert_eq!(
            forms,
            [(Without, 2, false), (With, 2, true), (Meanwhile, 2, true), (Warm, 2, false)]
        );
        assert_eq!((found.effects.len(), found.failed.len()), (3, 1));
        assert!(found.files >= 1 && found.total_pages > 0);
    }

    #[test]
    fn what_was_recorded_is_what_is_read_ahead() {
        let other = os::program::resolve(&["true"]).unwrap().program;
        let mut request = request(&["libm.so.6"]);
        // Of a file that the list does not take nothing is read.
        request.recorded = Ok(AheadPlan::whole_files(&[other]));
        let found = prefetching(&request, &mut |_| ()).unwrap();
        assert_eq!(found.what, RECORDED);
        assert!(!found.notes.iter().any(|note| note.contains("Whole files")), "{found:?}");
        request.recorded = Err("nothing was recorded.".to_owned());
        let found = prefetching(&request, &mut |_| ()).unwrap();
        assert_eq!(found.what, WHOLE);
        assert!(found.notes.iter().any(|note| note.contains("nothing was recorded")), "{found:?}");
    }

    #[test]
    fn a_list_of_which_nothing_loads_is_an_error() {
        let error = prefetching(&request(&["no-such.so"]), &mut |_| ()).unwrap_err().to_string();
        assert!(error.contains("no-such.so: cannot open"), "{error}");
    }
}

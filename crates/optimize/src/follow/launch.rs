//! The launch, followed: which programs it starts, how often, and what share of its time each takes.

use super::shares::{Charge, charges};
use crate::Terms;
use model::{Command, Ending};
use os::LaunchError;
use os::launcher::Stdio;
use os::place::PlacedFiles;
use os::trace::{TraceRequest, TracedLaunch, trace};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The launch is followed so often, and the least disturbed time counts,
const MOST_LAUNCHES: u32 = 3;
/// unless it takes long.
const LONG: Duration = Duration::from_secs(3);

/// A program of the launch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FollowedProgram {
    /// The executed file, links followed.
    pub path: PathBuf,
    /// Its part of the launch, over all its starts.
    pub share: f64,
    /// The part of the launch from its execve to its `main`, over all its starts.
    pub loading_share: f64,
    /// How often it is started.
    pub starts: u32,
    /// What the environment told the loader at its first start.
    pub variables: Vec<(String, OsString)>,
}

/// A launch that was followed.
#[derive(Debug)]
pub(crate) struct Followed {
    /// Its programs; those with the largest shares first.
    pub programs: Vec<FollowedProgram>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// Follows launches of `command`. `expected`: how one ends that is not followed, where that is known.
///
/// # Errors
/// ptrace is not permitted, the user wants to stop, or what an ordinary launch meets.
pub(crate) fn follow(
    command: &Command,
    terms: &Terms,
    expected: Option<Ending>,
) -> Result<Followed, LaunchError> {
    let began = Instant::now();
    let is_other =
        |launch: &TracedLaunch| expected.is_some_and(|expected| launch.ending != expected);
    // One that ends in another way has done something else, and may be quick for that.
    let order = |launch: &TracedLaunch| (is_other(launch), launch.trace.total_us);
    let mut best = traced(command, terms, None)?;
    for _ in 1..MOST_LAUNCHES {
        if began.elapsed() > LONG {
            break;
        }
        let next = traced(command, terms, None)?;
        if order(&next) < order(&best) {
            best = next;
        }
    }
    let mut notes = Vec::new();
    if is_other(&best) {
        notes.push(format!(
            "While it was followed (ptrace), the launch {}, as it does not otherwise: the shares are those of \
             that launch.",
            best.ending.words()
        ));
    }
    if best.left_running > 0 {
        notes.push(format!(
            "The launch leaves processes running ({}); they count only up to the end of the launch.",
            best.left_running
        ));
    }
    Ok(Followed { programs: programs(&best), notes })
}

/// Follows one launch, which sees the files of a place.
pub(super) fn traced(
    command: &Command,
    terms: &Terms,
    place: Option<PlacedFiles>,
) -> Result<TracedLaunch, LaunchError> {
    let plain = TraceRequest::new(Stdio::null()?);
    let cpu = terms.cpu.or(plain.cpu);
    let request = TraceRequest { record_waits: true, timeout: terms.timeout, cpu, place, ..plain };
    trace(command, &request)
}

fn programs(launch: &TracedLaunch) -> Vec<FollowedProgram> {
    let total_us = launch.trace.total_us.max(f64::MIN_POSITIVE);
    let charges = charges(launch);
    let mut found: BTreeMap<&str, FollowedProgram> = BTreeMap::new();
    let images = launch.trace.processes.iter().enumerate().flat_map(|(process, one)| {
        one.images.iter().enumerate().map(move |(image, executed)| ((process, image), executed))
    });
    for (at, image) in images {
        let Charge { total_us: us, loading_us } = charges.get(&at).copied().unwrap_or_default();
        let program = found.entry(&image.path).or_insert_with(|| FollowedProgram {
            path: model::text::name(&image.path).into(),
            share: 0.0,
            loading_share: 0.0,
            starts: 0,
            variables: variables(launch, at),
        });
        program.starts += 1;
        program.share += us / total_us;
        program.loading_share += loading_us / total_us;
    }
    let mut programs: Vec<FollowedProgram> = found.into_values().collect();
    programs.sort_by(|one, other| other.share.total_cmp(&one.share));
    programs
}

fn variables(launch: &TracedLaunch, (process, image): (usize, usize)) -> Vec<(String, OsString)> {
    let same = launch.variables.iter().find(|one| (one.process, one.image) == (process, image));
    let mut set = same.map_or_else(Vec::new, |one| one.set.clone());
    set.retain(|(_, value)| !value.is_empty());
    set
}

impl FollowedProgram {
    /// Its name without folders.
    pub fn base_name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// A start of the program as the launch makes it, as far as the loader is concerned.
    pub fn command(&self) -> Command {
        let unset = |name: &str| !self.variables.iter().any(|(set, _)| set == name);
        let unset =
            ["LD_LIBRARY_PATH", "LD_PRELOAD", "LD_BIND_NOW"].into_iter().filter(|n| unset(n));
        let unset = unset.map(|name| (name.to_owned(), None));
        let set = self.variables.iter().map(|(name, value)| (name.clone(), Some(value.clone())));
        Command {
            argv: vec![self.path.clone().into()],
            program: self.path.clone(),
            directory: None,
            environment: unset.chain(set).collect(),
        }
    }
}

/// How often a launch starts the file at `path`.
pub(super) fn starts_of(launch: &TracedLaunch, path: &Path) -> usize {
    let images = launch.trace.processes.iter().flat_map(|process| &process.images);
    images.filter(|image| model::text::name(&image.path) == *path.as_os_str()).count()
}

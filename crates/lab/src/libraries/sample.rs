//! A list of libraries that are common on this system.
//!
//! The rule, by which the same system always gives the same list: of the libraries in the loader's
//! cache those that others of them need (DT_NEEDED), the ones that most need first; one of each
//! package, then a second of each, and so on; only those that load without an error, and without
//! starting a thread or a process or printing anything. Those that most need come first, so that
//! what a library needs is mostly there before it, and its time is its own. What a library does
//! depends on those before it: one is harmless where another has loaded the library that starts a
//! thread. So the list itself is tried, in its order, until nothing has to leave it.

use super::{Session, packages};
use image::elf::Loadable;
use loader::search::{CACHE, Cache};
use os::LaunchError;
use os::library_loads::LoadEnding;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// As many candidates are tried for each library of the list.
const TRIED: usize = 3;
/// The share of the work that this is.
const FIRST: f64 = TRIED as f64 / (TRIED + 1) as f64;
const TIMEOUT: Duration = Duration::from_secs(5);

/// Libraries of this system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sampled {
    /// Their names in the loader's cache.
    pub names: Vec<String>,
    /// Packages that they are of.
    pub packages: usize,
    /// Libraries of the cache that others need.
    pub candidates: usize,
}

struct Candidate {
    name: String,
    file: PathBuf,
    users: usize,
}

/// So many common libraries of this system, or as many as there are; by the rule above.
///
/// # Errors
/// Processes cannot be made.
pub fn sample(count: usize, observe: &mut dyn FnMut(f64)) -> Result<Sampled, LaunchError> {
    let found = candidates();
    let all = found.len();
    let files: Vec<PathBuf> = found.iter().map(|candidate| candidate.file.clone()).collect();
    let packages = packages::of(&files);
    let mut spread = spread(found, &packages);
    spread.truncate(count.saturating_mul(TRIED));
    let mut good = harmless(&names(&spread), &mut |share| observe(share * FIRST))?.into_iter();
    spread.retain(|_| good.next().unwrap_or(false));
    let mut furthest = FIRST;
    let mut further = |share: f64| {
        furthest = furthest.max(FIRST + share * (1.0 - FIRST));
        observe(furthest);
    };
    let list = agreed(spread, count, |list| harmless(&names(list), &mut further))?;
    let own: HashSet<&String> =
        list.iter().filter_map(|candidate| packages.get(&candidate.file)).collect();
    let packages = own.len();
    let names = list.into_iter().map(|candidate| candidate.name).collect();
    Ok(Sampled { names, packages, candidates: all })
}

/// So many of these, in the order of the list, of which `ask` says when it is given that list that
/// each is harmless. Others take the places of those that are not.
fn agreed(
    mut spread: Vec<Candidate>,
    count: usize,
    mut ask: impl FnMut(&[Candidate]) -> Result<Vec<bool>, LaunchError>,
) -> Result<Vec<Candidate>, LaunchError> {
    loop {
        let rest = spread.split_off(count.min(spread.len()));
        spread.sort_by(most_needed_first);
        let good = ask(&spread)?;
        if good.iter().all(|good| *good) {
            return Ok(spread);
        }
        let mut good = good.into_iter();
        spread.retain(|_| good.next().unwrap_or(false));
        spread.extend(rest);
    }
}

fn most_needed_first(a: &Candidate, b: &Candidate) -> Ordering {
    (b.users, &a.name).cmp(&(a.users, &b.name))
}

fn names(candidates: &[Candidate]) -> Vec<OsString> {
    candidates.iter().map(|candidate| OsString::from(&candidate.name)).collect()
}

/// Libraries of the cache that others need, those that most need first.
fn candidates() -> Vec<Candidate> {
    let machine = std::env::consts::ARCH;
    let cached = Cache::read(Path::new(CACHE)).map_or_else(Vec::new, |cache| cache.all(machine));
    let mut known = HashSet::new();
    let files: Vec<(String, PathBuf)> = cached
        .into_iter()
        .filter_map(|(name, path)| Some((name, path.canonicalize().ok()?)))
        .filter(|(_, file)| known.insert(file.clone()))
        .collect();
    let needed = |(_, file): &(String, PathBuf)| {
        Loadable::open(file).map_or_else(|_| Vec::new(), |library| library.needed)
    };
    let mut users: HashMap<String, usize> = HashMap::new();
    for name in in_threads(&files, needed).into_iter().flatten() {
        *users.entry(name).or_default() += 1;
    }
    let candidate = |(name, file): (String, PathBuf)| {
        let users = *users.get(&name)?;
        Some(Candidate { name, file, users })
    };
    let mut found: Vec<Candidate> = files.into_iter().filter_map(candidate).collect();
    found.sort_by(most_needed_first);
    found
}

/// What `work` gives for each, by threads that have ended when this returns: processes are forked
/// later.
fn in_threads<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, Into::into);
    let part = items.len().div_ceil(threads).max(1);
    let work = &work;
    std::thread::scope(|scope| {
        let parts = items.chunks(part);
        let parts: Vec<_> = parts
            .map(|part| scope.spawn(move || part.iter().map(work).collect::<Vec<R>>()))
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect()
    })
}

/// The first of each package, then the second of each; what no package has is one of its own.
fn spread(found: Vec<Candidate>, packages: &HashMap<PathBuf, String>) -> Vec<Candidate> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut turns: Vec<(usize, Candidate)> = found
        .into_iter()
        .map(|candidate| match packages.get(&candidate.file) {
            None => (0, candidate),
            Some(package) => {
                let place = places.entry(package.clone()).or_default();
                *place += 1;
                (*place - 1, candidate)
            }
        })
        .collect();
    // Those of one turn stay in their order.
    turns.sort_by_key(|(turn, _)| *turn);
    turns.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Which of these load without error and side effect.
fn harmless(names: &[OsString], observe: &mut dyn FnMut(f64)) -> Result<Vec<bool>, LaunchError> {
    let found = Session::new(names, TIMEOUT).watched(observe)?;
    let is_good = |load: &os::library_loads::TimedLoad| {
        load.ending == LoadEnding::Loaded && !load.has_side_effects
    };
    Ok(found.loads.iter().map(is_good).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(name: &str, users: usize) -> Candidate {
        Candidate { name: name.to_owned(), file: PathBuf::from(name), users }
    }

    #[test]
    fn packages_take_turns() {
        let found = vec![
            candidate("a1", 9),
            candidate("a2", 8),
            candidate("b1", 7),
            candidate("c", 6),
            candidate("a3", 5),
        ];
        let of = |name: &str| (PathBuf::from(name), name[..1].to_owned());
        let packages = ["a1", "a2", "a3", "b1"].map(of).into_iter().collect();
        let names: Vec<String> = spread(found, &packages).into_iter().map(|c| c.name).collect();
        assert_eq!(names, ["a1", "b1", "c", "a2", "a3"]);
    }

    /// `late` starts a thread through a dependency, unless another has loaded that; so does `later`
    /// where `late` is not there.
    #[test]
    fn a_library_that_only_another_made_harmless_leaves_the_list() {
        let spread = || ["a", "late", "later", "b", "c"].map(|name| candidate(name, 1)).into();
        let ask = |list: &[Candidate]| {
            let mut is_loaded = false;
            let good = list.iter().map(|candidate| {
                let starts = candidate.name.starts_with("late") && !is_loaded;
                is_loaded |= starts;
                !starts
            });
            Ok(good.collect())
        };
        let agreed = |count| names(&agreed(spread(), count, ask).unwrap());
        assert_eq!(agreed(3), ["a", "b", "c"]);
        assert_eq!(agreed(9), ["a", "b", "c"]);
        assert!(agreed(0).is_empty());
    }

    #[test]
    fn the_same_list_is_made_twice_and_loads() {
        let first = sample(12, &mut |_| ()).unwrap();
        assert_eq!(first, sample(12, &mut |_| ()).unwrap());
        if first.names.is_empty() {
            return testkit::skip("needs ldconfig's cache: it is in memory of no loader here");
        }
        let names: Vec<OsString> = first.names.iter().map(OsString::from).collect();
        assert!(harmless(&names, &mut |_| ()).unwrap().into_iter().all(|good| good));
    }
}

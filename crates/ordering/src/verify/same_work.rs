//! Whether launches of two builds do the same: functions that every launch of one build calls, and no
//! launch of the other, although that has them.

use super::builds::{BuildModule, ModulePair};
use super::sameness::OF_EVERY_PROGRAM;
use super::subject;
use crate::trace::matched_names::root;
use image::ImageError;
use model::{Reading, Rva};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Percentage of functions that may not be called: a few may depend on the program's own path.
const MOST_MISSED: f64 = 1.0;

/// Names of the functions of one build of a module. One at an address may have several, of which
/// traces tell one: which, depends on the build.
struct Names(FxHashMap<Rva, BTreeSet<String>>);

/// Functions that every launch of one build calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Steady {
    functions: usize,
    /// Those that the other build has and no launch of it calls, by name.
    missed: Vec<String>,
}

/// Whether launches of both builds call the same functions, but for what launches of one build differ
/// by; else why not. Functions that the other build does not have may have been inlined.
///
/// # Errors
/// A module cannot be read.
pub fn same_work(pairs: &[ModulePair]) -> Result<Reading<()>, ImageError> {
    let mut sums = [Steady::default(), Steady::default()];
    for pair in pairs {
        let names = [Names::of(pair, 0)?, Names::of(pair, 1)?];
        for (side, sum) in sums.iter_mut().enumerate() {
            let other = 1 - side;
            let own = (&pair.sides[side], &names[side]);
            let found = steady(own, (&pair.sides[other], &names[other]));
            sum.functions += found.functions;
            sum.missed.extend(found.missed);
        }
    }
    Ok(judged(&sums))
}

impl Names {
    fn of(pair: &ModulePair, side: usize) -> Result<Names, ImageError> {
        let subject = subject(pair, side)?;
        let mut names: FxHashMap<Rva, BTreeSet<String>> = FxHashMap::default();
        let mut add = |rva: Rva, name: &str| {
            if !name.is_empty() {
                names.entry(rva).or_default().insert(root(name).into_owned());
            }
        };
        for (function, all) in subject.functions.iter().zip(&subject.names) {
            all.iter().for_each(|name| add(function.rva, name));
        }
        for (rva, name) in pair.sides[side].called() {
            add(rva, name);
        }
        Ok(Names(names))
    }

    fn at(&self, rva: Rva) -> impl Iterator<Item = &String> {
        self.0.get(&rva).into_iter().flatten()
    }
}

fn steady(own: (&BuildModule, &Names), other: (&BuildModule, &Names)) -> Steady {
    let (module, names) = own;
    let called: BTreeSet<&String> =
        other.0.called().into_keys().flat_map(|rva| other.1.at(rva)).collect();
    let there: BTreeSet<&String> = other.1.0.values().flatten().collect();
    let is_steady =
        |rva: &Rva| module.launches.iter().all(|launch| launch.called.contains_key(rva));
    let mut found = Steady::default();
    for rva in module.called().into_keys().filter(is_steady) {
        let own: Vec<&String> = names.at(rva).collect();
        let Some(first) = own.first() else { continue };
        if own.iter().any(|name| OF_EVERY_PROGRAM.contains(&name.as_str())) {
            continue;
        }
        found.functions += 1;
        let is_missed = !own.iter().any(|name| called.contains(name));
        if is_missed && own.iter().any(|name| there.contains(name)) {
            found.missed.push((*first).clone());
        }
    }
    found
}

fn judged(builds: &[Steady; 2]) -> Reading<()> {
    let share = |it: &Steady| 100.0 * it.missed.len() as f64 / it.functions.max(1) as f64;
    let sides = builds.iter().zip([["old", "new"], ["new", "old"]]);
    let worst = sides.max_by(|(one, _), (two, _)| share(one).total_cmp(&share(two)));
    let Some((build, [which, other])) = worst.filter(|(build, _)| share(build) > MOST_MISSED)
    else {
        return Reading::Value(());
    };
    let (missed, functions) = (build.missed.len(), build.functions);
    let example = build.missed.first().map_or(String::new(), |name| format!(", such as {name}"));
    Reading::unavailable(
        format!(
            "the builds do not do the same: of {functions} functions that every launch of the \
             {which} build calls, no launch of the {other} build calls {missed}{example}"
        ),
        "give builds of the same sources, and launches that find the same files beside the program",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(functions: usize, missed: usize) -> Option<String> {
        let one = Steady { functions, missed: vec!["f".to_owned(); missed] };
        let other = Steady { functions: 1000, missed: Vec::new() };
        judged(&[one.clone(), other.clone()]).reason().map(str::to_owned).inspect(|reason| {
            let swapped = judged(&[other, one]);
            assert!(reason.contains("old build calls, no") && swapped.reason() != Some(reason));
        })
    }

    #[test]
    fn one_percent_may_be_missed() {
        assert_eq!(reason(100, 1), None);
        assert_eq!(reason(0, 0), None);
        let words = "of 100 functions that every launch of the old build calls, no launch of the new \
                     build calls 2, such as f";
        assert!(reason(100, 2).is_some_and(|reason| reason.ends_with(words)));
    }
}

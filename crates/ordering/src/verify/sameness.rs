//! Whether two builds are of the same program: by the names of the functions that they call.

use super::VerifyError;
use super::builds::{BuildModule, ModulePair};
use super::subject;
use crate::trace::matched_names::root;
use image::ImageError;
use model::Reading;
use std::collections::BTreeSet;

/// Functions that every program has, whatever it does: they match in unrelated ones.
pub const OF_EVERY_PROGRAM: [&str; 10] = [
    "main",
    "_start",
    "_init",
    "_fini",
    "frame_dummy",
    "register_tm_clones",
    "deregister_tm_clones",
    "__do_global_dtors_aux",
    "__libc_csu_init",
    "__libc_csu_fini",
];
/// Percentage of called functions that need a name.
const LEAST_NAMED: f64 = 50.0;
/// Percentage of named ones that the other build has, below which the builds are unrelated.
const LEAST_RELATED: f64 = 50.0;
/// Percentage below which more than the order differs.
const LEAST_SAME: f64 = 90.0;
/// The remedy for functions without names.
pub const STRIPPED: &str = "verify builds that are not stripped, and strip them afterwards";

/// What one build calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Called {
    functions: usize,
    named: usize,
    /// Those that the other build has, too.
    found: usize,
}

impl Called {
    fn and(self, other: Called) -> Called {
        Called {
            functions: self.functions + other.functions,
            named: self.named + other.named,
            found: self.found + other.found,
        }
    }
}

/// Whether what changed is the order; else why that is not known.
///
/// # Errors
/// The builds have nothing to do with each other.
pub fn sameness(pairs: &[ModulePair]) -> Result<Reading<()>, VerifyError> {
    let mut sums = [Called::default(); 2];
    for pair in pairs {
        let known = [names(pair, 0)?, names(pair, 1)?];
        sums[0] = sums[0].and(called(&pair.sides[0], &known[1]));
        sums[1] = sums[1].and(called(&pair.sides[1], &known[0]));
    }
    judged(sums)
}

/// All names that a build has for functions of the module.
fn names(pair: &ModulePair, side: usize) -> Result<BTreeSet<String>, ImageError> {
    let subject = subject(pair, side)?;
    let called = pair.sides[side].called();
    let listed = subject.names.iter().flatten().map(String::as_str);
    Ok(listed.chain(called.into_values()).map(|name| root(name).into_owned()).collect())
}

fn called(module: &BuildModule, known: &BTreeSet<String>) -> Called {
    let mut sum = Called::default();
    for name in module.called().into_values() {
        let name = root(name);
        if OF_EVERY_PROGRAM.contains(&name.as_ref()) {
            continue;
        }
        sum.functions += 1;
        sum.named += usize::from(!name.is_empty());
        sum.found += usize::from(!name.is_empty() && known.contains(name.as_ref()));
    }
    sum
}

fn judged(builds: [Called; 2]) -> Result<Reading<()>, VerifyError> {
    let percent = |part: usize, of: usize| 100.0 * part as f64 / of as f64;
    let which = |least: f64, share: &dyn Fn(&Called) -> f64| {
        let below = builds.iter().zip(["old", "new"]).filter(|(build, _)| share(build) < least);
        below.min_by(|(one, _), (other, _)| share(one).total_cmp(&share(other)))
    };
    if let Some((_, which)) = builds.iter().zip(["old", "new"]).find(|(it, _)| it.functions == 0) {
        let reason = format!(
            "the launch of the {which} build calls no relinked function but those that every program \
             has, such as main"
        );
        return Ok(Reading::unavailable(reason, "give a launch that uses more of the program"));
    }
    if let Some((build, which)) = which(LEAST_NAMED, &|it| percent(it.named, it.functions)) {
        let (unnamed, functions) = (build.functions - build.named, build.functions);
        let reason = format!(
            "{unnamed} of {functions} called functions of the {which} build have no name, so nobody \
             knows whether both builds call the same"
        );
        return Ok(Reading::unavailable(reason, STRIPPED));
    }
    let share = |it: &Called| percent(it.found, it.named);
    if let Some((build, which)) = which(LEAST_RELATED, &share) {
        let (named, found) = (build.named, build.found);
        return Err(VerifyError::Unrelated { which, named, found });
    }
    Ok(match which(LEAST_SAME, &share) {
        None => Reading::Value(()),
        Some((build, which)) => Reading::unavailable(
            format!(
                "the builds differ in more than their order: of {} called functions of the {which} \
                 build the other one has {}, by name",
                build.named, build.found
            ),
            "compare builds of the same sources by the same compiler",
        ),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // Here a panic is a failed test.

    use super::*;

    fn reason(functions: usize, named: usize, found: usize) -> Option<String> {
        let one = Called { functions, named, found };
        let other = Called { functions: 100, named: 100, found: 100 };
        let [before, after] = [[one, other], [other, one]].map(|builds| judged(builds).unwrap());
        assert_eq!(before.value(), after.value());
        before.reason().map(str::to_owned)
    }

    #[test]
    fn builds_are_the_same_by_the_names_of_what_they_call() {
        assert_eq!(reason(100, 95, 95), None);
        assert_eq!(reason(100, 100, 90), None);
        assert!(reason(100, 100, 89).unwrap().contains("of 100 called functions"));
        assert!(reason(100, 49, 49).unwrap().starts_with("51 of 100 called functions"));
        assert!(reason(0, 0, 0).unwrap().contains("such as main"));
    }

    #[test]
    fn unrelated_builds_are_refused() {
        let one = Called { functions: 100, named: 100, found: 49 };
        assert!(matches!(judged([one, one]), Err(VerifyError::Unrelated { found: 49, .. })));
    }
}

//! What follows from the figures of two builds.

use super::repeated::Comparison;
use model::{Ending, OrderVerdict, OrderVerification, Reading, Verdict};
use std::cmp::Ordering;

/// What a verdict follows from, besides the times.
pub struct Evidence {
    /// Whether what changed is the order; else why that is not known.
    pub sameness: Reading<()>,
    /// The pages of the launch.
    pub pages: Comparison,
    /// What else must not rise.
    pub others: Vec<Comparison>,
    /// How the launches of both builds ended: of each command.
    pub endings: Vec<LaunchEndings>,
}

/// How the launches of a command ended.
pub struct LaunchEndings {
    pub command: String,
    /// In the old build and in the new one.
    pub sides: [Vec<Ending>; 2],
}

/// The verification with its verdict and the reasons for it.
///
/// An order is rejected where any launch, held out or not, has more pages or reads than before,
/// takes longer, or ends in another way. Distances and floors are told, and decide nothing.
pub fn judged(found: OrderVerification, evidence: &Evidence) -> OrderVerification {
    let broken: Vec<String> = evidence.endings.iter().filter_map(broken).collect();
    let unclear: Vec<String> = evidence.endings.iter().filter_map(unclear).collect();
    let worse = worse(&found, evidence);
    let is_better = evidence.pages.change() == Ordering::Less;
    let verdict = match &evidence.sameness {
        _ if !broken.is_empty() => OrderVerdict::Rejected,
        Reading::Unavailable { .. } => OrderVerdict::Unavailable,
        _ if !worse.is_empty() => OrderVerdict::Rejected,
        _ if !unclear.is_empty() => OrderVerdict::Unavailable,
        _ if is_better => OrderVerdict::Better,
        _ => OrderVerdict::Same,
    };
    let mut notes = broken;
    if let Reading::Unavailable { reason, remedy } = &evidence.sameness {
        notes.push(format!("{reason}; {remedy}"));
    }
    notes.extend(worse);
    notes.extend(unclear);
    notes.extend(evidence.endings.iter().filter_map(failing));
    notes.extend(varying(evidence));
    notes.extend(unresolved(&found));
    notes.extend(found.notes);
    OrderVerification { verdict, notes, ..found }
}

/// What is worse than before, in words.
fn worse(found: &OrderVerification, evidence: &Evidence) -> Vec<String> {
    let mut reasons = Vec::new();
    for comparison in [&evidence.pages].into_iter().chain(&evidence.others) {
        if comparison.change() == Ordering::Greater {
            let (old, new) = (comparison.old.median(), comparison.new.median());
            reasons.push(format!("more {}: {new:.0} instead of {old:.0}", comparison.what));
        }
    }
    for (what, effect) in [("warm", &found.warm), ("cold", &found.cold)] {
        if let Reading::Value(effect) = effect
            && effect.verdict == Verdict::Slower
        {
            let percent = (effect.ratio - 1.0) * 100.0;
            reasons.push(format!("{what} launches take {percent:.1} % longer"));
        }
    }
    reasons
}

/// That no launch of the new build ends as one of the old build does.
fn broken(launch: &LaunchEndings) -> Option<String> {
    let [old, new] = &launch.sides;
    let is_common = old.iter().any(|ending| new.contains(ending));
    let (old, new) = (old.first()?.words(), new.first()?.words());
    (!is_common).then(|| {
        format!(
            "'{}': the old build {old}, and the new one {new}: the new build does something else",
            launch.command
        )
    })
}

/// That launches end now in one way, now in another, and not in both builds alike.
fn unclear(launch: &LaunchEndings) -> Option<String> {
    let [old, new] = &launch.sides;
    let differs = |one: &[Ending], other: &[Ending]| one.iter().any(|it| !other.contains(it));
    let is_unclear = broken(launch).is_none() && (differs(old, new) || differs(new, old));
    is_unclear.then(|| {
        format!(
            "'{}' does not always end in the same way, so nobody knows whether both builds do the \
             same; give a launch that does",
            launch.command
        )
    })
}

/// That both builds fail.
fn failing(launch: &LaunchEndings) -> Option<String> {
    let [old, new] = &launch.sides;
    let ending = *old.first()?;
    let is_all = old.iter().chain(new).all(|other| *other == ending);
    let has_failed = !matches!(ending, Ending::Code(0) | Ending::Ready);
    let words = ending.words();
    (is_all && has_failed).then(|| format!("'{}': both builds fail: each {words}", launch.command))
}

/// Figures that differ from launch to launch of the same build.
fn varying(evidence: &Evidence) -> Vec<String> {
    let all = [&evidence.pages].into_iter().chain(&evidence.others);
    let varying = all.filter(|comparison| comparison.varies());
    let words = |it: &Comparison| {
        let (old, new) = (&it.old, &it.new);
        format!(
            "{} vary from launch to launch ({:.0} to {:.0} before, {:.0} to {:.0} after); a change \
             within that is none",
            it.what,
            old.low(),
            old.high(),
            new.low(),
            new.high()
        )
    };
    varying.map(words).collect()
}

fn unresolved(found: &OrderVerification) -> Option<String> {
    let left = 100.0 - found.resolved_percent.get()?;
    (left >= 1.0).then(|| {
        format!(
            "{left:.0} % of the functions that launches of the old build call are called by none of the \
             new build, by name: they were inlined, or the builds or the launches differ"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the launches are found broken, unclear and failing.
    fn found(old: &[Ending], new: &[Ending]) -> [bool; 3] {
        let sides = [old.to_vec(), new.to_vec()];
        let launch = LaunchEndings { command: "p".to_owned(), sides };
        [broken, unclear, failing].map(|look| look(&launch).is_some())
    }

    #[test]
    fn endings_of_both_builds_are_compared() {
        let [good, bad, killed] = [Ending::Code(0), Ending::Code(1), Ending::Signal(11)];
        assert_eq!(found(&[good; 3], &[good; 3]), [false, false, false]);
        assert_eq!(found(&[good; 3], &[killed; 3]), [true, false, false]);
        assert_eq!(found(&[bad; 3], &[bad; 3]), [false, false, true]);
        assert_eq!(found(&[good, bad, good], &[good; 3]), [false, true, false]);
        assert_eq!(found(&[good; 3], &[bad, good, good]), [false, true, false]);
        assert_eq!(found(&[good, bad], &[bad, good]), [false, false, false]);
        assert_eq!(found(&[Ending::Ready], &[Ending::Ready]), [false, false, false]);
    }
}

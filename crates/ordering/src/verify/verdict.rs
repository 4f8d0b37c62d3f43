//! What follows from the figures of two builds.

use model::{OrderVerdict, OrderVerification, Reading, Verdict};

/// A change of less than this part is no change.
const MARGIN: f64 = 0.01;

/// The verification with its verdict and the reasons for it.
///
/// An order is rejected where any launch, held out or not, has more pages or reads than before, or
/// takes longer. Distances and floors are told, and decide nothing.
pub fn judged(verification: OrderVerification) -> OrderVerification {
    let worse = worse(&verification);
    let is_better =
        (verification.new.pages as f64) < verification.old.pages as f64 * (1.0 - MARGIN);
    let verdict = match (worse.is_empty(), is_better) {
        (false, _) => OrderVerdict::Rejected,
        (true, true) => OrderVerdict::Better,
        (true, false) => OrderVerdict::Same,
    };
    let mut notes = worse;
    notes.extend(unresolved(&verification));
    OrderVerification { verdict, notes, ..verification }
}

/// What is worse than before, in words.
fn worse(found: &OrderVerification) -> Vec<String> {
    let mut reasons = Vec::new();
    let mut compare = |what: &str, old: f64, new: f64| {
        if new > old * (1.0 + MARGIN) {
            reasons.push(format!("more {what}: {new:.0} instead of {old:.0}"));
        }
    };
    compare("pages", found.old.pages as f64, found.new.pages as f64);
    if let (Some(old), Some(new)) = (found.old.reads.get(), found.new.reads.get()) {
        compare("reads", old as f64, new as f64);
    }
    for launch in &found.held_out {
        let command = &launch.command;
        compare(&format!("pages of '{command}'"), launch.old.pages, launch.new.pages);
        compare(&format!("predicted reads of '{command}'"), launch.old.reads, launch.new.reads);
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

fn unresolved(found: &OrderVerification) -> Option<String> {
    let left = 100.0 - found.resolved_percent;
    (left >= 1.0).then(|| {
        format!(
            "the new build does not call {left:.0} % of the functions that the old build calls, by \
             name: they were inlined, or the builds differ"
        )
    })
}

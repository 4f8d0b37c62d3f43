//! What an image's facts say of other images, once these are at hand.

use crate::{MemberId, Set, bind, hints};
use model::{BoundDll, BoundState, PeFacts};

/// Completes the facts of an image of a set: whether its hints are right and its bound imports
/// valid. What cannot be known stays unknown; damaged tables are among the facts' problems already.
pub fn look_up(set: &Set<'_>, id: MemberId, facts: &mut PeFacts) {
    if let Ok(check) = hints::check(set, id) {
        facts.hints_checked = check.checked;
        let known = check.checked > 0 || check.unknown.is_empty();
        facts.wrong_hints = known.then_some(check.wrong);
    }
    let Ok(bound) = bind::state(set, id) else { return };
    if facts.bound.is_empty() {
        // Bound before there was a directory.
        let old = bound.iter().map(|dll| BoundDll {
            name: dll.name.clone(),
            time_stamp: dll.time_stamp,
            forwarders: Vec::new(),
            valid: None,
            state: BoundState::Unknown,
        });
        facts.bound = old.collect();
    }
    for (facts, bound) in facts.bound.iter_mut().zip(&bound) {
        facts.valid = bound.state.valid();
        facts.state = bound.state;
    }
}

//! The threads of a launch, told from all others by who made them.

use std::collections::HashSet;

/// A thread, and those that descend from it.
pub(super) struct Family(HashSet<u32>);

impl Family {
    pub(super) fn of(thread: u32) -> Family {
        Family(HashSet::from([thread]))
    }

    /// A thread has made another one. To be told in order of time: numbers are used again.
    pub(super) fn learn(&mut self, maker: u32, made: u32) {
        if self.has(maker) {
            self.0.insert(made);
        } else {
            self.0.remove(&made);
        }
    }

    pub(super) fn has(&self, thread: u32) -> bool {
        self.0.contains(&thread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_are_known_until_a_stranger_has_their_number() {
        let mut family = Family::of(10);
        for (maker, made) in [(10, 20), (20, 21), (9, 30), (30, 31)] {
            family.learn(maker, made);
        }
        let known = |family: &Family| [10, 20, 21, 9, 30, 31].map(|thread| family.has(thread));
        assert_eq!(known(&family), [true, true, true, false, false, false]);
        family.learn(30, 20);
        assert_eq!(known(&family), [true, false, true, false, false, false]);
    }
}

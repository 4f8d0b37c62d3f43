//! The processes of a launch, told from all others by what the kernel tells of new processes.

use std::collections::HashSet;

/// A new process: when it was made, its number, and its parent's.
type Fork = (u64, u32, u32);

/// A thread, and the processes that descend from its process.
pub(super) struct Family {
    process: u32,
    thread: u32,
    descendants: HashSet<u32>,
    /// Of unknown parents: what tells of them may be read later, but then it is read next.
    unknown: Vec<Fork>,
}

impl Family {
    pub(super) fn of_this_thread() -> Family {
        let thread = rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned();
        Family::new(std::process::id(), thread)
    }

    fn new(process: u32, thread: u32) -> Family {
        Family { process, thread, descendants: HashSet::new(), unknown: Vec::new() }
    }

    /// Takes note of new processes.
    pub(super) fn learn(&mut self, forks: Vec<Fork>) {
        let old = std::mem::take(&mut self.unknown);
        let mut all: Vec<(Fork, bool)> = old.into_iter().map(|fork| (fork, true)).collect();
        all.extend(forks.into_iter().map(|fork| (fork, false)));
        all.sort_by_key(|(fork, _)| *fork);
        for ((at_ns, pid, parent), is_old) in all {
            if parent == self.process || self.descendants.contains(&parent) {
                self.descendants.insert(pid);
            } else if is_old {
                // A stranger, maybe with the number of one that has ended.
                self.descendants.remove(&pid);
            } else {
                self.unknown.push((at_ns, pid, parent));
            }
        }
    }

    /// Whether a thread of a process belongs to it.
    pub(super) fn has(&self, process: u32, thread: u32) -> bool {
        thread == self.thread || self.descendants.contains(&process)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_are_known_in_whatever_order_they_are_told() {
        let mut family = Family::new(10, 11);
        // The parent of 21 is told later, and that of 31 never.
        family.learn(vec![(3, 21, 20), (4, 31, 30)]);
        assert!(!family.has(21, 21));
        family.learn(vec![(2, 20, 10)]);
        let has = |family: &Family, process| family.has(process, process);
        assert!(has(&family, 20) && has(&family, 21) && !has(&family, 31));
        // Of its own process only the one thread.
        assert!(family.has(10, 11) && !family.has(10, 10) && !family.has(10, 12));
        // A stranger with the number of one that has ended.
        family.learn(vec![(9, 20, 1)]);
        family.learn(Vec::new());
        assert!(!has(&family, 20) && has(&family, 21));
    }
}

//! What comes into memory while others need memory, too.

use std::time::{Duration, Instant};

/// For what never happens: a busy machine takes long.
const LIMIT: Duration = Duration::from_secs(120);
/// A read that was not left out takes no longer on a machine whose memory is full.
const READ: Duration = Duration::from_secs(2);
const BETWEEN: Duration = Duration::from_millis(5);
/// Counters of `/proc/vmstat` that rise when the kernel looks for pages that may leave memory, or
/// takes them, and when somebody empties the page cache.
const TAKEN: [&str; 4] = ["pgscan", "pgsteal", "allocstall", "drop_pagecache"];

/// What `now` finds once `bring` has brought pages into memory of which `evicted` has left none.
/// `None` where `evicted` says at first that they stay.
///
/// Where memory is full, the kernel leaves out what is only read ahead, or takes it away again
/// before somebody looks. If it says that it has done such a thing meanwhile, and `wanted` is not
/// what was found, everything is done again; and only then.
pub fn brought_in<T: PartialEq>(
    wanted: &T,
    mut evicted: impl FnMut() -> bool,
    mut bring: impl FnMut(),
    mut now: impl FnMut() -> T,
) -> Option<T> {
    if !evicted() {
        return None;
    }
    let began = Instant::now();
    loop {
        let (before, asked) = (taken(), Instant::now());
        bring();
        let found = loop {
            let found = now();
            let is_taken = asked.elapsed() > READ && taken() != before;
            if found == *wanted || is_taken || began.elapsed() > LIMIT {
                break found;
            }
            std::thread::sleep(BETWEEN);
        };
        if found == *wanted || began.elapsed() > LIMIT {
            return Some(found);
        }
        // What is being read stays for a moment.
        while !evicted() && began.elapsed() <= LIMIT {
            std::thread::sleep(BETWEEN);
        }
    }
}

/// The values of those counters.
fn taken() -> Vec<u64> {
    let text = std::fs::read_to_string("/proc/vmstat").unwrap_or_default();
    let counters = text.lines().filter(|line| TAKEN.iter().any(|name| line.starts_with(name)));
    counters.filter_map(|line| line.split(' ').nth(1)?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn what_stays_in_memory_is_told_and_what_comes_late_is_waited_for() {
        assert_eq!(brought_in(&1, || false, || panic!("nothing has left"), || 1), None);
        let looks = Cell::new(0);
        let now = || looks.replace(looks.get() + 1);
        assert_eq!(brought_in(&9, || true, || looks.set(0), now), Some(9));
        assert!(!taken().is_empty());
    }
}

//! Work on all processors.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

/// Does `work` on every item, on as many threads as the machine has processors; results stand in
/// the order of the items.
///
/// # Panics
/// Where `work` panics.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let next = AtomicUsize::new(0);
    let share = || {
        let mut done = Vec::new();
        while let Some((index, item)) = take(items, &next) {
            done.push((index, work(item)));
        }
        done
    };
    let mut results = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(share)).collect();
        let done = workers.into_iter().map(thread::ScopedJoinHandle::join);
        let done = done.flat_map(|done| done.unwrap_or_else(|why| std::panic::resume_unwind(why)));
        done.collect::<Vec<_>>()
    });
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

fn take<'a, T>(items: &'a [T], next: &AtomicUsize) -> Option<(usize, &'a T)> {
    let index = next.fetch_add(1, Relaxed);
    items.get(index).map(|item| (index, item))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..1000).collect();
        let doubled: Vec<u32> = items.iter().map(|item| item * 2).collect();
        assert_eq!(in_parallel(&items, |item| item * 2), doubled);
        assert_eq!(in_parallel(&[] as &[u32], |item| *item), Vec::<u32>::new());
    }
}

//! The launch clock.

use std::sync::OnceLock;
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};

/// A point in time on the performance counter, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(u64);

impl Instant {
    /// The present.
    #[inline]
    pub fn now() -> Self {
        let mut count = 0;
        // SAFETY: `count` outlives the call, which cannot fail on a system that has this clock.
        unsafe { QueryPerformanceCounter(&mut count) };
        Instant(nanoseconds(count.unsigned_abs(), ticks_per_second()))
    }

    /// Nanoseconds since an arbitrary start; not the ticks of [`ticks_per_second`].
    pub fn ticks(self) -> u64 {
        self.0
    }

    /// Microseconds from `earlier` to this point; 0 where `earlier` is later.
    pub fn us_since(self, earlier: Instant) -> f64 {
        self.0.saturating_sub(earlier.0) as f64 / 1000.0
    }
}

/// Ticks per second of the performance counter.
pub fn ticks_per_second() -> u64 {
    static FREQUENCY: OnceLock<u64> = OnceLock::new();
    *FREQUENCY.get_or_init(|| {
        let mut frequency = 0;
        // SAFETY: `frequency` outlives the call, which cannot fail on a system that has this clock.
        unsafe { QueryPerformanceFrequency(&mut frequency) };
        frequency.unsigned_abs().max(1)
    })
}

fn nanoseconds(count: u64, per_second: u64) -> u64 {
    (u128::from(count) * 1_000_000_000 / u128::from(per_second)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_become_nanoseconds() {
        assert_eq!(nanoseconds(25, 10_000_000), 2500);
        // Ten years of a counter that runs with the processor's clock.
        assert_eq!(
            nanoseconds(3 * 315_360_000 * 1_000_000_000, 3_000_000_000) / 1_000_000_000,
            315_360_000
        );
        let earlier = Instant::now();
        assert!(Instant::now() >= earlier && ticks_per_second() >= 1000);
        assert_eq!(earlier.us_since(Instant(earlier.ticks() + 1)), 0.0);
    }
}

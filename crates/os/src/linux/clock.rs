//! The launch clock.

/// A point in time on CLOCK_MONOTONIC_RAW, in nanoseconds.
///
/// The raw clock runs at the processor's own pace: it is never slewed while a launch is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(u64);

/// Ticks per second of this clock, as [`Instant::ticks`] has them.
pub fn ticks_per_second() -> u64 {
    1_000_000_000
}

impl Instant {
    /// The present.
    #[inline]
    pub fn now() -> Self {
        Instant(read_ns(libc::CLOCK_MONOTONIC_RAW))
    }

    /// The instant with this reading, taken by another process on this machine.
    pub fn from_ticks(ticks: u64) -> Self {
        Instant(ticks)
    }

    /// Nanoseconds since an arbitrary start.
    pub fn ticks(self) -> u64 {
        self.0
    }

    /// Microseconds from `earlier` to this point; 0 where `earlier` is later.
    pub fn us_since(self, earlier: Instant) -> f64 {
        self.0.saturating_sub(earlier.0) as f64 / 1000.0
    }
}

/// Reads `clock` in nanoseconds.
#[inline]
pub fn read_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` outlives the call; the clocks used here exist on every supported kernel.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Translates readings of `clock` into microseconds since `start` on the launch clock.
///
/// Kernel time stamps come from other clocks (CLOCK_REALTIME for datagrams, CLOCK_MONOTONIC for
/// perf records). The offset is the tightest of several paired readings.
pub struct ClockOffset {
    offset_ns: i128,
}

impl ClockOffset {
    /// Measures the distance of `clock` to the launch clock.
    pub fn measure(clock: libc::clockid_t) -> Self {
        let mut best: Option<(u64, i128)> = None;
        for _ in 0..16 {
            let before = read_ns(libc::CLOCK_MONOTONIC_RAW);
            let other = read_ns(clock);
            let after = read_ns(libc::CLOCK_MONOTONIC_RAW);
            let width = after - before;
            let offset = i128::from(before) + i128::from(width / 2) - i128::from(other);
            if best.is_none_or(|(narrowest, _)| width < narrowest) {
                best = Some((width, offset));
            }
        }
        ClockOffset { offset_ns: best.map_or(0, |(_, offset)| offset) }
    }

    /// Microseconds from `start` to `ns` on the other clock; negative where `ns` is earlier.
    pub fn us_since(&self, start: Instant, ns: u64) -> f64 {
        (i128::from(ns) + self.offset_ns - i128::from(start.ticks())) as f64 / 1000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offset_maps_another_clock_onto_the_launch_clock() {
        let offset = ClockOffset::measure(libc::CLOCK_REALTIME);
        let start = Instant::now();
        let us = offset.us_since(start, read_ns(libc::CLOCK_REALTIME));
        assert!((-50.0..50_000.0).contains(&us), "{us}");
    }
}

//! Kinds of disks, as far as reading ahead has to know them.

use crate::{Recording, RecordingMode};
use serde::{Deserialize, Serialize};

/// A cold launch without read-ahead that takes longer for each page has read from slow flash memory.
const SLOW_FLASH_US: f64 = 200.0;
/// The same of a disk with a moving head.
const MOVING_HEAD_US: f64 = 1500.0;
/// A wait counts no more than so many medians.
const LONGEST_WAIT: f64 = 50.0;

/// The disk that is read from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Disk {
    /// Without moving parts, and near: many requests at once, in order of first touch.
    #[default]
    Flash,
    /// Without moving parts, but slow, such as a volume of a cloud or a memory card: as many bytes and
    /// requests in a second as it permits, nearly in order of first touch.
    SlowFlash,
    /// With a moving head: in the order of the disk.
    #[serde(rename = "hdd")]
    MovingHead,
}

impl Disk {
    /// All of them.
    pub const ALL: [Disk; 3] = [Disk::Flash, Disk::SlowFlash, Disk::MovingHead];

    /// As it is called in launchers and on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Disk::Flash => "flash",
            Disk::SlowFlash => "slow-flash",
            Disk::MovingHead => "hdd",
        }
    }

    /// The disk with this name.
    pub fn named(name: &str) -> Option<Disk> {
        Disk::ALL.into_iter().find(|disk| disk.name() == name)
    }

    /// The disk from which a cold launch without read-ahead has read so many pages: by the mean time for
    /// each. `touched_us`: when it came to a new part of a file, in any order. Waits that are much longer
    /// than others are not the disk's: the program slept or computed.
    pub fn of_launch(mut touched_us: Vec<f64>, pages: u64) -> Disk {
        touched_us.sort_by(f64::total_cmp);
        let mut waits: Vec<f64> = touched_us.windows(2).map(|pair| pair[1] - pair[0]).collect();
        waits.sort_by(f64::total_cmp);
        let Some(median) = waits.get(waits.len() / 2) else { return Disk::Flash };
        let longest = median * LONGEST_WAIT;
        let sum: f64 = waits.iter().map(|wait| wait.min(longest)).sum();
        match sum / pages.max(1) as f64 {
            us if us > MOVING_HEAD_US => Disk::MovingHead,
            us if us > SLOW_FLASH_US => Disk::SlowFlash,
            _ => Disk::Flash,
        }
    }

    /// The disk that a recording was made on, as far as it shows.
    pub fn of(recording: &Recording) -> Disk {
        if recording.mode != RecordingMode::Exact || recording.launches != 1 {
            return Disk::Flash;
        }
        let times = recording.files.iter().flat_map(|file| file.touched_us.iter().copied());
        Disk::of_launch(times.collect(), recording.bytes().div_ceil(recording.page_bytes.max(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_page_tells_the_disk() {
        let at = |us: f64| Disk::of_launch((0..50).map(|page| f64::from(page) * us).collect(), 50);
        assert_eq!(
            [100.0, 600.0, 5000.0].map(at),
            [Disk::Flash, Disk::SlowFlash, Disk::MovingHead]
        );
        assert_eq!(Disk::of_launch(vec![7.0], 1), Disk::Flash);
        assert_eq!(Disk::of_launch(Vec::new(), 0), Disk::Flash);
    }

    #[test]
    fn a_program_that_sleeps_is_no_slow_disk() {
        let mut times: Vec<f64> = (0..50).map(|page| f64::from(page) * 100.0).collect();
        times.push(5e6);
        assert_eq!(Disk::of_launch(times, 51), Disk::Flash);
    }

    #[test]
    fn names_are_those_of_the_disks() {
        assert!(Disk::ALL.into_iter().all(|disk| Disk::named(disk.name()) == Some(disk)));
        assert_eq!(Disk::named("tape"), None);
    }
}

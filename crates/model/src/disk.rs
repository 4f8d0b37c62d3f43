//! Kinds of disks, as far as reading ahead has to know them.

use crate::{Recording, RecordingMode};

/// A cold launch without read-ahead that takes longer for each page has read from slow flash memory.
const SLOW_FLASH_US: f64 = 250.0;
/// The same of a disk with a moving head.
const MOVING_HEAD_US: f64 = 1500.0;

/// The disk that is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disk {
    /// Without moving parts, and near: many requests at once, in order of first touch.
    Flash,
    /// Without moving parts, but slow, such as a volume of a cloud or a memory card: as many bytes and
    /// requests in a second as it permits, nearly in order of first touch.
    SlowFlash,
    /// With a moving head: in the order of the disk.
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

    /// The disk from which a cold launch without read-ahead took so long for each page that it read.
    pub fn of_page_us(us: f64) -> Disk {
        match us {
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
        let pages = recording.bytes().div_ceil(recording.page_bytes.max(1)).max(1) as f64;
        Disk::of_page_us(recording.total_us / pages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_page_tells_the_disk() {
        let disks = [100.0, 600.0, 5000.0].map(Disk::of_page_us);
        assert_eq!(disks, [Disk::Flash, Disk::SlowFlash, Disk::MovingHead]);
    }

    #[test]
    fn names_are_those_of_the_disks() {
        assert!(Disk::ALL.into_iter().all(|disk| Disk::named(disk.name()) == Some(disk)));
        assert_eq!(Disk::named("tape"), None);
    }
}

//! When a modeled device has read what it is asked for: arithmetic only, in microseconds.

/// A kind of device. docs/cold-lab.md says what the figures claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceModel {
    /// A volume of a cloud, reached over a network.
    Ebs,
    /// Soldered flash memory of a small machine.
    Emmc,
    /// A disk of 7,200 turns a minute.
    Hdd,
}

/// Bytes that somebody waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadRequest {
    /// By what the answer is recognized.
    pub unique: u64,
    /// From the beginning of the device.
    pub offset: u64,
    /// How many.
    pub bytes: u32,
}

impl DeviceModel {
    /// All of them.
    pub const ALL: [DeviceModel; 3] = [DeviceModel::Ebs, DeviceModel::Emmc, DeviceModel::Hdd];

    /// As it is called on command lines and in tables.
    pub fn name(self) -> &'static str {
        match self {
            DeviceModel::Ebs => "ebs",
            DeviceModel::Emmc => "emmc",
            DeviceModel::Hdd => "hdd",
        }
    }

    /// Requests that are worked on at once.
    pub fn depth(self) -> usize {
        match self {
            DeviceModel::Ebs => 32,
            DeviceModel::Emmc => 4,
            DeviceModel::Hdd => 1,
        }
    }

    /// A device of that size, at rest.
    pub fn device(self, size_bytes: u64) -> Box<dyn Device> {
        match self {
            DeviceModel::Ebs => Box::new(Flash::new(600.0, 3_000.0, 125.0)),
            DeviceModel::Emmc => Box::new(Flash::new(180.0, 8_000.0, 250.0)),
            DeviceModel::Hdd => Box::new(Disk::new(size_bytes)),
        }
    }
}

/// What a device is busy with.
pub trait Device: Send {
    /// Which of the waiting requests, the oldest first, comes next; there is at least one.
    fn choose(&self, waiting: &[ReadRequest]) -> usize;
    /// When the request is answered that is begun now.
    fn finish_us(&mut self, request: &ReadRequest, now_us: f64) -> f64;
}

/// No moving parts: each request takes a while, and there are limits to how many there are in a
/// second, and how many bytes.
struct Flash {
    latency_us: f64,
    interval_us: f64,
    bytes_per_us: f64,
    next_start_us: f64,
    transferred_us: f64,
}

impl Flash {
    fn new(latency_us: f64, requests_per_s: f64, bytes_per_us: f64) -> Flash {
        let interval_us = 1e6 / requests_per_s;
        Flash { latency_us, interval_us, bytes_per_us, next_start_us: 0.0, transferred_us: 0.0 }
    }
}

impl Device for Flash {
    fn choose(&self, _: &[ReadRequest]) -> usize {
        0
    }

    fn finish_us(&mut self, request: &ReadRequest, now_us: f64) -> f64 {
        let start_us = self.next_start_us.max(now_us);
        self.next_start_us = start_us + self.interval_us;
        let transfer_us = f64::from(request.bytes) / self.bytes_per_us;
        self.transferred_us = self.transferred_us.max(now_us) + transfer_us;
        self.transferred_us.max(start_us) + self.latency_us
    }
}

/// 7,200 turns a minute.
const TURN_US: f64 = 60e6 / 7_200.0;
const DISK_BYTES_PER_US: f64 = 150.0;
const TRACK_BYTES: f64 = TURN_US * DISK_BYTES_PER_US;
/// To the next track.
const SHORTEST_SEEK_US: f64 = 500.0;
/// From one end to the other. In the mean of all pairs of places a seek takes 7.7 ms.
const LONGEST_SEEK_US: f64 = 14_000.0;
/// What a drive reads on by itself, into its own memory.
const OWN_READ_AHEAD_BYTES: u64 = 512 << 10;
/// Of the bus and the drive's processor, for each request.
const COMMAND_US: f64 = 50.0;

/// One arm over a turning disk.
struct Disk {
    size_bytes: u64,
    /// Behind the last byte that was read.
    head: u64,
    free_us: f64,
}

impl Disk {
    fn new(size_bytes: u64) -> Disk {
        Disk { size_bytes: size_bytes.max(1), head: 0, free_us: 0.0 }
    }

    fn seek_us(&self, to: u64) -> f64 {
        let share = self.head.abs_diff(to) as f64 / self.size_bytes as f64;
        SHORTEST_SEEK_US + (LONGEST_SEEK_US - SHORTEST_SEEK_US) * share.min(1.0).sqrt()
    }

    /// Until the place is below the head.
    fn turn_us(at_us: f64, to: u64) -> f64 {
        let below = at_us * DISK_BYTES_PER_US % TRACK_BYTES;
        (to as f64 - below).rem_euclid(TRACK_BYTES) / DISK_BYTES_PER_US
    }
}

impl Device for Disk {
    /// C-LOOK: the next in the direction of the arm, which returns to the first when there is none.
    fn choose(&self, waiting: &[ReadRequest]) -> usize {
        let places = || waiting.iter().enumerate().map(|(at, request)| (request.offset, at));
        let ahead = places().filter(|(offset, _)| *offset >= self.head).min();
        ahead.or_else(|| places().min()).map_or(0, |(_, at)| at)
    }

    fn finish_us(&mut self, request: &ReadRequest, now_us: f64) -> f64 {
        let begin_us = self.free_us.max(now_us);
        let gap = request.offset.checked_sub(self.head);
        let arrived_us = match gap.filter(|gap| *gap <= OWN_READ_AHEAD_BYTES) {
            Some(gap) => begin_us + gap as f64 / DISK_BYTES_PER_US,
            None => {
                let sought_us = begin_us + self.seek_us(request.offset);
                sought_us + Disk::turn_us(sought_us, request.offset)
            }
        };
        self.head = request.offset + u64::from(request.bytes);
        self.free_us = arrived_us + f64::from(request.bytes) / DISK_BYTES_PER_US + COMMAND_US;
        self.free_us
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u32 = 4096;
    const SIZE: u64 = 4 << 30;

    fn at(offset: u64, bytes: u32) -> ReadRequest {
        ReadRequest { unique: 0, offset, bytes }
    }

    /// All asked for at time 0; when the last is answered.
    fn together_us(model: DeviceModel, count: u64, bytes: u32) -> f64 {
        let mut device = model.device(SIZE);
        let finish = |index| device.finish_us(&at(index * u64::from(bytes), bytes), 0.0);
        (0..count).map(finish).fold(0.0, f64::max)
    }

    #[test]
    fn one_page_takes_the_latency_and_its_transfer() {
        let us = |model: DeviceModel| model.device(SIZE).finish_us(&at(0, PAGE), 1e6) - 1e6;
        assert!((us(DeviceModel::Ebs) - (600.0 + 4096.0 / 125.0)).abs() < 1e-6);
        assert!((us(DeviceModel::Emmc) - (180.0 + 4096.0 / 250.0)).abs() < 1e-6);
    }

    #[test]
    fn many_pages_take_the_rate_of_requests_and_large_ones_that_of_bytes() {
        let pages = together_us(DeviceModel::Ebs, 3_001, PAGE);
        assert!((pages / 1e6 - 1.0).abs() < 0.01, "{pages}");
        let megabytes = together_us(DeviceModel::Ebs, 125, 1_000_000);
        assert!((megabytes / 1e6 - 1.0).abs() < 0.01, "{megabytes}");
    }

    #[test]
    fn a_disk_reads_on_at_full_rate_and_seeks_otherwise() {
        let on = together_us(DeviceModel::Hdd, 150, 1_000_000);
        assert!((on / 1e6 - 1.0).abs() < 0.03, "{on}");
        // Places all over the disk: an average seek of 7.7 ms and half a turn of 4.2 ms.
        let mut disk = Disk::new(SIZE);
        let mut now = 0.0;
        for step in 1..=1_000_u64 {
            let place = step.wrapping_mul(0x9E37_79B9_7F4A_7C15) % SIZE;
            now = disk.finish_us(&at(place, PAGE), now);
        }
        assert!((11.0..13.0).contains(&(now / 1e6)), "{now}");
    }

    #[test]
    fn the_arm_sweeps_upwards_and_returns() {
        let mut disk = Disk::new(SIZE);
        disk.finish_us(&at(50_000, PAGE), 0.0);
        let waiting = [at(10_000, PAGE), at(90_000, PAGE), at(60_000, PAGE), at(20_000, PAGE)];
        assert_eq!(disk.choose(&waiting), 2);
        assert_eq!(disk.choose(&[waiting[3], waiting[0]]), 1);
        assert_eq!(DeviceModel::Ebs.device(SIZE).choose(&waiting), 0);
    }

    #[test]
    fn a_place_passes_below_the_head_once_a_turn() {
        assert_eq!(Disk::turn_us(0.0, 0), 0.0);
        assert!((Disk::turn_us(1.0, 0) - (TURN_US - 1.0)).abs() < 1e-6);
        assert!((Disk::turn_us(0.0, 150_000) - 1_000.0).abs() < 1e-6);
    }
}

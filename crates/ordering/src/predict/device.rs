//! What reads cost on a device: storage by its latency, its throughput and, for disks, the way of
//! the heads.

use super::{MediaRead, Replay};
use std::time::Duration;

/// A kind of storage that a cost can be predicted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Device {
    /// A solid-state disk behind PCI Express.
    Nvme,
    /// A solid-state disk behind SATA.
    Ssd,
    /// A network volume of a cloud, of the kind of EBS gp3.
    Ebs,
    /// Soldered flash memory of phones, small boards and cheap laptops.
    Emmc,
    /// A disk with 7,200 turns a minute.
    Hdd,
}

impl Device {
    /// All of them, the fastest first.
    pub const ALL: [Device; 5] =
        [Device::Nvme, Device::Ssd, Device::Emmc, Device::Ebs, Device::Hdd];

    /// Its name, as users write it.
    pub fn name(self) -> &'static str {
        match self {
            Device::Nvme => "nvme",
            Device::Ssd => "ssd",
            Device::Ebs => "ebs",
            Device::Emmc => "emmc",
            Device::Hdd => "hdd",
        }
    }

    /// Typical figures of such a device, for one read at a time: a launch waits for each page that
    /// it misses before it can miss the next.
    pub fn profile(self) -> DeviceProfile {
        // A fault enters the kernel, maps up to 16 pages and returns.
        let fault = Duration::from_nanos(700);
        let flash = |read_us, mb_per_s: u32| DeviceProfile {
            read: Duration::from_micros(read_us),
            bytes_per_second: f64::from(mb_per_s) * 1e6,
            fault,
            seek: None,
        };
        match self {
            // TLC flash senses a page in about 60 µs; controller, bus and interrupt add 20. Four
            // lanes of PCI Express 3 carry 3.5 GB/s, of which single reads of 128 KiB see less.
            Device::Nvme => flash(80, 2_500),
            // The same flash, behind a command queue of SATA and its 6 Gbit/s.
            Device::Ssd => flash(120, 500),
            // Amazon states single-digit milliseconds and 125 MiB/s to begin with; single reads
            // are commonly seen at 0.5 to 1 ms.
            Device::Ebs => flash(700, 131),
            // 4,000 to 7,000 random reads a second, one at a time; HS400 carries 400 MB/s, cheap
            // chips give 150.
            Device::Emmc => flash(200, 150),
            // Half a turn is 4.17 ms. The arm needs 0.8 ms to the next track and 8.5 ms on
            // average, at a third of the way across 1 TB; it grows with the root of the way.
            Device::Hdd => DeviceProfile {
                read: Duration::from_micros(100),
                bytes_per_second: 150e6,
                fault,
                seek: Some(Seek {
                    half_turn: Duration::from_micros(4_170),
                    next_track: Duration::from_micros(800),
                    average: Duration::from_micros(8_500),
                    capacity: 1e12,
                }),
            },
        }
    }
}

/// The figures of a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceProfile {
    /// From the request to the first byte, without the way of the heads.
    pub read: Duration,
    /// Throughput of one read.
    pub bytes_per_second: f64,
    /// What a page fault costs that finds its page in memory.
    pub fault: Duration,
    /// The way of the heads, where there are any.
    pub seek: Option<Seek>,
}

/// How long the heads of a disk need to get somewhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seek {
    /// Until the place passes by, on average.
    pub half_turn: Duration,
    /// To the next track.
    pub next_track: Duration,
    /// A third of the way across the disk.
    pub average: Duration,
    /// Bytes of the disk.
    pub capacity: f64,
}

/// What the reads and faults of a launch cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReadCost {
    /// Waiting for reads to begin, with the way of the heads.
    pub latency: Duration,
    /// Waiting for their bytes.
    pub transfer: Duration,
    /// Handling faults.
    pub faults: Duration,
}

impl ReadCost {
    /// All of it.
    pub fn total(&self) -> Duration {
        self.latency + self.transfer + self.faults
    }
}

/// A replay, and how much it counts among others.
#[derive(Clone, Copy, Debug)]
pub struct WeightedReplay<'a> {
    /// The reads and faults of one run.
    pub replay: &'a Replay,
    /// Its weight; a weight that is no number, or not above zero, leaves it out.
    pub weight: f64,
}

impl DeviceProfile {
    /// What these reads and faults cost.
    pub fn cost(&self, replay: &Replay) -> ReadCost {
        let seeks: Duration = replay.reads.iter().map(|read| self.way(read)).sum();
        let seconds = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        let times = |each: Duration, count: u64| seconds(each.as_secs_f64() * count as f64);
        ReadCost {
            latency: times(self.read, replay.reads.len() as u64) + seeks,
            transfer: seconds(replay.bytes() as f64 / self.bytes_per_second.max(1.0)),
            faults: times(self.fault, replay.faults),
        }
    }

    /// Until the heads are where the read begins. A little further on, waiting while the disk turns
    /// there is shorter than moving.
    fn way(&self, read: &MediaRead) -> Duration {
        let Some(seek) = self.seek else { return Duration::ZERO };
        let moving = seek.duration(read.distance);
        let passing = read.distance as f64 / self.bytes_per_second.max(1.0);
        match Duration::try_from_secs_f64(passing) {
            Ok(passing) if read.is_forward => moving.min(passing),
            _ => moving,
        }
    }
}

impl Seek {
    /// Moving so many bytes further, and the turn.
    fn duration(&self, distance: u64) -> Duration {
        let part = (3.0 * distance as f64 / self.capacity.max(1.0)).sqrt().min(2.0);
        let beyond = self.average.saturating_sub(self.next_track);
        self.half_turn + self.next_track + beyond.mul_f64(part)
    }
}

/// What a launch costs, on average over the runs by their weights; `None` where none counts.
pub fn expected_cost(profile: &DeviceProfile, runs: &[WeightedReplay<'_>]) -> Option<Duration> {
    let counting = || runs.iter().filter(|run| run.weight.is_finite() && run.weight > 0.0);
    let weights: f64 = counting().map(|run| run.weight).sum();
    let costs = counting().map(|run| run.weight * profile.cost(run.replay).total().as_secs_f64());
    let mean = costs.sum::<f64>() / weights;
    Duration::try_from_secs_f64(mean).ok()
}

//! How programs are launched, and with what before them.

use super::bed::{Bed, Place};
use super::tasks::Task;
use crate::cold_lab::{Medium, run};
use crate::slow_device::DeviceModel;
use anyhow::Result;

/// How a program is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// Alone, with nothing in memory.
    Cold,
    /// Alone, again.
    Warm,
    /// By a launcher of `prefetch install`, with nothing in memory.
    Prefetched,
    /// By `headstart prefetch` itself, as it is typed, with nothing in memory.
    Typed,
    /// As a bundle that reads itself ahead, with nothing in memory.
    Bundled,
    /// The same with fixed addresses.
    BundledFixed,
    /// Once all files are in memory that vmtouch has been told of.
    Touched,
    /// Once ureadahead has read its pack, made for flash memory or for a disk.
    Packed(PackMode),
}

/// The two modes of ureadahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PackMode {
    Flash,
    Disk,
}

impl Bed<'_> {
    /// Words of a launch with all that comes before the program.
    pub fn words(&self, task: &Task, way: Way) -> Vec<String> {
        let with = |before: &[&str]| {
            let mut words: Vec<String> = before.iter().map(|word| (*word).to_owned()).collect();
            words.extend(self.program_words(task));
            words
        };
        let touch = "xargs -d '\\n' -a \"$0\" vmtouch -tqf; exec \"$@\"";
        let pack = "\"$1\" \"$2\" --pack-file=\"$0\"; shift 2; exec \"$@\"";
        match way {
            Way::Cold | Way::Warm => with(&[]),
            Way::Prefetched => vec![self.launcher_of(task, self.disk())],
            Way::Typed => {
                let (headstart, record) = (self.headstart(), self.record_of(task));
                with(&[&headstart, "prefetch", "--disk", self.disk(), "--record", &record, "--"])
            }
            Way::Bundled | Way::BundledFixed => {
                let mut words = self.program_words(task);
                words[0] = format!("{}/run", self.bundle_of(task, way));
                words
            }
            Way::Touched => with(&["sh", "-c", touch, &self.list_of(task)]),
            Way::Packed(mode) => {
                let tool = super::peers::ureadahead().unwrap_or_default();
                with(&["sh", "-c", pack, &self.pack_of(task, mode), &tool, mode.option()])
            }
        }
    }

    /// Recordings are made on this disk, so they do not show the modeled one.
    fn disk(&self) -> &'static str {
        match self.place {
            Place::Lab(Medium::Modeled(DeviceModel::Hdd)) => "hdd",
            Place::Lab(Medium::Modeled(_)) => "slow-flash",
            _ => "flash",
        }
    }

    /// Its launcher for such a disk.
    pub fn launcher_of(&self, task: &Task, disk: &str) -> String {
        self.kept(format!("{}-{disk}", task.name))
    }

    /// Its bundle.
    pub fn bundle_of(&self, task: &Task, way: Way) -> String {
        self.kept(format!("{}-{way:?}", task.name))
    }

    /// Its files, for vmtouch.
    pub fn list_of(&self, task: &Task) -> String {
        self.kept(format!("{}.list", task.name))
    }

    /// ureadahead's pack of it.
    pub fn pack_of(&self, task: &Task, mode: PackMode) -> String {
        self.kept(format!("{}-{mode:?}.pack", task.name))
    }

    /// Writes its launcher for such a disk.
    ///
    /// # Errors
    /// headstart refuses.
    pub fn install(&self, task: &Task, disk: &str) -> Result<()> {
        let (headstart, at) = (self.headstart(), self.launcher_of(task, disk));
        let record = self.record_of(task);
        let words = ["prefetch", "install", "--disk", disk, "--record", &record, "--to", &at, "--"];
        let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        words.insert(0, headstart);
        words.extend(self.program_words(task));
        run(&mut self.command(&words)).map(|_| ())
    }
}

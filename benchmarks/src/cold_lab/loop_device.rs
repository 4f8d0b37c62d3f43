//! A loop device with direct I/O, under one number, so that the files on it have the same identity
//! each time it is attached.

use super::image::run;
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Low numbers are what `mount -o loop` takes.
const FIRST_NUMBER: u32 = 64;
const NUMBERS: u32 = 64;
/// Major number of all loop devices.
const MAJOR: u32 = 7;
const DETACHED_WITHIN: Duration = Duration::from_secs(10);

/// A number, attached or not.
pub struct LoopDevice {
    number: u32,
}

impl LoopDevice {
    /// A number that is free.
    ///
    /// # Errors
    /// None is.
    pub fn free() -> Result<LoopDevice> {
        let mut numbers = FIRST_NUMBER..FIRST_NUMBER + NUMBERS;
        let number = numbers.find(|number| !LoopDevice { number: *number }.is_attached());
        Ok(LoopDevice { number: number.context("no free loop device")? })
    }

    /// Its file.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/dev/loop{}", self.number))
    }

    /// As the kernel prints the numbers of devices in traces.
    pub fn major_minor(&self) -> (u32, u32) {
        (MAJOR, self.number)
    }

    /// Says whether what is below turns, for programs that ask.
    ///
    /// # Errors
    /// It is not attached.
    pub fn set_rotational(&self, is_rotational: bool) -> Result<()> {
        let setting = format!("/sys/block/loop{}/queue/rotational", self.number);
        let value = if is_rotational { "1" } else { "0" };
        fs::write(&setting, value).with_context(|| format!("{setting} cannot be set"))
    }

    /// Reads and bytes since it was attached, as the kernel counts them
    /// (Documentation/block/stat.rst).
    ///
    /// # Errors
    /// It was never attached.
    pub fn read_so_far(&self) -> Result<(u64, u64)> {
        let file = format!("/sys/block/loop{}/stat", self.number);
        let text = fs::read_to_string(&file).with_context(|| file.clone())?;
        let fields: Vec<u64> = text.split_whitespace().flat_map(str::parse).collect();
        let [reads, _, sectors, ..] = fields[..] else { anyhow::bail!("{file} is cut short") };
        Ok((reads, sectors * 512))
    }

    /// Attaches a file.
    ///
    /// # Errors
    /// It is attached, or direct I/O is not possible.
    pub fn attach(&self, file: &Path, is_writable: bool) -> Result<()> {
        ensure!(!self.is_attached(), "{} is taken by somebody else", self.path().display());
        let mut command = Command::new("losetup");
        command.arg("--direct-io=on");
        if !is_writable {
            command.arg("--read-only");
        }
        run(command.arg(self.path()).arg(file)).map(|_| ())
    }

    /// Sets how far the kernel reads ahead.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn set_read_ahead(&self, kib: u32) -> Result<()> {
        let setting = self.read_ahead_setting();
        fs::write(&setting, kib.to_string()).with_context(|| format!("{setting} cannot be set"))
    }

    /// How far the kernel reads ahead.
    ///
    /// # Errors
    /// It is not attached.
    pub fn read_ahead_kib(&self) -> Result<u32> {
        let setting = self.read_ahead_setting();
        let text = fs::read_to_string(&setting).with_context(|| setting.clone())?;
        text.trim().parse().with_context(|| format!("{setting} holds {text:?}"))
    }

    fn read_ahead_setting(&self) -> String {
        format!("/sys/class/bdi/{MAJOR}:{}/read_ahead_kb", self.number)
    }

    /// Has the kernel detach it when nobody uses it any longer, also if this process is killed.
    ///
    /// # Errors
    /// It is not attached.
    pub fn detach_when_unused(&self) -> Result<()> {
        run(Command::new("losetup").arg("--detach").arg(self.path())).map(|_| ())
    }

    /// Waits until it is.
    ///
    /// # Errors
    /// It stays in use.
    pub fn await_detached(&self) -> Result<()> {
        let began = Instant::now();
        while self.is_attached() {
            ensure!(began.elapsed() < DETACHED_WITHIN, "{} stays in use", self.path().display());
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }

    fn is_attached(&self) -> bool {
        Path::new(&format!("/sys/block/loop{}/loop/backing_file", self.number)).exists()
    }
}

/// Detaches those whose files are below `folder`: what a run left that was killed at the moment at
/// which it attached one.
///
/// # Errors
/// losetup cannot be run.
pub fn detach_left(folder: &Path) -> Result<()> {
    let listed = run(Command::new("losetup").args(["--noheadings", "--output", "NAME,BACK-FILE"]))?;
    for line in listed.lines() {
        let Some((device, file)) = line.trim().split_once(char::is_whitespace) else { continue };
        if Path::new(file.trim()).starts_with(folder) {
            run(Command::new("losetup").args(["--detach", device]))?;
        }
    }
    Ok(())
}

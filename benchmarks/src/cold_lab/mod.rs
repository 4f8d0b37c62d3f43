//! A laboratory for cold launches: a small system of its own on a disk of its own, which is mounted
//! anew before each launch. Then nothing of it is in memory, metadata included, and the rest of the
//! machine keeps what it has. docs/cold-lab.md describes it.
//!
//! All mounts are in a mount namespace of this process, so they go when it ends, killed or not; with
//! the last mount goes the loop device, and with that the folder of a modeled device.

mod files;
mod image;
mod loop_device;

use crate::slow_device::{DeviceModel, SlowDevice};
use anyhow::{Context as _, Result, ensure};
pub use image::run;
use loop_device::LoopDevice;
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind_recursive, unmount};
use std::ffi::CStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// What the kernel reads ahead on most machines.
pub const USUAL_READ_AHEAD_KIB: u32 = 128;
const UNMOUNTED_WITHIN: Duration = Duration::from_secs(20);
/// Folders of the machine that the system sees, too.
const SHARED: [&str; 3] = ["proc", "sys", "dev"];
/// Folders that are empty at each launch.
const EMPTY: [&str; 5] = ["tmp", "run", "root", "home", "var/tmp"];
/// Where launches have their home.
pub const HOME: &str = "/tmp/home";
/// A folder of the image for recordings; written to by [`Lab::make_writable`] only.
pub const RECORDS: &str = "/lab/records";
/// headstart in the image.
pub const HEADSTART: &str = "/lab/headstart";

/// The disk below the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// As fast as the disk of this machine.
    Plain,
    /// As slow as the model.
    Modeled(DeviceModel),
}

/// The laboratory. Nothing of it is left when it is dropped, but the image for the next run.
pub struct Lab {
    image: PathBuf,
    folder: PathBuf,
    device: LoopDevice,
    slow: Option<(DeviceModel, SlowDevice)>,
    is_mounted: bool,
}

impl Lab {
    /// Makes the image in `kept`, if it is not there; mounts are below `folder`.
    ///
    /// # Errors
    /// This is not root, or packages are missing.
    pub fn open(kept: &Path, folder: &Path, packages: &[&str]) -> Result<Lab> {
        ensure!(rustix::process::geteuid().is_root(), "only root can mount the laboratory");
        loop_device::detach_left(kept)?;
        let image = image::kept(kept, packages)?;
        fs::create_dir_all(folder.join("root"))?;
        let device = LoopDevice::free()?;
        Ok(Lab { image, folder: folder.to_owned(), device, slow: None, is_mounted: false })
    }

    /// The root of the system, from outside.
    pub fn root(&self) -> PathBuf {
        self.folder.join("root")
    }

    /// Major and minor number of its disk.
    pub fn major_minor(&self) -> (u32, u32) {
        self.device.major_minor()
    }

    /// Reads and bytes of its disk so far.
    ///
    /// # Errors
    /// It is not mounted.
    pub fn read_so_far(&self) -> Result<(u64, u64)> {
        self.device.read_so_far()
    }

    /// Puts the system on another disk. It is not mounted then.
    ///
    /// # Errors
    /// It is in use, or the modeled device cannot be started.
    pub fn put_on(&mut self, medium: Medium) -> Result<()> {
        self.unmount()?;
        self.slow = None;
        if let Medium::Modeled(model) = medium {
            let folder = self.folder.join(model.name());
            self.slow = Some((model, SlowDevice::start(model, &self.image, &folder)?));
        }
        Ok(())
    }

    /// Mounts it anew: nothing of it is in memory.
    ///
    /// # Errors
    /// It is in use.
    pub fn make_cold(&mut self, read_ahead_kib: u32) -> Result<()> {
        self.mount(false, read_ahead_kib)
    }

    /// The same for changes to the image.
    ///
    /// # Errors
    /// It is in use, or on a modeled device.
    pub fn make_writable(&mut self) -> Result<()> {
        ensure!(self.slow.is_none(), "a modeled device cannot be written to");
        self.mount(true, USUAL_READ_AHEAD_KIB)
    }

    fn mount(&mut self, is_writable: bool, read_ahead_kib: u32) -> Result<()> {
        self.unmount()?;
        let file = self.slow.as_ref().map_or(self.image.clone(), |(_, device)| device.file());
        self.device.attach(&file, is_writable)?;
        if let Some((model, _)) = self.slow {
            self.device.set_rotational(model == DeviceModel::Hdd)?;
        }
        // Last, because the kernel chooses read-ahead anew with every other setting of a queue.
        self.device.set_read_ahead(read_ahead_kib)?;
        let root = self.root();
        let (flags, options) = match is_writable {
            true => (MountFlags::NOATIME, c""),
            false => (MountFlags::RDONLY, c"noload"),
        };
        let mounted = mount(self.device.path(), &root, "ext4", flags, options);
        self.device.detach_when_unused()?;
        mounted.with_context(|| format!("{} cannot be mounted", self.image.display()))?;
        self.is_mounted = true;
        let kib = self.device.read_ahead_kib()?;
        ensure!(kib == read_ahead_kib, "the kernel reads {kib} KiB ahead, not {read_ahead_kib}");
        for name in SHARED {
            mount_bind_recursive(Path::new("/").join(name), root.join(name))?;
        }
        self.empty_home()
    }

    /// Sets how far the kernel reads ahead on its disk, until it is mounted anew.
    ///
    /// # Errors
    /// It is not mounted.
    pub fn set_read_ahead(&self, kib: u32) -> Result<()> {
        self.device.set_read_ahead(kib)
    }

    /// Has the system forget what launches have written.
    ///
    /// # Errors
    /// It is not mounted.
    pub fn empty_home(&self) -> Result<()> {
        let root = self.root();
        for name in EMPTY {
            let place = root.join(name);
            let _ = unmount(&place, UnmountFlags::DETACH);
            let none: Option<&CStr> = None;
            mount("lab", &place, "tmpfs", MountFlags::empty(), none)?;
        }
        let home = root.join(HOME.trim_start_matches('/'));
        fs::create_dir_all(&home)?;
        let everyone = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        fs::set_permissions(home, everyone)?;
        Ok(())
    }

    /// A command of the system, started in its home.
    pub fn command(&self, words: &[&str]) -> Command {
        self.command_of(words, None)
    }

    /// The same for a user.
    pub fn command_of(&self, words: &[&str], user: Option<&str>) -> Command {
        let mut command = Command::new("/usr/sbin/chroot");
        command.args(user.map(|user| format!("--userspec={user}")));
        command.arg(self.root()).args(words);
        command.env_clear().env("HOME", HOME).env("PATH", "/usr/bin:/usr/sbin:/bin:/sbin");
        command
    }

    /// Unmounts the system; its disk is detached.
    ///
    /// # Errors
    /// A process of it still runs.
    pub fn unmount(&mut self) -> Result<()> {
        if !self.is_mounted {
            return Ok(());
        }
        let root = self.root();
        for name in SHARED.iter().chain(&EMPTY) {
            let _ = unmount(root.join(name), UnmountFlags::DETACH);
        }
        let began = Instant::now();
        // Processes that a launch has left may take a moment to end.
        while let Err(error) = unmount(&root, UnmountFlags::empty()) {
            let is_late = began.elapsed() > UNMOUNTED_WITHIN;
            ensure!(error == Errno::BUSY && !is_late, "{}: {error}", root.display());
            std::thread::sleep(Duration::from_millis(5));
        }
        self.is_mounted = false;
        self.device.await_detached()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        if self.unmount().is_err() {
            let _ = unmount(self.root(), UnmountFlags::DETACH);
        }
    }
}

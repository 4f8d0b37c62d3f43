//! A block device that is as slow as another kind of device, for cold launches. docs/cold-lab.md
//! describes the models.
//!
//! A process serves a FUSE folder with one file, and a loop device with direct I/O stands on that
//! file. What the kernel can do by itself is not enough: throttling of groups (`io.max`) limits
//! requests and bytes per second, but each still takes as long as on the real disk, and a disk with
//! an arm is no limit at all; `dm-delay` and `null_blk` are not in every kernel.

mod fuse;
mod model;
mod serve;

use anyhow::{Context as _, Result, bail, ensure};
pub use model::DeviceModel;
use rustix::mount::{UnmountFlags, unmount};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The word with which this program starts itself as a device.
pub const COMMAND: &str = "slow-device";

/// A device that is being served; it ends when this is dropped, or nobody has its folder mounted.
pub struct SlowDevice {
    server: Child,
    folder: PathBuf,
}

impl SlowDevice {
    /// Serves the bytes of `image` below `folder`.
    ///
    /// # Errors
    /// The device's own message.
    pub fn start(model: DeviceModel, image: &Path, folder: &Path) -> Result<SlowDevice> {
        std::fs::create_dir_all(folder)?;
        let kernel = serve::mounted(folder)?;
        let mut command = Command::new("unshare");
        command.args(["--mount", "--propagation", "private"]).arg(std::env::current_exe()?);
        command.args([COMMAND, model.name()]).arg(image).arg(folder);
        command.stdin(kernel).stdout(Stdio::piped());
        let mut server = command.spawn().context("the modeled device cannot be started")?;
        let stdout = server.stdout.take().context("a device without output")?;
        let device = SlowDevice { server, folder: folder.to_owned() };
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        ensure!(line.trim() == serve::READY, "the modeled device has not started");
        Ok(device)
    }

    /// The file that is as slow as the device.
    pub fn file(&self) -> PathBuf {
        self.folder.join(fuse::NAME)
    }
}

impl Drop for SlowDevice {
    fn drop(&mut self) {
        // By force: reads that are under way end with errors, rather than never.
        let _ = unmount(&self.folder, UnmountFlags::FORCE | UnmountFlags::DETACH);
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The process of a device: model, image, folder.
///
/// # Errors
/// As [`serve::serve`].
pub fn run(words: &[&str]) -> Result<bool> {
    let [name, image, folder] = words else {
        bail!("{COMMAND} takes a model, an image and a folder");
    };
    let known = DeviceModel::ALL.into_iter().find(|model| model.name() == *name);
    let model = known.with_context(|| format!("there is no model '{name}'"))?;
    serve::serve(model, Path::new(image), Path::new(folder))?;
    Ok(true)
}

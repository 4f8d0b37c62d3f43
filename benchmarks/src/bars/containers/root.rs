//! A root file system of Debian, and running programs in it.

use super::{Bench, done};
use anyhow::{Context as _, Result};
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, unmount};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const MIRROR: &str = "http://deb.debian.org/debian";
/// Where headstart is in every root.
pub const HEADSTART: &str = "/usr/local/bin/headstart";
const MOUNTS: [&str; 3] = ["proc", "tmp", "dev"];

/// A root into which one may change.
#[derive(Clone)]
pub struct Root {
    pub path: PathBuf,
}

/// The kept root of a release of Debian with these packages; made where there is none yet.
///
/// # Errors
/// debootstrap fails.
pub fn kept(bench: &Bench, release: &str, packages: &[&str]) -> Result<PathBuf> {
    let root = bench.kept.join(release);
    if root.exists() {
        return Ok(root);
    }
    let part = bench.kept.join(format!("{release}.part"));
    let _ = std::fs::remove_dir_all(&part);
    println!("A root of {release} is made in {}, which takes some minutes.", root.display());
    done(Command::new("debootstrap").args(["--variant=minbase", release]).arg(&part).arg(MIRROR))?;
    if !packages.is_empty() {
        let mut install = Root { path: part.clone() }.command("apt-get");
        install.args(["install", "-y", "--no-install-recommends"]).args(packages);
        done(install.env("DEBIAN_FRONTEND", "noninteractive"))?;
    }
    std::fs::rename(&part, &root)?;
    Ok(root)
}

impl Root {
    /// With what programs expect, and headstart.
    ///
    /// # Errors
    /// Nothing can be mounted, or copied.
    pub fn opened(path: PathBuf, headstart: &Path) -> Result<Root> {
        let target = path.join(HEADSTART.trim_start_matches('/'));
        if !target.exists() {
            std::fs::create_dir_all(target.parent().unwrap_or(&path))?;
            std::fs::copy(headstart, target).context("headstart cannot be copied")?;
        }
        let root = Root { path };
        root.mount()?;
        Ok(root)
    }

    /// # Errors
    /// Nothing can be mounted.
    pub fn mount(&self) -> Result<()> {
        let none = MountFlags::empty();
        let at = |name: &str| self.path.join(name);
        mount("proc", at("proc"), "proc", none, None).context("/proc cannot be mounted")?;
        mount("tmpfs", at("tmp"), "tmpfs", none, None).context("/tmp cannot be mounted")?;
        mount_bind("/dev", at("dev")).context("/dev cannot be mounted")
    }

    pub fn unmount(&self) {
        for name in MOUNTS {
            let _ = unmount(self.path.join(name), UnmountFlags::DETACH);
        }
    }

    /// A program in the root, with a plain environment.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new("chroot");
        command.arg(&self.path).arg(program).env_clear().stdin(Stdio::null());
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
        command.env("HOME", "/tmp").env("XDG_CACHE_HOME", "/tmp").env("LC_ALL", "C");
        command
    }

    /// The same with these words, run.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn output(&self, words: &[&str]) -> Result<Output> {
        let (program, arguments) = words.split_first().context("no words")?;
        let mut command = self.command(program);
        command.args(arguments).output().with_context(|| format!("{words:?} cannot be run"))
    }

    /// The same, which has to succeed; what it prints.
    ///
    /// # Errors
    /// It fails.
    pub fn run(&self, words: &[&str]) -> Result<String> {
        let (program, arguments) = words.split_first().context("no words")?;
        let mut command = self.command(program);
        command.args(arguments);
        let output = command.output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        anyhow::ensure!(output.status.success(), "{words:?}, {}: {said}", output.status);
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// Unmounts all that is mounted below a folder, so that removing it removes nothing of others.
pub fn leave(folder: &Path) {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(1)).map(Path::new);
    let below: Vec<&Path> = points.filter(|point| point.starts_with(folder)).collect();
    for point in below.iter().rev() {
        let _ = unmount(*point, UnmountFlags::DETACH);
    }
}

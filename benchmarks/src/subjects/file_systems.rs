//! File systems in files, mounted for a check and unmounted after it.

use crate::context::Context;
use crate::report::Row;
use anyhow::{Context as _, Result, bail, ensure};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

const EXT4_BYTES: u64 = 64 << 20;
/// The least that mkfs.btrfs takes is 109 MiB.
const BTRFS_BYTES: u64 = 256 << 20;

/// A mounted file system; unmounted when dropped.
pub struct Mounted {
    /// A folder on it.
    pub place: PathBuf,
}

impl Mounted {
    /// All that can be mounted here, and a row for each that cannot.
    pub fn all(context: &Context) -> (Vec<Mounted>, Vec<Row>) {
        type Mount = fn(&Context, &Path) -> Result<()>;
        let kinds: [(&str, Mount); 5] = [
            ("ext4", ext4),
            ("tmpfs", tmpfs),
            ("overlay", overlay),
            ("squashfs", squashfs),
            ("btrfs", btrfs),
        ];
        let (mut mounted, mut rows) = (Vec::new(), Vec::new());
        for (kind, mount) in kinds {
            let place = context.scratch.join(format!("mounted-{kind}"));
            let made = fs::create_dir_all(&place).map_err(Into::into);
            match made.and_then(|()| mount(context, &place)) {
                Ok(()) => mounted.push(Mounted { place }),
                Err(error) => {
                    rows.push(Row::shown(format!("{kind} left out"), format!("{error:#}")))
                }
            }
        }
        (mounted, rows)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // A mount that stays busy is at least out of the way.
        let _ = Command::new("umount").arg("--lazy").arg(&self.place).status();
    }
}

fn ext4(context: &Context, place: &Path) -> Result<()> {
    let image = image(context, "ext4", EXT4_BYTES)?;
    run(Command::new("mkfs.ext4").arg("-q").arg(&image))?;
    run(Command::new("mount").args(["-o", "loop"]).arg(&image).arg(place))
}

fn tmpfs(_: &Context, place: &Path) -> Result<()> {
    run(Command::new("mount").args(["-t", "tmpfs", "tmpfs"]).arg(place))
}

/// Files that are launched lie on the upper layer, as those that a container wrote.
fn overlay(context: &Context, place: &Path) -> Result<()> {
    let mut options = Vec::new();
    for layer in ["lowerdir", "upperdir", "workdir"] {
        let folder = context.scratch.join(layer);
        fs::create_dir_all(&folder)?;
        options.push(format!("{layer}={}", folder.display()));
    }
    let options = options.join(",");
    run(Command::new("mount").args(["-t", "overlay", "overlay", "-o", &options]).arg(place))
}

fn squashfs(context: &Context, place: &Path) -> Result<()> {
    let (folder, image) = (context.scratch.join("to-squash"), context.scratch.join("squashfs"));
    let prepared = folder.display().to_string();
    context.headstart.run(&["experiment", "pietrek", "--generate", &prepared])?;
    run(Command::new("mksquashfs").arg(&folder).arg(&image).args(["-quiet", "-no-progress"]))?;
    run(Command::new("mount").args(["-o", "loop,ro"]).arg(&image).arg(place))
}

fn btrfs(context: &Context, place: &Path) -> Result<()> {
    let image = image(context, "btrfs", BTRFS_BYTES)?;
    run(Command::new("mkfs.btrfs").arg("-q").arg(&image))?;
    run(Command::new("mount").args(["-o", "loop,compress-force=zstd"]).arg(&image).arg(place))
}

fn image(context: &Context, name: &str, bytes: u64) -> Result<PathBuf> {
    let image = context.scratch.join(name);
    File::create(&image)?.set_len(bytes)?;
    Ok(image)
}

fn run(command: &mut Command) -> Result<()> {
    ensure!(rustix::process::geteuid().is_root(), "only root can mount");
    let output = command.output().with_context(|| format!("{command:?} cannot be run"))?;
    if !output.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

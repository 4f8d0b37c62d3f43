//! File systems in files, mounted for a check and unmounted after it.

use crate::context::Context;
use crate::report::Row;
use anyhow::{Context as _, Result, bail, ensure};
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const EXT4_BYTES: u64 = 64 << 20;
/// The least that mkfs.btrfs takes is 109 MiB.
const BTRFS_BYTES: u64 = 256 << 20;

/// The kernel's default.
const USUAL_READ_AHEAD_KIB: u32 = 128;

/// A mounted file system; unmounted when dropped.
pub struct Mounted {
    /// A folder on it.
    pub place: PathBuf,
}

impl Mounted {
    /// A disk for cold launches: ext4 on a loop device of its own, which the kernel reads ahead as
    /// on most machines, whatever the machine's own disks do. What lies below keeps nothing in memory.
    ///
    /// # Errors
    /// Only root can mount.
    pub fn cold_disk(context: &Context, bytes: u64) -> Result<Mounted> {
        let place = context.scratch.join("cold-disk");
        fs::create_dir_all(&place)?;
        let image = context.scratch.join("cold-disk.ext4");
        File::create(&image)?.set_len(bytes)?;
        run(Command::new("mkfs.ext4").arg("-q").arg(&image))?;
        run(Command::new("mount").args(["-o", "loop"]).arg(&image).arg(&place))?;
        let mounted = Mounted { place };
        let number = fs::metadata(&mounted.place)?.dev();
        let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
        let device = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}"))?;
        let name = device.file_name().context("a device without a name")?;
        let device = Path::new("/dev").join(name);
        run(Command::new("losetup").arg("--direct-io=on").arg(device))?;
        let read_ahead = format!("/sys/class/bdi/{major}:{minor}/read_ahead_kb");
        fs::write(&read_ahead, USUAL_READ_AHEAD_KIB.to_string())
            .with_context(|| format!("{read_ahead} cannot be set"))?;
        Ok(mounted)
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headstart::Headstart;

    #[test]
    fn a_cold_disk_reads_ahead_as_most_machines_do() {
        if !rustix::process::geteuid().is_root() {
            return testkit::skip("only root can mount");
        }
        let folder = tempfile::tempdir().unwrap();
        let scratch = folder.path().to_owned();
        let headstart = Headstart {
            program: scratch.join("none"),
            scratch: scratch.clone(),
            as_nobody: false,
            empty_environment: false,
            environment: Vec::new(),
        };
        let context = Context { headstart, scratch, cpu: 0 };
        let disk = match Mounted::cold_disk(&context, EXT4_BYTES) {
            Ok(disk) => disk,
            Err(error) => return testkit::skip(&format!("no loop device: {error:#}")),
        };
        let found = os::host::read_ahead_kib(&disk.place);
        assert_eq!(found.get(), Some(u64::from(USUAL_READ_AHEAD_KIB)), "{found:?}");
        assert_eq!(os::host::file_system(&disk.place).unwrap(), "ext4");
    }
}

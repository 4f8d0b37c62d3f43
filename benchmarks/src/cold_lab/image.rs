//! The image of the laboratory's disk: an ext4 file system in a file, kept from run to run as long as
//! the files that it is to hold are the same.

use super::files;
use anyhow::{Context as _, Result, ensure};
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Room beside the files, for recordings and metadata.
const SPARE_BYTES: u64 = 768 << 20;

/// A folder's image, made if it is not there or holds other files.
///
/// # Errors
/// Files are missing, the disk is full, or it cannot be mounted: only root can.
pub fn kept(folder: &Path, packages: &[&str]) -> Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let (image, list) = (folder.join("image.ext4"), folder.join("files.txt"));
    let paths = files::of_packages(packages)?;
    let (text, bytes) = described(&paths);
    if image.exists() && fs::read_to_string(&list).is_ok_and(|old| old == text) {
        return Ok(image);
    }
    eprintln!("making an image of {} files, {} MiB", paths.len(), bytes >> 20);
    let unfinished = folder.join("image.unfinished");
    let _ = fs::remove_file(&list);
    File::create(&unfinished)?.set_len(bytes + bytes / 8 + SPARE_BYTES)?;
    run(Command::new("mkfs.ext4").args(["-q", "-F", "-m", "0"]).arg(&unfinished))?;
    let place = folder.join("filling");
    fs::create_dir_all(&place)?;
    run(Command::new("mount").args(["-o", "loop"]).arg(&unfinished).arg(&place))?;
    let filled = fill(&paths, &place);
    run(Command::new("umount").arg(&place))?;
    filled?;
    fs::rename(&unfinished, &image)?;
    fs::write(&list, text)?;
    Ok(image)
}

/// What tells whether the files are the same, and the bytes of all.
fn described(paths: &[PathBuf]) -> (String, u64) {
    let (mut text, mut bytes) = (String::new(), 0);
    for path in paths {
        let Ok(metadata) = fs::symlink_metadata(path) else { continue };
        if metadata.is_file() {
            bytes += metadata.len().next_multiple_of(4096);
            text.push_str(&format!("{} {} ", metadata.len(), metadata.mtime()));
        }
        text.push_str(&format!("{}\n", path.display()));
    }
    (text, bytes)
}

fn fill(paths: &[PathBuf], place: &Path) -> Result<()> {
    let mut names = Vec::new();
    for path in paths {
        names.extend(path.strip_prefix("/")?.as_os_str().as_encoded_bytes());
        names.push(0);
    }
    let list = place.with_extension("list");
    fs::write(&list, names)?;
    let mut pack = Command::new("tar");
    pack.args(["-C", "/", "--no-recursion", "--null", "-cf", "-", "-T"]).arg(&list);
    let mut pack = pack.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let packed = pack.stdout.take().context("tar has no output")?;
    run(Command::new("tar").arg("-C").arg(place).args(["-xpf", "-"]).stdin(packed))?;
    // 1, 2: a file changed or went away meanwhile.
    let status = pack.wait()?;
    ensure!(matches!(status.code(), Some(0..=2)), "tar failed: {status}");
    fs::remove_file(&list)?;
    for folder in ["proc", "sys", "dev", "tmp", "run", "root", "home", "var/tmp", "lab/records"] {
        fs::create_dir_all(place.join(folder))?;
    }
    Ok(())
}

/// Runs a command that has to succeed.
///
/// # Errors
/// Its messages.
pub fn run(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("{command:?} cannot be run"))?;
    let words = String::from_utf8_lossy(&output.stderr);
    let last = words.trim().lines().next_back().unwrap_or_default();
    ensure!(output.status.success(), "{command:?}: {}: {last}", output.status);
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

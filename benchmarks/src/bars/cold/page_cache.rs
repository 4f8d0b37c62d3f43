//! Pages that enter memory, as the kernel's own trace tells in text: a reference that shares nothing
//! with headstart's recorder.

use anyhow::{Context as _, Result, ensure};
use rustix::mount::{MountFlags, mount};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const TRACEFS: &str = "/sys/kernel/tracing";
const NAME: &str = "headstart-cold-bars";
const EVENT: &str = "events/filemap/mm_filemap_add_to_page_cache";
const BUFFER_KIB: u32 = 32 << 10;

/// An inode and the number of one of its pages.
pub type Page = (u64, u64);

/// A trace of its own; gone when dropped.
pub struct Additions {
    folder: PathBuf,
    device: (u32, u32),
}

impl Additions {
    /// Begins to record for a device.
    ///
    /// # Errors
    /// Only root can.
    pub fn begin(device: (u32, u32)) -> Result<Additions> {
        let instances = Path::new(TRACEFS).join("instances");
        if !instances.exists() {
            // Only this check sees it: it has a mount namespace of its own.
            let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
            mount("tracefs", TRACEFS, "tracefs", flags, None)
                .with_context(|| format!("{TRACEFS} cannot be mounted"))?;
        }
        let folder = instances.join(NAME);
        // Left by a run that was killed.
        let _ = fs::remove_dir(&folder);
        fs::create_dir(&folder).context("the kernel's trace cannot be used")?;
        let additions = Additions { folder, device };
        let set = |name: &str, value: String| {
            fs::write(additions.folder.join(name), value).with_context(|| name.to_owned())
        };
        set("buffer_size_kb", BUFFER_KIB.to_string())?;
        // As the kernel keeps numbers of devices.
        set(&format!("{EVENT}/filter"), format!("s_dev == {}", device.0 << 20 | device.1))?;
        set(&format!("{EVENT}/enable"), "1".to_owned())?;
        Ok(additions)
    }

    /// Ends, and gives the pages of files, without those of the device itself.
    ///
    /// # Errors
    /// The kernel has dropped some, or prints something unknown.
    pub fn end(self) -> Result<BTreeSet<Page>> {
        fs::write(self.folder.join(EVENT).join("enable"), "0")?;
        let text = fs::read_to_string(self.folder.join("trace"))?;
        let own_inode = u64::from(self.device.0 << 20 | self.device.1);
        let mut pages = BTreeSet::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            ensure!(!line.contains("LOST"), "the kernel has dropped events");
            let (inode, first, count) = parse(line).with_context(|| format!("unknown: {line}"))?;
            if inode != own_inode && inode != 0 {
                pages.extend((first..first + count).map(|page| (inode, page)));
            }
        }
        Ok(pages)
    }
}

impl Drop for Additions {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Inode, first page and count.
fn parse(line: &str) -> Option<(u64, u64, u64)> {
    let after = |word: &str| {
        let (_, rest) = line.split_once(word)?;
        rest.split([' ', '\t']).next()
    };
    let inode = u64::from_str_radix(after(" ino ")?, 16).ok()?;
    let offset: u64 = after(" ofs=")?.parse().ok()?;
    let order: u32 = after(" order=").map_or(Some(0), |order| order.parse().ok())?;
    Some((inode, offset / 4096, 1 << order))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_lines_are_read() {
        let line = " sh-77 [001] ..... 12.3: mm_filemap_add_to_page_cache: dev 7:64 ino 1a pfn=0x9 \
                    ofs=8192 order=1";
        assert_eq!(parse(line), Some((26, 2, 2)));
        assert_eq!(parse(line.split(" order").next().unwrap()), Some((26, 2, 1)));
        assert_eq!(parse("something else"), None);
    }
}

//! What cold launches depend on: read-ahead, dropping caches, the file system.

use super::{Outcome, words};
use crate::host;
use crate::linux::host::{bdi_name, device_read_ahead_kib};
use crate::linux::phrases::Phrase;
use model::Check;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Folders that programs usually come from.
const FOLDERS: [&str; 5] = ["/", "/usr", "/opt", "/home", "."];
/// The kernel's default.
const USUAL_KIB: u64 = 128;

/// Read-ahead of the devices that programs come from.
pub(super) fn read_ahead() -> Check {
    let mut devices: BTreeMap<(u32, u32), Option<u64>> = BTreeMap::new();
    for folder in FOLDERS {
        if let Ok(data) = fs::metadata(folder) {
            let device = data.dev();
            let number = (libc::major(device), libc::minor(device));
            devices.entry(number).or_insert_with(|| device_read_ahead_kib(number));
        }
    }
    let known: Vec<((u32, u32), u64)> =
        devices.into_iter().filter_map(|(device, kib)| Some((device, kib?))).collect();
    let words: Vec<String> = known
        .iter()
        .map(|((major, minor), kib)| format!("{kib} KiB on {}", name(*major, *minor)))
        .collect();
    let odd = known.iter().find(|(_, kib)| *kib != USUAL_KIB);
    let outcome = match odd {
        _ if known.is_empty() => Outcome::unknown(
            "no device under / reports its read-ahead",
            "cold launches depend on how much is read around each fault",
        ),
        None => Outcome::good(
            words.join(", "),
            "cold launches read ahead as much as on most \
             machines",
        ),
        Some((device, kib)) => Outcome::note(
            words.join(", "),
            format!(
                "a cold page fault may read {kib} KiB around the page; most machines read \
                 {USUAL_KIB} KiB, so cold figures do not apply to them"
            ),
        )
        .remedy(format!(
            "echo {USUAL_KIB} | sudo tee /sys/class/bdi/{}/read_ahead_kb",
            bdi_name(*device).unwrap_or_default()
        )),
    };
    outcome.named("read-ahead")
}

fn name(major: u32, minor: u32) -> String {
    let link = fs::read_link(format!("/sys/dev/block/{major}:{minor}")).ok();
    let name = link.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    name.unwrap_or_else(|| format!("device {major}:{minor}"))
}

/// Whether the page cache can be dropped. Opening the switch does nothing.
pub(super) fn drop_caches() -> Check {
    let cold = Phrase::Cold.words();
    let outcome = match fs::File::options().write(true).open("/proc/sys/vm/drop_caches") {
        Ok(_) => Outcome::good("permitted", format!("{cold} can drop the whole page cache")),
        Err(error) => Outcome::note(
            format!("not permitted ({})", words(&error)),
            format!(
                "{cold} evicts only the files of the launch, and cannot check files of other \
                 users; as root it can do both"
            ),
        ),
    };
    outcome.named("drop-caches")
}

/// The file system of the current folder, where run folders and often programs are.
pub(super) fn file_system() -> Check {
    let outcome = match host::file_system(Path::new(".")) {
        Ok(kind) => describe(&kind),
        Err(error) => Outcome::unknown(words(&error), "cold launches depend on the file system"),
    };
    outcome.named("file-system")
}

fn describe(kind: &str) -> Outcome {
    let found = format!("{kind} under the current folder");
    match kind {
        "tmpfs" | "ramfs" => {
            Outcome::note(found, "files here never leave memory: they cannot be launched cold")
        }
        "overlay" => Outcome::note(
            found,
            "files are on several layers; eviction and reads affect the layer below",
        ),
        "nfs" | "nfs4" | "cifs" | "smb3" | "9p" | "virtiofs" | "ceph" | "afs" => Outcome::warning(
            found,
            "reads go over a network or to the host and vary from run to run",
        ),
        _ if kind.starts_with("fuse") => {
            Outcome::warning(found, "reads pass through another process and vary from run to run")
        }
        _ => Outcome::good(found, "a local file system: cold launches read from its device"),
    }
}

//! The finding on programs and libraries that lie on a file system which unpacks them, or which
//! another process serves.

use super::{Context, names};
use crate::advice::ExplainAdvice;
use model::figures::{bytes, duration, plural};
use model::{Finding, Reading, UnpackTimes, UnpackedFiles};

pub(super) fn find(context: &Context) -> Option<Finding> {
    let found = context.inputs.unpacked.as_slice();
    if found.is_empty() {
        return None;
    }
    let files: u64 = found.iter().map(|one| one.files.len() as u64).sum();
    let files = plural(files, "program or library", "programs and libraries");
    let mut kinds: Vec<String> = found.iter().map(kind).collect();
    kinds.dedup();
    Some(Finding {
        id: "compressed-image".to_owned(),
        cause: format!(
            "{files} on {}: what is not in memory has to be {} for each launch that reads it",
            kinds.join(", "),
            work(found)
        ),
        evidence: found.iter().flat_map(evidence).collect(),
        cost_us: Reading::unavailable(
            "only a launch that does not find the files in memory pays for it",
            (context.words)(ExplainAdvice::CompareCold),
        ),
        phase: None,
        part_of: None,
        remedy: remedy(found).to_owned(),
    })
}

fn is_served(one: &UnpackedFiles) -> bool {
    one.mount.kind.starts_with("fuse")
}

fn kind(one: &UnpackedFiles) -> String {
    let overlay = if one.mount.through_overlay { ", below an overlay" } else { "" };
    match &one.mount.compression {
        Reading::Value(compression) => {
            format!("{} ({compression}{overlay})", one.mount.kind)
        }
        Reading::Unavailable { .. } if overlay.is_empty() => one.mount.kind.clone(),
        Reading::Unavailable { .. } => format!("{} (below an overlay)", one.mount.kind),
    }
}

/// What has to be done with what is not in memory.
fn work(found: &[UnpackedFiles]) -> &'static str {
    match (found.iter().any(is_served), found.iter().all(is_served)) {
        (_, true) => "asked of the process that serves it",
        (false, _) => "unpacked",
        (true, false) => "unpacked, or asked of the process that serves it,",
    }
}

fn evidence(one: &UnpackedFiles) -> Vec<String> {
    let names = names(one.files.iter().map(String::as_str));
    let mut lines = vec![format!("{} at {}: {names}", kind(one), one.mount.point)];
    match &one.mount.compression {
        Reading::Unavailable { reason, remedy } if !is_served(one) => {
            let remedy = if remedy.is_empty() { String::new() } else { format!("; {remedy}") };
            lines.push(format!("how it compresses is not known: {reason}{remedy}"));
        }
        _ => {}
    }
    match &one.read {
        Reading::Value(times) => lines.push(read(times)),
        Reading::Unavailable { reason, .. } => {
            lines.push(format!("what that takes was not measured: {reason}"));
        }
    }
    lines
}

/// Storage and unpacking cannot be told apart, and the sentence does not.
fn read(times: &UnpackTimes) -> String {
    let (first, again) = (duration(times.first_us), duration(times.again_us));
    format!(
        "reading {} of them that was not in memory took {first}, storage included; again, from \
         memory, {again}",
        bytes(times.bytes)
    )
}

fn remedy(found: &[UnpackedFiles]) -> &'static str {
    let slow = ["xz", "lzma", "gzip", "deflate"];
    let is_slow = |one: &UnpackedFiles| {
        let compression = one.mount.compression.value();
        compression.is_some_and(|name| slow.iter().any(|slow| name.contains(slow)))
    };
    if found.iter().any(is_slow) {
        "Make the image with zstd or lz4, which unpack faster, and with smaller blocks; or install the \
         program outside of it."
    } else if found.iter().all(is_served) {
        "Copy the program to a local file system that the kernel itself serves."
    } else {
        "Make the image with smaller blocks, so that less is unpacked for each page; or install the \
         program outside of it."
    }
}

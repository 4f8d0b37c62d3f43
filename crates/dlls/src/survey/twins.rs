//! DLLs that Wine takes for the same at first: of the same `TimeDateStamp` and `CheckSum`.
//!
//! Wine's loader compares what it is about to load with every module of both, by asking its server
//! whether they are the same file (`find_existing_module` of its ntdll). N such images make
//! N(N − 1) further system calls, a write and a read for each pair.

use model::{PeFacts, PeKind, StampTwins};
use std::collections::BTreeMap;

/// Groups without those that are copies of one file: nothing tells these apart, and rarely is more
/// than one of them loaded.
pub(super) fn but_copies(files: &[PeFacts], twins: &[StampTwins]) -> Vec<StampTwins> {
    let of = |path: &String| {
        let file = files.iter().find(|file| file.path == *path)?;
        Some((file.file_bytes, file.checksum.computed))
    };
    let differ = |group: &&StampTwins| {
        let mut contents = group.files.iter().map(of);
        let first = contents.next();
        contents.any(|content| Some(content) != first)
    };
    twins.iter().filter(differ).cloned().collect()
}

/// Groups of two images or more, the largest first.
pub(super) fn find(files: &[PeFacts]) -> Vec<StampTwins> {
    let mut groups: BTreeMap<(&str, u32, u32), Vec<String>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.kind == PeKind::Library) {
        let by = (&*file.machine, file.time_stamp, file.checksum.stored);
        groups.entry(by).or_default().push(file.path.clone());
    }
    let groups = groups.into_iter().filter(|(_, files)| files.len() > 1);
    let mut twins: Vec<StampTwins> = groups
        .map(|((_, time_stamp, checksum), files)| {
            let count = files.len() as u64;
            let extra_system_calls = count * (count - 1);
            StampTwins { time_stamp, checksum, files, extra_system_calls }
        })
        .collect();
    twins.sort_by_key(|group| std::cmp::Reverse(group.files.len()));
    twins
}

//! From perf records to mappings that can be looked up by process, time and address alone.

use super::Record;
use model::{Mapping, MemoryChange};
use std::collections::HashMap;

/// Mappings in order of time. A fault belongs to the last earlier mapping of its process since its
/// last execve that covers its address, because two things are added to what the kernel reports:
/// - a forked process has its parent's mappings, at the time of the fork;
/// - memory without a file (`//anon`, `[heap]`) is kept, for it may cover a part of a file's.
pub(crate) fn mappings(mut records: Vec<Record>, at_us: impl Fn(u64) -> f64) -> Vec<MemoryChange> {
    records.sort_by_key(time);
    let mut all = Vec::new();
    let mut of_process: HashMap<u32, Vec<Mapping>> = HashMap::new();
    for record in records {
        match record {
            Record::Mapped { pid, at_ns, start, bytes, file_offset, executable, path, .. } => {
                let at_us = at_us(at_ns);
                let new = Mapping { pid, at_us, start, bytes, file_offset, executable, path };
                let present = of_process.entry(pid).or_default();
                present.retain(|old| !covers(&new, old));
                present.push(new.clone());
                all.push(MemoryChange::Mapped(new));
            }
            Record::Executed { pid, at_ns } => {
                of_process.remove(&pid);
                all.push(MemoryChange::Executed { pid, at_us: at_us(at_ns) });
            }
            Record::Forked { pid, parent, at_ns } => {
                let at_us = at_us(at_ns);
                let inherited = of_process.get(&parent).cloned().unwrap_or_default();
                let inherited: Vec<Mapping> =
                    inherited.into_iter().map(|old| Mapping { pid, at_us, ..old }).collect();
                all.extend(inherited.iter().cloned().map(MemoryChange::Mapped));
                of_process.insert(pid, inherited);
            }
            Record::Sample { .. } | Record::Lost(_) => {}
        }
    }
    all
}

fn time(record: &Record) -> u64 {
    match record {
        Record::Mapped { at_ns, .. }
        | Record::Executed { at_ns, .. }
        | Record::Forked { at_ns, .. }
        | Record::Sample { at_ns, .. } => *at_ns,
        Record::Lost(_) => 0,
    }
}

fn covers(new: &Mapping, old: &Mapping) -> bool {
    new.start <= old.start
        && old.start.saturating_add(old.bytes) <= new.start.saturating_add(new.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapped(pid: u32, at_ns: u64, start: u64, bytes: u64, path: &str) -> Record {
        Record::Mapped {
            pid,
            at_ns,
            start,
            bytes,
            file_offset: 0,
            device: (0, 0),
            inode: 0,
            executable: false,
            path: path.to_owned(),
        }
    }

    fn path_at(changes: &[MemoryChange], pid: u32, at_us: f64, address: u64) -> &str {
        let earlier = changes.iter().rev().filter(|c| c.pid() == pid && c.at_us() <= at_us);
        let mut present = earlier.map_while(MemoryChange::mapping);
        let covering = |m: &&Mapping| (m.start..m.start + m.bytes).contains(&address);
        present.find(covering).map_or("", |mapping| &mapping.path)
    }

    #[test]
    fn a_fork_inherits_and_an_execve_starts_afresh() {
        // Given out of order, as several rings deliver them.
        let records = vec![
            mapped(2, 5, 0x9000, 0x1000, "/new"),
            Record::Executed { pid: 2, at_ns: 4 },
            Record::Executed { pid: 1, at_ns: 0 },
            mapped(1, 1, 0x1000, 0x4000, "/lib"),
            mapped(1, 2, 0x3000, 0x2000, "//anon"),
            Record::Forked { pid: 2, parent: 1, at_ns: 3 },
        ];
        let found = mappings(records, |ns| ns as f64);
        assert_eq!(path_at(&found, 1, 9.0, 0x1000), "/lib");
        assert_eq!(path_at(&found, 1, 9.0, 0x3000), "//anon", "bss over the end of the file");
        assert_eq!(path_at(&found, 2, 3.5, 0x1000), "/lib", "inherited by the fork");
        assert_eq!(path_at(&found, 2, 9.0, 0x1000), "", "gone after execve");
        assert_eq!(path_at(&found, 2, 9.0, 0x9000), "/new");
        let executed = |change: &&MemoryChange| matches!(change, MemoryChange::Executed { .. });
        assert_eq!(found.iter().filter(executed).count(), 2, "the fork itself executed nothing");
    }
}

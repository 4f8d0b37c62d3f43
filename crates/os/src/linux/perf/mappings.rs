//! From perf records to mappings that can be looked up by process, time and address alone.

use super::Record;
use model::Mapping;
use std::collections::HashMap;

/// Mappings in order of time. A fault belongs to the last earlier mapping of its process that
/// covers its address, because three things are added to what the kernel reports:
/// - a forked process has its parent's mappings, at the time of the fork;
/// - execve maps all of the address space as `//anon`: nothing of before is left;
/// - memory without a file (`//anon`, `[heap]`) is kept, for it may cover a part of a file's.
pub(crate) fn mappings(mut records: Vec<Record>, at_us: impl Fn(u64) -> f64) -> Vec<Mapping> {
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
                all.push(new);
            }
            Record::Executed { pid, at_ns } => {
                let new = nothing(pid, at_us(at_ns));
                of_process.insert(pid, vec![new.clone()]);
                all.push(new);
            }
            Record::Forked { pid, parent, at_ns } => {
                let at_us = at_us(at_ns);
                let inherited = of_process.get(&parent).cloned().unwrap_or_default();
                let inherited: Vec<Mapping> =
                    inherited.into_iter().map(|old| Mapping { pid, at_us, ..old }).collect();
                all.extend_from_slice(&inherited);
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

/// An address space in which no file is mapped.
fn nothing(pid: u32, at_us: f64) -> Mapping {
    let path = "//anon".to_owned();
    Mapping { pid, at_us, start: 0, bytes: u64::MAX, file_offset: 0, executable: false, path }
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

    fn path_at(mappings: &[Mapping], pid: u32, at_us: f64, address: u64) -> &str {
        let covering = |m: &&Mapping| {
            m.pid == pid && m.at_us <= at_us && (m.start..m.start + m.bytes).contains(&address)
        };
        mappings.iter().rev().find(covering).map_or("", |mapping| &mapping.path)
    }

    #[test]
    fn a_fork_inherits_and_an_execve_starts_afresh() {
        // Given out of order, as several rings deliver them.
        let records = vec![
            mapped(2, 5, 0x9000, 0x1000, "/new"),
            Record::Executed { pid: 2, at_ns: 4 },
            mapped(1, 1, 0x1000, 0x4000, "/lib"),
            mapped(1, 2, 0x3000, 0x2000, "//anon"),
            Record::Forked { pid: 2, parent: 1, at_ns: 3 },
        ];
        let found = mappings(records, |ns| ns as f64);
        assert_eq!(path_at(&found, 1, 9.0, 0x1000), "/lib");
        assert_eq!(path_at(&found, 1, 9.0, 0x3000), "//anon", "bss over the end of the file");
        assert_eq!(path_at(&found, 2, 3.5, 0x1000), "/lib", "inherited by the fork");
        assert_eq!(path_at(&found, 2, 9.0, 0x1000), "//anon", "gone after execve");
        assert_eq!(path_at(&found, 2, 9.0, 0x9000), "/new");
    }
}

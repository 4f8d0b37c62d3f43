//! The table of descriptors of this process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::File;

/// Makes the table as large as it will be, with so many descriptors, as far as the limit permits. To be
/// called before there are threads: where several have the table, Linux waits for all processors
/// whenever it doubles, some ten milliseconds each time.
pub fn grow_descriptor_table(descriptors: u64) {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(descriptors);
    let highest = i32::try_from(descriptors.min(limit).saturating_sub(1)).unwrap_or(i32::MAX);
    if let Ok(root) = File::open("/") {
        // Without it everything is as it is, only slower.
        let _ = rustix::io::fcntl_dupfd_cloexec(root, highest);
    }
}

/// Whether the process may have so many descriptors. The limit is raised as far as it may be.
pub(crate) fn room_for(needed: u64) -> bool {
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < needed) {
        let raised = Rlimit { current: Some(needed), ..limit };
        if limit.maximum.is_some_and(|maximum| maximum < needed)
            || setrlimit(Resource::Nofile, raised).is_err()
        {
            return false;
        }
    }
    grow_descriptor_table(needed);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many descriptors the table has room for, as the kernel tells it (proc_pid_status(5)).
    fn table_size() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("FDSize:")).unwrap();
        line.trim().parse().unwrap()
    }

    #[test]
    fn the_table_has_room_afterwards() {
        grow_descriptor_table(700);
        let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        assert!(table_size() >= limit.min(700), "{}", table_size());
    }
}

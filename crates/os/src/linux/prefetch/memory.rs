//! How much memory there is for what is read ahead.

use std::fs;

/// Of the available memory, no more than this part is filled.
const PART: u64 = 2;

/// Whether so many bytes fit into memory beside the program. Yes, where the kernel does not tell.
pub(super) fn has_room_for(bytes: u64) -> bool {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    available_bytes(&text).is_none_or(|available| bytes <= available / PART)
}

fn available_bytes(meminfo: &str) -> Option<u64> {
    let rest = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    rest.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_is_read() {
        let text = "MemTotal:       24680 kB\nMemFree: 1 kB\nMemAvailable:   12345 kB\n";
        assert_eq!(available_bytes(text), Some(12345 * 1024));
        assert_eq!(available_bytes("MemTotal: 1 kB\n"), None);
        assert!(has_room_for(0));
        assert!(!has_room_for(u64::MAX));
    }
}

//! Any bytes at all have a kind, by 64 KiB at most, and what is said of them keeps its own rules.
#![no_main]

use image::identify::{BUDGET_BYTES, identify_bytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let found = identify_bytes(bytes);
    assert!(found.bytes_read <= BUDGET_BYTES);
    assert!(!found.detail.is_empty() && found.detail.len() < 1024);
    // Only images have these.
    assert!(found.subsystem.is_none() || found.machine.is_some());
    assert!(found.runtimes.len() <= 2);
});

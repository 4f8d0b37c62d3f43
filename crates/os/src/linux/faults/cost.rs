//! What a minor page fault takes on this machine.

use crate::linux::clock::Instant;
use crate::linux::error::LaunchError;
use crate::linux::residency::page_bytes;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use std::ptr::null_mut;

/// Pages touched in one pass, and passes. The fastest pass counts: others were disturbed.
const PAGES: usize = 1024;
const PASSES: u32 = 7;

/// Microseconds of a minor fault: the first write to a page of anonymous memory, which the
/// kernel answers with a zeroed page. Faults on file pages cost about as much.
///
/// # Errors
/// Where there is no memory to try it on.
pub fn minor_fault_cost_us() -> Result<f64, LaunchError> {
    let mut fastest = f64::INFINITY;
    for _ in 0..PASSES {
        fastest = fastest.min(one_pass()?);
    }
    Ok(fastest / PAGES as f64)
}

fn one_pass() -> Result<f64, LaunchError> {
    let bytes = PAGES * page_bytes() as usize;
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    let failed = LaunchError::failed("measuring a page fault", "free some memory");
    // SAFETY: a fresh mapping of our own, written within its bounds only and unmapped once.
    unsafe {
        let address = mmap_anonymous(null_mut(), bytes, protection, MapFlags::PRIVATE);
        let address = address.map_err(failed)?;
        // Huge pages would take one fault for many.
        libc::madvise(address, bytes, libc::MADV_NOHUGEPAGE);
        let started = Instant::now();
        for page in 0..PAGES {
            address.cast::<u8>().add(page * page_bytes() as usize).write_volatile(1);
        }
        let us = Instant::now().us_since(started);
        libc::munmap(address, bytes);
        Ok(us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_takes_time() {
        let cost = minor_fault_cost_us().unwrap();
        assert!(cost > 0.01 && cost < 100.0, "{cost} µs");
    }
}

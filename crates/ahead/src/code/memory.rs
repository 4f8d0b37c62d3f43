//! How much memory there is for what is read ahead.

use crate::system;

/// Of the available memory, no more than this part is filled.
const PART: u64 = 2;
const NAME: &[u8] = b"MemAvailable:";

/// Whether so much fits into memory beside the program. Yes, where the kernel does not tell.
pub fn has_room_for(kib: u64) -> bool {
    let mut text = [0_u8; 512];
    let Some(file) = system::open(b"/proc/meminfo\0", system::O_QUIET) else { return true };
    let count = system::read(file, &mut text).unwrap_or(0);
    system::close(file);
    available_kib(text.get(..count).unwrap_or_default())
        .is_none_or(|kib_free| kib <= kib_free / PART)
}

fn available_kib(text: &[u8]) -> Option<u64> {
    let mut lines = text.split(|byte| *byte == b'\n');
    let line = lines.find_map(|line| line.strip_prefix(NAME))?;
    let digits = line.iter().filter(|byte| byte.is_ascii_digit());
    Some(digits.fold(0_u64, |sum, digit| {
        sum.wrapping_mul(10).wrapping_add(u64::from(digit.wrapping_sub(b'0')))
    }))
}

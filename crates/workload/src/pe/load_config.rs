//! The load configuration of a generated PE image.

use super::layout::patch;
use model::Va;

/// Bytes of `IMAGE_LOAD_CONFIG_DIRECTORY64` up to `GuardLongJumpTargetCount`, the last field that
/// the format's specification names.
pub(super) const BYTES: u32 = 192;

/// Offsets of the fields that hold addresses, in ascending order.
pub(super) const ADDRESSES: [u32; 3] = [CHECK_FUNCTION, DISPATCH_FUNCTION, FUNCTION_TABLE];

const CHECK_FUNCTION: u32 = 112;
const DISPATCH_FUNCTION: u32 = 120;
const FUNCTION_TABLE: u32 = 128;
const FUNCTION_COUNT: u32 = 136;
const GUARD_FLAGS: u32 = 144;

const CF_INSTRUMENTED: u32 = 0x100;
const CF_FUNCTION_TABLE_PRESENT: u32 = 0x400;
/// `IMAGE_GUARD_CF_FUNCTION_TABLE_SIZE_SHIFT`: above it, bytes of an entry beyond its address.
const EXTRA_BYTES_SHIFT: u32 = 28;

/// What Guard CF needs to know of an image.
pub(super) struct Guard {
    /// The pointer that the loader sets to the function that checks a call.
    pub(super) check_pointer: Va,
    /// The pointer that the loader sets to the function that checks and makes a call.
    pub(super) dispatch_pointer: Va,
    pub(super) table: Va,
    pub(super) entries: u64,
    pub(super) entry_bytes: u32,
}

/// Appends the load configuration.
///
/// Format: *The Load Configuration Structure*.
pub(super) fn push(out: &mut Vec<u8>, guard: &Guard) {
    let start = out.len();
    out.resize(start + BYTES as usize, 0);
    let mut wide = |field: u32, value: u64| {
        patch(out, start + field as usize, value as u32);
        patch(out, start + field as usize + 4, (value >> 32) as u32);
    };
    wide(CHECK_FUNCTION, guard.check_pointer.0);
    wide(DISPATCH_FUNCTION, guard.dispatch_pointer.0);
    wide(FUNCTION_TABLE, guard.table.0);
    wide(FUNCTION_COUNT, guard.entries);
    patch(out, start, BYTES);
    let extra = (guard.entry_bytes - 4) << EXTRA_BYTES_SHIFT;
    let flags = CF_INSTRUMENTED | CF_FUNCTION_TABLE_PRESENT | extra;
    patch(out, start + GUARD_FLAGS as usize, flags);
}

//! The exception table, `.pdata`: where each function of an x86-64 image begins and ends that
//! changes the stack.
//!
//! Format: *The .pdata Section*; *x64 exception handling* (`RUNTIME_FUNCTION`, `UNWIND_INFO`).

use super::read::Pe;
use super::spec;
use crate::notes::entries;
use model::Rva;
use object::LittleEndian as LE;
use object::pe::ImageRuntimeFunctionEntry;

/// `UNW_FLAG_CHAININFO`, behind the three bits of the version.
const CHAINED: u8 = 4 << 3;
/// The entry leads to another one rather than to unwind information.
const INDIRECT: u32 = 1;

/// A function by the exception table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuntimeFunction {
    /// Where it begins.
    pub start: Rva,
    /// Its size.
    pub bytes: u32,
    /// Whether it is a later part of another function, which nobody calls.
    pub is_part: bool,
}

impl<'a> Pe<'a> {
    /// Functions by the exception table; none for other machines than x86-64.
    pub fn runtime_functions(&self) -> impl Iterator<Item = RuntimeFunction> + use<'_, 'a> {
        let is_known = self.headers().machine == spec::IMAGE_FILE_MACHINE_AMD64;
        let table = self.directory(spec::EXCEPTION).filter(|_| is_known);
        let bytes = table.and_then(|table| {
            let rest = self.at(table.rva)?;
            Some(rest.get(..table.size as usize).unwrap_or(rest))
        });
        let entries: &[ImageRuntimeFunctionEntry] = entries(bytes.unwrap_or_default());
        entries.iter().filter_map(|entry| {
            let (start, end) = (entry.begin_address.get(LE), entry.end_address.get(LE));
            let bytes = end.checked_sub(start).filter(|bytes| *bytes > 0)?;
            let unwind = entry.unwind_info_address_or_data.get(LE);
            let is_part = unwind & INDIRECT != 0
                || self
                    .at(Rva(unwind))
                    .and_then(|info| info.first())
                    .is_some_and(|first| first & CHAINED != 0);
            Some(RuntimeFunction { start: Rva(start), bytes, is_part })
        })
    }
}

//! The load configuration, and in it the tables of Control Flow Guard.
//!
//! Format: *The Load Configuration Structure*; `IMAGE_GUARD_*` of `winnt.h`.

use super::read::Pe;
use super::spec;
use crate::notes::{Notes, entry};
use model::{GuardFacts, Rva, Va};
use object::LittleEndian as LE;
use object::pe::{ImageLoadConfigDirectory32, ImageLoadConfigDirectory64};

/// Tables of the load configuration. Older files have fewer of them: zero then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadConfig {
    /// `Size`, as the structure itself states it.
    pub bytes: u32,
    /// `GuardFlags`.
    pub guard_flags: u32,
    /// `GuardCFFunctionTable`.
    pub function_table: Va,
    /// `GuardCFFunctionCount`.
    pub functions: u64,
    /// `GuardAddressTakenIatEntryCount`.
    pub address_taken_imports: u64,
    /// `GuardLongJumpTargetCount`.
    pub long_jump_targets: u64,
    /// `GuardEHContinuationCount`.
    pub exception_continuations: u64,
}

/// Where `GuardEHContinuationCount` is in PE32 and PE32+, behind the structures of `object`.
const CONTINUATIONS: [usize; 2] = [0xa8, 0x110];

/// An entry's address; its flags follow where there are any.
const ADDRESS: usize = 4;
/// `IMAGE_GUARD_CF_FUNCTION_TABLE_SIZE_SHIFT`.
const STRIDE_SHIFT: u32 = 28;
/// Bytes of code that share two bits of the kernel's bitmap.
const BITMAP_UNIT: u64 = 16;

impl Pe<'_> {
    /// Functions that may be called by address, by the table of Control Flow Guard.
    pub(super) fn guarded_functions(&self) -> impl Iterator<Item = Rva> {
        let config = self.load_config().unwrap_or_default();
        let rest = self.rva(config.function_table).and_then(|rva| self.at(rva)).unwrap_or(&[]);
        let width = ADDRESS + (config.guard_flags >> STRIDE_SHIFT) as usize;
        let functions = usize::try_from(config.functions).unwrap_or(usize::MAX);
        let entries = rest.chunks_exact(width).take(functions);
        entries.filter_map(|entry| entry.first_chunk().map(|rva| Rva(u32::from_le_bytes(*rva))))
    }

    /// The load configuration, if there is one.
    pub fn load_config(&self) -> Option<LoadConfig> {
        let directory = self.directory(spec::LOAD_CONFIG)?;
        let rest = self.at(directory.rva)?;
        let bytes = u32::from_le_bytes(*rest.first_chunk()?);
        // The structure's own size counts; the directory's was fixed at 64 for old loaders.
        let present = rest.get(..(bytes as usize).min(rest.len()))?;
        let mut whole = [0; 512];
        let length = present.len().min(whole.len());
        whole.get_mut(..length)?.copy_from_slice(present.get(..length)?);
        Some(if self.headers().pe32_plus { of_64(bytes, &whole)? } else { of_32(bytes, &whole)? })
    }
}

fn of_64(bytes: u32, whole: &[u8]) -> Option<LoadConfig> {
    let found: &ImageLoadConfigDirectory64 = entry(whole)?;
    let continuations = whole.get(CONTINUATIONS[1]..)?.first_chunk()?;
    Some(LoadConfig {
        bytes,
        guard_flags: found.guard_flags.get(LE).0,
        function_table: Va(found.guard_cf_function_table.get(LE)),
        functions: found.guard_cf_function_count.get(LE),
        address_taken_imports: found.guard_address_taken_iat_entry_count.get(LE),
        long_jump_targets: found.guard_long_jump_target_count.get(LE),
        exception_continuations: u64::from_le_bytes(*continuations),
    })
}

fn of_32(bytes: u32, whole: &[u8]) -> Option<LoadConfig> {
    let found: &ImageLoadConfigDirectory32 = entry(whole)?;
    let continuations = whole.get(CONTINUATIONS[0]..)?.first_chunk()?;
    Some(LoadConfig {
        bytes,
        guard_flags: found.guard_flags.get(LE).0,
        function_table: Va(found.guard_cf_function_table.get(LE).into()),
        functions: found.guard_cf_function_count.get(LE).into(),
        address_taken_imports: found.guard_address_taken_iat_entry_count.get(LE).into(),
        long_jump_targets: found.guard_long_jump_target_count.get(LE).into(),
        exception_continuations: u32::from_le_bytes(*continuations).into(),
    })
}

/// What the tables of Control Flow Guard say; `None` for images without any.
pub(super) fn guard(file: &Pe<'_>, config: &LoadConfig, notes: &mut Notes) -> Option<GuardFacts> {
    let (table, count) = (config.function_table, config.functions);
    if config.guard_flags == 0 && count == 0 {
        return None;
    }
    let stride = (config.guard_flags >> STRIDE_SHIFT) as u8;
    let mut facts = GuardFacts {
        functions: count,
        stride,
        flags: config.guard_flags,
        sorted: true,
        outside_code: 0,
        bitmap_bytes: 0,
        address_taken_imports: config.address_taken_imports,
        long_jump_targets: config.long_jump_targets,
        exception_continuations: config.exception_continuations,
    };
    if count > 0 {
        look_at_functions(file, table, &mut facts, notes);
    }
    Some(facts)
}

fn look_at_functions(file: &Pe<'_>, table: Va, facts: &mut GuardFacts, notes: &mut Notes) {
    let width = ADDRESS + usize::from(facts.stride);
    let rest = file.rva(table).and_then(|rva| file.at(rva)).unwrap_or(&[]);
    let functions = usize::try_from(facts.functions).unwrap_or(usize::MAX);
    let entries = rest.chunks_exact(width).take(functions);
    if entries.len() < functions {
        notes.problem(format!(
            "the Control Flow Guard table at {table:#x} should have {functions} entries of \
             {width} bytes, but the file has {} of them",
            entries.len()
        ));
    }
    let (mut first, mut last, mut before) = (Rva(u32::MAX), Rva(0), None);
    let code = Code::of(file);
    for entry in entries {
        let Some(bytes) = entry.first_chunk() else { break };
        let rva = Rva(u32::from_le_bytes(*bytes));
        facts.sorted &= before.is_none_or(|before| before < rva);
        facts.outside_code += u64::from(!code.holds(rva));
        (first, last, before) = (first.min(rva), last.max(rva), Some(rva));
    }
    if before.is_some() {
        let units = u64::from(last.0) / BITMAP_UNIT - u64::from(first.0) / BITMAP_UNIT + 1;
        facts.bitmap_bytes = (2 * units).div_ceil(8);
    }
}

/// Ranges of code, by address; none touches another.
struct Code(Vec<std::ops::Range<Rva>>);

impl Code {
    fn of(file: &Pe<'_>) -> Code {
        let sections = file.headers().sections.iter();
        let code = sections.filter(|section| section.flags & spec::IMAGE_SCN_MEM_EXECUTE != 0);
        let ranges = code.map(|section| section.rva..section.rva.saturating_add(section.extent()));
        let mut ranges: Vec<_> = ranges.collect();
        ranges.sort_by_key(|range| range.start);
        let mut joined: Vec<std::ops::Range<Rva>> = Vec::new();
        for range in ranges {
            match joined.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => joined.push(range),
            }
        }
        Code(joined)
    }

    fn holds(&self, rva: Rva) -> bool {
        let next = self.0.partition_point(|range| range.start <= rva);
        let range = next.checked_sub(1).and_then(|index| self.0.get(index));
        range.is_some_and(|range| range.contains(&rva))
    }
}

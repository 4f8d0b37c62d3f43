//! One table for finding the unwind information of all modules (Linux Standard Base,
//! ".eh_frame_hdr"): unwinders ask for one a file.

use crate::plan::member::Member;
use crate::plan::outside::{FIRST_BYTES, FIRST_PUSHED, LATE_PUSHED};
use crate::plan::own_data::Extent;
use image::elf::spec;
use loader::Module;
use model::BundleVa;

/// Version 1; addresses relative to this table (DW_EH_PE_pcrel and datarel, 32 bits), and a count
/// of 32 bits.
const KNOWN: [u8; 4] = [1, 0x1b, 0x03, 0x3b];
const HEADER: usize = 12;

/// Addresses in the bundle.
pub(crate) struct Unwind {
    /// The first module's unwind information.
    frames: BundleVa,
    /// Beginning of a function, and what tells how to unwind it.
    entries: Vec<(BundleVa, BundleVa)>,
}

/// How to unwind from stubs (DWARF 5, 6.4), to be placed at a multiple of 8.
pub(crate) struct StubFrames {
    pub(crate) bytes: Vec<u8>,
    unwind: Unwind,
}

/// A CIE, version 1: addresses relative to themselves (DW_EH_PE_pcrel and sdata4), the return address (register
/// 16) at the stack pointer (register 7), at which it is 8 bytes from the caller's.
const COMMON: [u8; 24] =
    [20, 0, 0, 0, 0, 0, 0, 0, 1, b'z', b'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0];
/// Of what stubs have in common there is one word more on the stack, and behind its first instruction two:
/// DW_CFA_def_cfa_offset, DW_CFA_advance_loc.
const FIRST_RULES: [u8; 5] = [0x0e, 16, 0x40 | FIRST_PUSHED as u8, 0x0e, 24];
/// In a stub there is one word more from an instruction of its late part on: DW_CFA_def_cfa_expression of
/// rsp + 8 + (((rip & 31) >= LATE_PUSHED) << 3).
const STUB_RULES: [u8; 14] =
    [0x0f, 12, 0x77, 8, 0x80, 0, 0x4f, 0x1a, 0x08, LATE_PUSHED as u8, 0x2a, 0x33, 0x24, 0x22];

impl StubFrames {
    /// For these stubs; None where they are too far away.
    pub(crate) fn new(address: BundleVa, stubs: Extent) -> Option<StubFrames> {
        let mut frames = StubFrames {
            bytes: COMMON.to_vec(),
            unwind: Unwind { frames: address, entries: Vec::new() },
        };
        let first = Extent { size: FIRST_BYTES, ..stubs };
        let others = Extent { start: first.end(), size: stubs.size.checked_sub(FIRST_BYTES)? };
        frames.add(address, first, &FIRST_RULES)?;
        frames.add(address, others, &STUB_RULES)?;
        // The end of all.
        frames.bytes.extend([0; 4]);
        Some(frames)
    }

    /// An FDE: its length, where its CIE is, where the code begins and its size; no augmentation; rules.
    fn add(&mut self, address: BundleVa, code: Extent, rules: &[u8]) -> Option<()> {
        let at = self.bytes.len();
        let begins = address + at as u64 + 8;
        let distance = i32::try_from(code.start.0.wrapping_sub(begins.0).cast_signed()).ok()?;
        let size = (17 + rules.len()).next_multiple_of(8);
        self.bytes.extend((size as u32 - 4).to_le_bytes());
        self.bytes.extend((at as u32 + 4).to_le_bytes());
        self.bytes.extend(distance.to_le_bytes());
        self.bytes.extend(u32::try_from(code.size).ok()?.to_le_bytes());
        self.bytes.push(0);
        self.bytes.extend(rules);
        self.bytes.resize(at + size, 0);
        self.unwind.entries.push((code.start, address + at as u64));
        Some(())
    }
}

/// The tables of all members, and of stubs, as one; None where there is none.
///
/// # Errors
/// The module whose table is of another kind.
pub(crate) fn merge<'a>(
    members: &[Member<'a>],
    stubs: Option<StubFrames>,
) -> Result<Option<Unwind>, &'a Module> {
    let mut merged: Option<Unwind> = stubs.map(|stubs| stubs.unwind);
    for member in members {
        let Some(segment) = member.image.segment(spec::PT_GNU_EH_FRAME) else { continue };
        let table = member.image.segment_bytes(segment);
        if table.is_empty() {
            continue;
        }
        let start = member.moved(segment.address);
        let one = read(table, start).ok_or(member.module)?;
        match &mut merged {
            Some(merged) => merged.entries.extend(one.entries),
            None => merged = Some(one),
        }
    }
    if let Some(merged) = &mut merged {
        merged.entries.sort_unstable();
    }
    Ok(merged)
}

fn read(table: &[u8], start: BundleVa) -> Option<Unwind> {
    let (header, rest) = table.split_at_checked(HEADER)?;
    if header.get(..4)? != KNOWN {
        return None;
    }
    let word = |bytes: &[u8]| Some(i64::from(i32::from_le_bytes(*bytes.first_chunk()?)) as u64);
    let frames = start.wrapping_add(4).wrapping_add(word(header.get(4..)?)?);
    let count = u32::from_le_bytes(*header.get(8..)?.first_chunk()?) as usize;
    let entries = rest.get(..count.checked_mul(8)?)?.chunks_exact(8);
    let entries = entries.map(|entry| {
        let at = |from| entry.get(from..).and_then(word).map(|word| start.wrapping_add(word));
        Some((at(0)?, at(4)?))
    });
    Some(Unwind { frames, entries: entries.collect::<Option<_>>()? })
}

impl Unwind {
    /// The table for this address; None where something is further away than 32 bits reach.
    pub(crate) fn table(&self, address: BundleVa) -> Option<Vec<u8>> {
        let near =
            |from: BundleVa, to: BundleVa| i32::try_from(to.0.wrapping_sub(from.0) as i64).ok();
        let mut table = KNOWN.to_vec();
        table.extend_from_slice(&near(address + 4, self.frames)?.to_le_bytes());
        table.extend_from_slice(&(self.entries.len() as u32).to_le_bytes());
        for &(function, frame) in &self.entries {
            table.extend_from_slice(&near(address, function)?.to_le_bytes());
            table.extend_from_slice(&near(address, frame)?.to_le_bytes());
        }
        Some(table)
    }
}

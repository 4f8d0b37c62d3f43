//! Relocations that are left for a launch: packed ones (RELR) for addresses that move, and the
//! rest in the order in which they must be done.

use crate::plan::fixups::{Fixup, Value};
use crate::tables::symbols::of_left;
use image::elf::edit::relr;
use image::elf::spec;

/// Bytes of a relocation.
pub(crate) const RELA: usize = 24;

/// What the loader relocates.
#[derive(Default)]
pub(crate) struct Relocations {
    /// Addresses of words that hold addresses of the bundle, sorted. Where it moves, multiples of
    /// 8 only: the rest are among the others.
    pub(crate) moving: Vec<u64>,
    /// DT_RELA, as (place, type and symbol, addend).
    pub(crate) others: Vec<(u64, u64, u64)>,
    /// How many of them, at the beginning, only move (DT_RELACOUNT).
    pub(crate) relative: usize,
}

impl Relocations {
    /// `copies`: symbol and place of data that the loader copies. `fixed`: the bundle is at its
    /// own addresses, and nothing moves.
    pub(crate) fn new(
        fixups: impl Iterator<Item = Fixup>,
        copies: impl Iterator<Item = (u32, u64)>,
        fixed: bool,
    ) -> Relocations {
        let info = |symbol: u32, kind: u32| u64::from(symbol) << 32 | u64::from(kind);
        let mut all = Relocations::default();
        let relative = spec::R_X86_64_RELATIVE;
        for Fixup { at, value } in fixups {
            match value {
                Value::Constant(_) => {}
                Value::Address(_) if fixed || at % 8 == 0 => all.moving.push(at),
                Value::Address(to) => all.others.push((at, info(0, relative), to)),
                Value::Left { symbol, kind, addend } => {
                    all.others.push((at, info(of_left(symbol), kind), addend as u64));
                }
                Value::Descriptor(offset) => {
                    all.others.push((at, info(0, spec::R_X86_64_TLSDESC), offset));
                }
                Value::Resolved(by) => {
                    all.others.push((at, info(0, spec::R_X86_64_IRELATIVE), by));
                }
            }
        }
        all.others.extend(copies.map(|(symbol, at)| (at, info(symbol, spec::R_X86_64_COPY), 0)));
        all.moving.sort_unstable();
        all.others.sort_unstable_by_key(|&(at, info, _)| {
            let kind = info as u32;
            // Resolvers may use all that is relocated; the loader remembers the symbol before.
            (kind != relative, kind == spec::R_X86_64_IRELATIVE, info >> 32, kind, at)
        });
        all.relative = all.others.iter().take_while(|one| one.1 as u32 == relative).count();
        all
    }

    /// DT_RELA.
    pub(crate) fn table(&self) -> Vec<u8> {
        let words = self.others.iter().flat_map(|&(at, info, addend)| [at, info, addend]);
        words.flat_map(u64::to_le_bytes).collect()
    }

    /// DT_RELR.
    pub(crate) fn packed(&self) -> Vec<u8> {
        relr::encode(&self.moving).into_iter().flat_map(u64::to_le_bytes).collect()
    }
}

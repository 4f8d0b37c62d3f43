//! Relocations that are left for a launch: packed ones (RELR) for addresses that move, which the preamble applies, and
//! the rest, for the loader, in the order in which they must be done.

use crate::plan::Plan;
use crate::plan::fixups::{Fixup, Value};
use crate::plan::outside::ENTRY_BYTES;
use image::elf::records::{Rela, relocation_info};
use image::elf::relr;
use image::elf::spec;
use model::{BundleVa, SymbolIndex, Va};
use std::collections::BTreeSet;

/// What is relocated at a start.
#[derive(Default)]
pub(crate) struct Relocations {
    /// Addresses of words that hold addresses of the bundle, sorted. Where it moves, multiples of
    /// 8 only: the rest are among the others.
    pub(crate) relative: Vec<BundleVa>,
    /// DT_RELA.
    others: Vec<Rela>,
    /// How many of them, at the beginning, only add the base (DT_RELACOUNT).
    pub(crate) relative_others: usize,
    /// The first behind those, whose resolver relocates the bundle.
    first: Option<Rela>,
}

/// Relocations of the table of functions outside: each is done when its function is first called, or at once if
/// LD_BIND_NOW is set.
pub(crate) fn late(plan: &Plan<'_>) -> Vec<u8> {
    let entries = (0..).map(|at| plan.own.places().entries() + ENTRY_BYTES * at);
    let all = plan.outside.looked_up_late().zip(entries).map(|(reference, at)| Rela {
        offset: Va(at.0),
        info: relocation_info(reference.symbol().0, spec::R_X86_64_JUMP_SLOT),
        addend: 0,
    });
    all.flat_map(|relocation| relocation.bytes()).collect()
}

/// Type of a relocation, and its symbol.
fn parts(relocation: &Rela) -> (u32, u64) {
    (relocation.info as u32, relocation.info >> 32)
}

impl Relocations {
    /// `copies`: symbol and address of data that the loader copies. `fixed`: the bundle is at its
    /// own addresses, and nothing moves.
    pub(crate) fn new(
        fixups: impl Iterator<Item = Fixup>,
        copies: impl Iterator<Item = (SymbolIndex, BundleVa)>,
        fixed: bool,
    ) -> Relocations {
        let rela = |at: BundleVa, symbol: SymbolIndex, kind: u32, addend: i64| Rela {
            offset: Va(at.0),
            info: relocation_info(symbol.0, kind),
            addend,
        };
        let none = SymbolIndex(0);
        let mut all = Relocations::default();
        for Fixup { at, value } in fixups {
            let other = match value {
                // Stubs and copies have their addresses by now.
                Value::Constant(_) | Value::Stub(_) | Value::OutsideCopy { .. } => continue,
                Value::Address(_) if fixed || at.0 % 8 == 0 => {
                    all.relative.push(at);
                    continue;
                }
                Value::Address(to) => rela(at, none, spec::R_X86_64_RELATIVE, to.0 as i64),
                Value::LookedUp { reference, kind, addend } => {
                    rela(at, reference.symbol(), kind, addend)
                }
                Value::ThreadModule => rela(at, none, spec::R_X86_64_DTPMOD64, 0),
                Value::ThreadOffset(to) => rela(at, none, spec::R_X86_64_TPOFF64, to.0 as i64),
                Value::TlsDescriptor(to) => rela(at, none, spec::R_X86_64_TLSDESC, to.0 as i64),
                Value::Resolved(by) => rela(at, none, spec::R_X86_64_IRELATIVE, by.0 as i64),
            };
            all.others.push(other);
        }
        all.others.extend(copies.map(|(symbol, at)| rela(at, symbol, spec::R_X86_64_COPY, 0)));
        all.relative.sort_unstable();
        let is_relative = |kind| kind == spec::R_X86_64_RELATIVE;
        all.others.sort_unstable_by_key(|relocation| {
            let (kind, symbol) = parts(relocation);
            // Resolvers may use all that is relocated; the loader remembers the symbol before.
            let resolved = kind == spec::R_X86_64_IRELATIVE;
            (!is_relative(kind), resolved, symbol, kind, relocation.offset)
        });
        all.relative_others =
            all.others.iter().take_while(|relocation| is_relative(parts(relocation).0)).count();
        all
    }

    /// How many symbols the loader looks up for them.
    pub(crate) fn symbols(&self) -> usize {
        let symbols = self.others.iter().map(|relocation| parts(relocation).1);
        symbols.filter(|symbol| *symbol != 0).collect::<BTreeSet<u64>>().len()
    }

    /// Puts a reference to a local function of the bundle before all that need a look-up: the loader
    /// calls it then, as its kind of symbol (IFUNC) tells, for a word that nobody reads.
    pub(crate) fn begin_with(&mut self, symbol: SymbolIndex, word: BundleVa) {
        let info = relocation_info(symbol.0, spec::R_X86_64_GLOB_DAT);
        self.first = Some(Rela { offset: Va(word.0), info, addend: 0 });
    }

    /// DT_RELA.
    pub(crate) fn table(&self) -> Vec<u8> {
        let (relative, others) = self.others.split_at(self.relative_others);
        relative.iter().chain(&self.first).chain(others).flat_map(Rela::bytes).collect()
    }

    /// Addresses of all words that are written, but for what is copied into data.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = BundleVa> {
        self.relative.iter().copied().chain(self.others())
    }

    /// Those that are written where the bundle does not move.
    pub(crate) fn others(&self) -> impl Iterator<Item = BundleVa> {
        let others = self.others.iter().chain(&self.first);
        let others = others.filter(|relocation| parts(relocation).0 != spec::R_X86_64_COPY);
        others.map(|relocation| BundleVa(relocation.offset.0))
    }

    /// RELR.
    pub(crate) fn packed(&self) -> Vec<u8> {
        let addresses = self.relative.iter().map(|at| Va(at.0));
        relr::encode(addresses).into_iter().flat_map(u64::to_le_bytes).collect()
    }
}

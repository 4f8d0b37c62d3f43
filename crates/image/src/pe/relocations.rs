//! Base relocations: what changes where an image is not at its preferred base.
//!
//! Format: *The .reloc Section*. The table is found through the data directory; sections may be
//! called anything.

use super::read::{PAGE, Pe};
use super::spec;
use crate::notes::Notes;
use model::Rva;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a block's header: the page's address and the block's size.
pub const BLOCK_HEADER: usize = 8;

/// Relocations of one page.
#[derive(Clone, Copy, Debug)]
pub struct RelocationBlock<'a> {
    /// Address of the page, relative to the base.
    pub page: Rva,
    entries: &'a [u8],
}

/// One base relocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaseRelocation {
    /// Address that it writes to, relative to the base.
    pub rva: Rva,
    /// `IMAGE_REL_BASED_*`.
    pub kind: u8,
    /// Of HIGHADJ the low half of the address, which the entry behind holds.
    pub adjustment: u16,
}

/// What is wrong with a relocation table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableDamage {
    /// The directory names an address that the file has no bytes for.
    #[error("the relocation table at {rva:#x} is not in the file")]
    NotInFile {
        /// Its address.
        rva: Rva,
    },
    /// A block's size is not that of a block.
    #[error("the relocation block at {rva:#x} has the size {size}")]
    BlockSize {
        /// Its address.
        rva: Rva,
        /// The size found.
        size: u32,
    },
    /// HIGHADJ takes two entries.
    #[error("the relocation block at {rva:#x} ends within a HIGHADJ relocation")]
    Adjustment {
        /// The block's address.
        rva: Rva,
    },
}

/// The blocks of a relocation table, in order; ends at the first damage.
#[derive(Clone, Debug)]
pub struct RelocationBlocks<'a> {
    table: &'a [u8],
    rva: Rva,
    missing: Option<TableDamage>,
}

impl<'a> Pe<'a> {
    /// The relocation table; without blocks where there is none.
    pub fn relocation_blocks(&self) -> RelocationBlocks<'a> {
        match self.relocation_table() {
            Ok(Some((rva, table))) => RelocationBlocks::of(rva, table),
            Ok(None) => RelocationBlocks::of(Rva(0), &[]),
            Err(damage) => RelocationBlocks { table: &[], rva: Rva(0), missing: Some(damage) },
        }
    }

    /// Address and bytes of the relocation table, if there is one.
    ///
    /// # Errors
    /// The file has no bytes for it.
    pub fn relocation_table(&self) -> Result<Option<(Rva, &'a [u8])>, TableDamage> {
        let Some(directory) = self.directory(spec::BASERELOC) else { return Ok(None) };
        let rva = directory.rva;
        let rest = self.at(rva).ok_or(TableDamage::NotInFile { rva })?;
        // What a linker says is there but left out of the file is zero in memory.
        let size = rest.len().min(directory.size as usize);
        Ok(Some((rva, rest.get(..size).unwrap_or(&[]))))
    }
}

impl<'a> RelocationBlocks<'a> {
    /// The blocks of a table at an address.
    pub fn of(rva: Rva, table: &'a [u8]) -> RelocationBlocks<'a> {
        RelocationBlocks { table, rva, missing: None }
    }
}

impl<'a> Iterator for RelocationBlocks<'a> {
    type Item = Result<RelocationBlock<'a>, TableDamage>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(damage) = self.missing.take() {
            return Some(Err(damage));
        }
        let (header, rest) = self.table.split_first_chunk::<BLOCK_HEADER>()?;
        let [a, b, c, d, e, f, g, h] = *header;
        let page = Rva(u32::from_le_bytes([a, b, c, d]));
        let size = u32::from_le_bytes([e, f, g, h]);
        let entries = (size as usize).checked_sub(BLOCK_HEADER).and_then(|size| rest.get(..size));
        let Some(entries) = entries.filter(|entries| entries.len().is_multiple_of(2)) else {
            let rest = std::mem::take(&mut self.table);
            // Loaders stop at a block of no size; linkers pad with zeros.
            let padding = size == 0 && rest.iter().all(|&byte| byte == 0);
            return (!padding).then_some(Err(TableDamage::BlockSize { rva: self.rva, size }));
        };
        self.table = rest.get(entries.len()..).unwrap_or(&[]);
        self.rva = self.rva.saturating_add(size);
        Some(Ok(RelocationBlock { page, entries }))
    }
}

impl<'a> RelocationBlock<'a> {
    /// The raw entries of two bytes: the type in the highest four bits, then the place within the
    /// page.
    pub fn entries(&self) -> &'a [u8] {
        self.entries
    }

    /// Its relocations, ABSOLUTE ones among them.
    ///
    /// # Errors
    /// A HIGHADJ without its second half; nothing follows.
    pub fn relocations(
        &self,
    ) -> impl Iterator<Item = Result<BaseRelocation, TableDamage>> + use<'a> {
        let page = self.page;
        let mut entries = self.entries.chunks_exact(2).map(|entry| match *entry {
            [low, high] => u16::from_le_bytes([low, high]),
            _ => 0,
        });
        std::iter::from_fn(move || {
            let entry = entries.next()?;
            let kind = (entry >> 12) as u8;
            let rva = Rva(page.0.wrapping_add(u32::from(entry & 0xfff)));
            let adjustment = match kind {
                spec::IMAGE_REL_BASED_HIGHADJ => match entries.next() {
                    Some(adjustment) => adjustment,
                    None => return Some(Err(TableDamage::Adjustment { rva: page })),
                },
                _ => 0,
            };
            Some(Ok(BaseRelocation { rva, kind, adjustment }))
        })
    }
}

/// Name of a relocation type on a machine, as in `winnt.h` without `IMAGE_REL_BASED_`;
/// `None` for one that the machine does not have.
pub fn name(kind: u8, machine: u16) -> Option<&'static str> {
    let arm = matches!(
        machine,
        spec::IMAGE_FILE_MACHINE_ARMNT
            | spec::IMAGE_FILE_MACHINE_ARM
            | spec::IMAGE_FILE_MACHINE_THUMB
    );
    let riscv = matches!(machine, 0x5032 | 0x5064 | 0x5128);
    let loongarch = matches!(machine, 0x6232 | 0x6264);
    let mips = matches!(machine, 0x160 | 0x162 | 0x166 | 0x168 | 0x169 | 0x266 | 0x366 | 0x466);
    Some(match kind {
        0 => "ABSOLUTE",
        1 => "HIGH",
        2 => "LOW",
        3 => "HIGHLOW",
        4 => "HIGHADJ",
        5 if arm => "ARM_MOV32",
        5 if riscv => "RISCV_HIGH20",
        5 if mips => "MIPS_JMPADDR",
        7 if arm => "THUMB_MOV32",
        7 if riscv => "RISCV_LOW12I",
        8 if riscv => "RISCV_LOW12S",
        8 if loongarch => "LOONGARCH_MARK_LA",
        9 if machine == spec::IMAGE_FILE_MACHINE_IA64 => "IA64_IMM64",
        9 if mips => "MIPS_JMPADDR16",
        10 => "DIR64",
        _ => return None,
    })
}

/// Relocations, counted.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) by_type: BTreeMap<String, u64>,
    pub(super) table_bytes: u64,
    pub(super) pages: u64,
}

pub(super) fn count(file: &Pe<'_>, notes: &mut Notes) -> Counts {
    let directory = file.directory(spec::BASERELOC);
    let mut kinds = [0_u64; 16];
    let (mut pages, mut outside) = (BTreeSet::new(), 0_u64);
    let image_bytes = file.headers().image_bytes;
    for block in file.relocation_blocks() {
        let counted = block.and_then(|block| {
            outside += outside_image(&block, image_bytes);
            count_block(&block, &mut kinds, &mut pages)
        });
        if let Err(damage) = counted {
            notes.problem(damage.to_string());
        }
    }
    if outside > 0 {
        notes.problem(format!("{outside} relocations are outside of the image"));
    }
    let machine = file.headers().machine;
    let named = (0..).zip(kinds).filter(|(_, count)| *count > 0);
    let by_type = named.map(|(kind, count)| match name(kind, machine) {
        Some(name) => (name.to_owned(), count),
        None => (format!("type {kind}"), count),
    });
    let table_bytes = directory.map_or(0, |directory| directory.size.into());
    Counts { by_type: by_type.collect(), table_bytes, pages: pages.len() as u64 }
}

fn count_block(
    block: &RelocationBlock<'_>,
    kinds: &mut [u64; 16],
    pages: &mut BTreeSet<Rva>,
) -> Result<(), TableDamage> {
    let mut last = None;
    for relocation in block.relocations() {
        let BaseRelocation { rva, kind, .. } = relocation?;
        if let Some(count) = kinds.get_mut(usize::from(kind)) {
            *count += 1;
        }
        let end = rva.saturating_add(bytes(kind).saturating_sub(1));
        for page in [rva.0 / PAGE, end.0 / PAGE].map(Rva) {
            if bytes(kind) > 0 && last != Some(page) {
                last = Some(page);
                pages.insert(page);
            }
        }
    }
    Ok(())
}

/// Relocations of a block that change anything behind the image's end.
fn outside_image(block: &RelocationBlock<'_>, image_bytes: u32) -> u64 {
    if block.page.checked_add(2 * PAGE).is_some_and(|end| end.0 <= image_bytes) {
        return 0;
    }
    let is_outside = |relocation: &BaseRelocation| {
        let end = relocation.rva.checked_add(bytes(relocation.kind));
        bytes(relocation.kind) > 0 && end.is_none_or(|end| end.0 > image_bytes)
    };
    block.relocations().flatten().filter(is_outside).count() as u64
}

/// Bytes that a relocation of this type changes; those of two instructions for types that change
/// a pair.
pub fn bytes(kind: u8) -> u32 {
    match kind {
        0 => 0,
        1 | 2 | 4 => 2,
        3 => 4,
        _ => 8,
    }
}

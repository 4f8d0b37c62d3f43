//! Where everything is in memory: addresses in the bundle, before it is moved.
//!
//! ```text
//! file and program headers │ program │ library │ library │ … │ preamble │ own data │ tables
//! ```
//!
//! Distances within a module are kept, so that no instruction changes. The program headers are
//! right behind the file header, as GNU strip puts them nowhere else. In the file the modules lie as
//! they do in memory, but for whole large pages between them.

use crate::choose::members::Membership;
use crate::error::DeclineReason;
use crate::plan::member::Member;
use crate::plan::parts::{join, mapped_parts, spare_headers};
use crate::plan::tls::TlsLayout;
use crate::plan::written;
use image::elf::loadable::alignment;
use image::elf::records::{FileHeader, ProgramHeader};
use image::elf::spec;
use loader::{Graph, Module};
use model::{BundleVa, FileOffset, ModuleId, SymbolRef, Va};
use rustc_hash::{FxHashMap, FxHashSet};

/// Smallest unit of a mapping.
pub(crate) const PAGE: u64 = 4096;
/// Unit of large pages: the kernel maps as much of a file at once where its place in the file is the same
/// modulo this as its address.
pub(crate) const LARGE_PAGE: u64 = os::large_pages::BYTES;
/// Program headers besides those of the modules: four that are loaded, and those that tell where
/// something is.
pub(super) const OWN_HEADERS: usize = 12;

/// Kernels map nothing below (vm.mmap_min_addr).
const LOWEST: u64 = 0x1_0000;

/// The next multiple of `unit`, a power of two.
pub(crate) fn align_up(address: u64, unit: u64) -> u64 {
    let unit = unit.max(1);
    address.wrapping_add(unit - 1) & !(unit - 1)
}

/// The next number from `number` on that is `like` modulo `unit`, a power of two.
pub(crate) fn same_modulo(number: u64, like: u64, unit: u64) -> u64 {
    number.wrapping_add(like.wrapping_sub(number) & (unit.max(1) - 1))
}

/// The next address that is a multiple of `unit`, a power of two.
pub(crate) fn aligned(address: BundleVa, unit: u64) -> BundleVa {
    BundleVa(align_up(address.0, unit))
}

/// The multiple of [`PAGE`] at or below.
pub(crate) fn page_start(address: u64) -> u64 {
    address & !(PAGE - 1)
}

/// Where modules are.
pub(crate) struct Layout<'a> {
    /// In the order of loading; the program is the first.
    pub(crate) members: Vec<Member<'a>>,
    /// Index into `members`, by module.
    of_module: Vec<Option<usize>>,
    /// Address at which the file begins.
    pub(crate) low: BundleVa,
    /// The first address behind all modules.
    end: BundleVa,
    /// The first offset behind all modules, in a file in which nothing but headers comes first.
    file_end: FileOffset,
    /// The thread-local storage of all.
    pub(crate) tls: TlsLayout,
    /// Modules whose read-only data was put together with their code, to save program headers.
    pub(crate) joined: usize,
    /// Program headers for parts that are set apart later.
    pub(super) spare_headers: usize,
    /// Addresses and places in the file are the same modulo this.
    unit: u64,
    /// References of modules that the loader is to look up in any case.
    pub(crate) left: FxHashSet<SymbolRef>,
    /// Definitions that files of plug-ins know by names of their own, so that no other is found before them.
    pub(crate) aliases: Option<&'a FxHashMap<SymbolRef, Vec<u8>>>,
    /// It will be loaded at a multiple of a large page, and relocated there.
    copies_large_pages: bool,
}

fn have_large_pages<'p>(mut parts: impl Iterator<Item = &'p ProgramHeader>) -> bool {
    parts.any(|part| part.flags & spec::PF_W == 0 && part.file_size >= 2 * LARGE_PAGE)
}

/// Bases that were chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bases {
    /// Whether the program is at its own addresses, as it cannot move.
    pub(crate) unmoved: bool,
    /// Where the bundle begins, if the program can move.
    pub(crate) low: BundleVa,
    /// Where the libraries begin, where not behind the program.
    pub(crate) libraries: Option<BundleVa>,
}

impl<'a> Layout<'a> {
    pub(crate) fn new(
        graph: &'a Graph,
        memberships: &[Membership],
        bases: Bases,
    ) -> Result<Self, DeclineReason> {
        let merged = graph.numbered().zip(memberships).filter(|(_, m)| m.is_merged());
        Layout::of_modules(graph, merged.map(|((id, _), _)| id), bases)
    }

    /// Those of these modules, in this order.
    pub(crate) fn of_modules(
        graph: &'a Graph,
        merged: impl Iterator<Item = ModuleId>,
        bases: Bases,
    ) -> Result<Self, DeclineReason> {
        let merged: Vec<(ModuleId, &Module)> = merged.map(|id| (id, &graph[id])).collect();
        let mut parts: Vec<Vec<ProgramHeader>> =
            merged.iter().map(|(_, module)| mapped_parts(&module.image)).collect();
        let joined = join(&mut parts)?;
        // Where it moves, constants are relocated at every start.
        let is_fixed = bases.unmoved || bases.low > BundleVa::ZERO;
        let is_bundle = merged.first().is_some_and(|(id, _)| *id == ModuleId::PROGRAM);
        let copies_large_pages = is_bundle && !is_fixed && have_large_pages(parts.iter().flatten());
        let spare_headers = if is_fixed { spare_headers(&parts) } else { 0 };
        let header_count = parts.iter().map(Vec::len).sum::<usize>() + OWN_HEADERS + spare_headers;
        let blocks = merged.iter().map(|(_, module)| module.image.segment(spec::PT_TLS));
        let tls = TlsLayout::new(blocks);
        let room = align_up((FileHeader::SIZE + header_count * ProgramHeader::SIZE) as u64, PAGE);
        // A file of plug-ins that has no large pages need not have room for them.
        let is_large = is_bundle || have_large_pages(parts.iter().flatten());
        let unit = if is_large { LARGE_PAGE } else { PAGE };
        let (base, low) = program_base(&parts[0], room, bases)?;
        let mut layout = Layout {
            members: Vec::with_capacity(merged.len()),
            of_module: vec![None; graph.modules.len()],
            low,
            end: BundleVa::ZERO,
            file_end: FileOffset::ZERO,
            tls,
            joined,
            spare_headers,
            unit,
            left: FxHashSet::default(),
            aliases: None,
            copies_large_pages,
        };
        for (at, ((id, module), parts)) in merged.into_iter().zip(parts).enumerate() {
            layout.of_module[id.index()] = Some(at);
            layout.place(id, module, parts, base, bases.libraries);
        }
        Ok(layout)
    }

    fn place(
        &mut self,
        id: ModuleId,
        module: &'a Module,
        parts: Vec<ProgramHeader>,
        program: u64,
        libraries: Option<BundleVa>,
    ) {
        let at = self.members.len();
        let low = parts.first().map_or(Va::ZERO, |part| Va(page_start(part.address.0)));
        let file_end = parts.iter().map(|part| part.address + part.file_size).max();
        let (base, file_base) = if at == 0 {
            (program, program.wrapping_sub(self.low.0))
        } else {
            let unit = alignment(&parts);
            // Own address and new address are the same modulo the alignment, file offset and distance from
            // where the file begins modulo a large page, too.
            let base = align_up(self.end.0.wrapping_sub(low.0), unit);
            let base = if self.copies_large_pages {
                written::base(&module.image, base, unit)
            } else {
                base
            };
            let free = self.file_end.0.wrapping_sub(low.0);
            (base, same_modulo(free, base.wrapping_sub(self.low.0), unit.max(self.unit)))
        };
        let (image, tls) = (&module.image, self.tls.starts[at]);
        let member =
            Member { id, module, image, base, file_base, low, tls, parts, constant: false };
        self.end = aligned(member.end(), PAGE);
        self.file_end = FileOffset(align_up(member.offset(file_end.unwrap_or(low)).0, PAGE));
        if let Some(libraries) = libraries.filter(|_| at == 0) {
            self.end = libraries;
        }
        self.members.push(member);
    }

    /// The first offset behind all modules, in a file in which nothing but headers comes first.
    pub(super) fn file_end(&self) -> FileOffset {
        self.file_end
    }

    /// By multiples of this all modules may be moved together.
    pub(super) fn alignment(&self) -> u64 {
        let strictest = self.members.iter().map(|member| alignment(&member.parts)).max();
        strictest.unwrap_or(self.unit).max(self.unit)
    }

    /// Whether a part that nobody writes to holds a whole large page, wherever it begins.
    pub(crate) fn has_large_pages(&self) -> bool {
        have_large_pages(self.members.iter().flat_map(|member| &member.parts))
    }

    /// Where program headers end at the latest.
    pub(crate) fn headers_end(&self) -> BundleVa {
        let parts = self.members.iter().map(|member| member.parts.len()).sum::<usize>();
        let headers = parts + self.spare_headers + OWN_HEADERS;
        self.low + (FileHeader::SIZE + headers * ProgramHeader::SIZE) as u64
    }

    /// Address of the preamble.
    pub(crate) fn preamble(&self) -> BundleVa {
        self.end
    }

    /// The program, which is merged in every bundle; in a file of plug-ins the first module.
    pub(crate) fn program(&self) -> &Member<'a> {
        &self.members[0]
    }

    /// Whether it is a bundle, and not a file of plug-ins.
    pub(crate) fn has_program(&self) -> bool {
        self.program().id == ModuleId::PROGRAM
    }

    /// Whether the module is merged.
    pub(crate) fn is_merged(&self, module: ModuleId) -> bool {
        self.of_module[module.index()].is_some()
    }

    /// How many modules a start of the bundle loads: itself, and those outside.
    pub(crate) fn modules_of_start(&self) -> u64 {
        1 + self.of_module.iter().filter(|at| at.is_none()).count() as u64
    }

    /// The module, if it is merged.
    pub(crate) fn member(&self, module: ModuleId) -> Option<&Member<'a>> {
        self.of_module[module.index()].map(|at| &self.members[at])
    }
}

/// What is added to the program's addresses, and the address at which the file begins.
fn program_base(
    parts: &[ProgramHeader],
    room: u64,
    bases: Bases,
) -> Result<(u64, BundleVa), String> {
    let own = parts.first().map_or(0, |part| page_start(part.address.0));
    let before = align_up(room, alignment(parts));
    if !bases.unmoved {
        return Ok(((bases.low + before).0.wrapping_sub(own), bases.low));
    }
    let low = own.checked_sub(before).filter(|&low| low >= LOWEST).ok_or_else(|| {
        format!("its first address, {own:#x}, leaves no room for program headers before it")
    })?;
    Ok((0, BundleVa(low)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::parts::tests::usual;

    #[test]
    fn headers_come_before_the_program() {
        let free = Bases { unmoved: false, low: BundleVa::ZERO, libraries: None };
        assert_eq!(program_base(&usual(), 0x2000, free), Ok((0x2000, BundleVa(0))));
        let at = Bases { low: BundleVa(0x60_0000), ..free };
        assert_eq!(program_base(&usual(), 0x2000, at), Ok((0x60_2000, BundleVa(0x60_0000))));
        let mut large = usual();
        large[0].alignment = 0x20_0000;
        assert_eq!(program_base(&large, 0x2000, free), Ok((0x20_0000, BundleVa(0))));
        let mut unmoved = usual();
        unmoved.iter_mut().for_each(|part| part.address += 0x40_0000);
        let fixed = Bases { unmoved: true, ..free };
        assert_eq!(program_base(&unmoved, 0x2000, fixed), Ok((0, BundleVa(0x3f_e000))));
        // Nothing is mapped at the lowest addresses.
        unmoved.iter_mut().for_each(|part| part.address = Va(part.address.0 - 0x3e_f000));
        assert!(program_base(&unmoved, 0x2000, fixed).is_err());
    }
}

//! Where everything is: addresses in the bundle, before it is moved, and offsets in its file.
//!
//! ```text
//! file and program headers │ program │ library │ library │ … │ preamble │ own data │ tables
//! ```
//!
//! Distances within a module are kept, so that no instruction changes. The program headers are
//! right behind the file header, as GNU strip puts them nowhere else.

use crate::choose::members::Place;
use crate::plan::tls;
use image::elf::Loadable;
use image::elf::loadable::{Class, Segment, alignment};
use image::elf::spec;
use loader::Graph;

/// Smallest unit of a mapping.
pub(crate) const PAGE: u64 = 4096;
/// Size of a program header.
pub(crate) const PROGRAM_HEADER: u64 = 56;
/// The kernel refuses more than 64 KiB of program headers.
pub(crate) const MOST_HEADERS: usize = 0x1_0000 / PROGRAM_HEADER as usize;
/// Size of the file header.
pub(crate) const FILE_HEADER: u64 = 64;
/// Program headers besides those of the modules: four that are loaded, and those that tell where
/// something is.
const OWN_HEADERS: usize = 12;

/// Kernels map nothing below (vm.mmap_min_addr).
const LOWEST: u64 = 0x1_0000;

/// The next multiple of `unit`, a power of two.
pub(crate) fn up(address: u64, unit: u64) -> u64 {
    let unit = unit.max(1);
    address.wrapping_add(unit - 1) & !(unit - 1)
}

/// The multiple of [`PAGE`] at or below.
pub(crate) fn page(address: u64) -> u64 {
    address & !(PAGE - 1)
}

/// A module that is merged.
pub(crate) struct Member<'a> {
    /// Its index in the graph.
    pub(crate) module: usize,
    /// Its tables.
    pub(crate) image: &'a Loadable,
    /// What is added to its own addresses.
    pub(crate) base: u64,
    /// What is added to its own addresses for an offset in the file.
    pub(crate) file_base: u64,
    /// Where its thread-local storage begins in the bundle's.
    pub(crate) tls: u64,
    /// Parts that are mapped, at their own addresses.
    pub(crate) parts: Vec<Segment>,
}

impl Member<'_> {
    /// An own address as one of the bundle.
    pub(crate) fn moved(&self, address: u64) -> u64 {
        self.base.wrapping_add(address)
    }
}

/// Where modules are.
pub(crate) struct Layout<'a> {
    /// In the order of loading; the program is the first.
    pub(crate) members: Vec<Member<'a>>,
    /// Index into `members`, by index in the graph.
    pub(crate) of_module: Vec<Option<usize>>,
    /// Address at which the file begins.
    pub(crate) low: u64,
    /// The first address behind all modules.
    pub(crate) end: u64,
    /// The first offset in the file behind all modules.
    pub(crate) file_end: u64,
    /// The thread-local storage of all.
    pub(crate) tls: tls::Plan,
    /// Modules whose read-only data was put together with their code, to save program headers.
    pub(crate) joined: usize,
}

/// Bases that were chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bases {
    /// What is added to the program's own addresses; where it can move and need not be anywhere,
    /// there is just room for the headers before it.
    pub(crate) program: Option<u64>,
    /// Where the libraries begin, where not behind the program.
    pub(crate) libraries: Option<u64>,
}

impl<'a> Layout<'a> {
    pub(crate) fn new(graph: &'a Graph, places: &[Place], bases: Bases) -> Result<Self, String> {
        let merged = graph.modules.iter().zip(places).enumerate();
        let merged = merged.filter(|(_, (_, place))| place.is_merged());
        let images: Vec<(usize, &Loadable)> =
            merged.map(|(index, (module, _))| (index, &module.image)).collect();
        let mut parts: Vec<Vec<Segment>> = images.iter().map(|(_, image)| parts(image)).collect();
        let joined = join(&mut parts)?;
        let header_count = parts.iter().map(Vec::len).sum::<usize>() + OWN_HEADERS;
        let tls = tls::Plan::new(images.iter().map(|(_, image)| image.segment(spec::PT_TLS)));
        let room = up(FILE_HEADER + header_count as u64 * PROGRAM_HEADER, PAGE);
        let (base, low) = program_base(parts.first().map_or(&[], Vec::as_slice), room, bases)?;
        let mut layout = Layout {
            members: Vec::with_capacity(images.len()),
            of_module: vec![None; graph.modules.len()],
            low,
            end: 0,
            file_end: 0,
            tls,
            joined,
        };
        for (at, ((module, image), parts)) in images.into_iter().zip(parts).enumerate() {
            layout.of_module[module] = Some(at);
            layout.place(module, image, parts, base, bases.libraries);
        }
        Ok(layout)
    }

    fn place(
        &mut self,
        module: usize,
        image: &'a Loadable,
        parts: Vec<Segment>,
        program: u64,
        libraries: Option<u64>,
    ) {
        let at = self.members.len();
        let low = parts.first().map_or(0, |part| page(part.address));
        let end = parts.iter().map(Segment::end).max().unwrap_or(low);
        let file_end = parts.iter().map(|part| part.address + part.file_size).max();
        let (base, file_base) = if at == 0 {
            (program, program.wrapping_sub(self.low))
        } else {
            let unit = alignment(&parts);
            // Own address, new address and file offset are the same modulo the alignment.
            let same = |free: u64| up(free.wrapping_sub(low), unit);
            (same(self.end), same(self.file_end))
        };
        self.end = up(base.wrapping_add(end), PAGE);
        self.file_end = up(file_base.wrapping_add(file_end.unwrap_or(low)), PAGE);
        if let Some(libraries) = libraries.filter(|_| at == 0) {
            self.end = libraries;
        }
        let tls = self.tls.starts.get(at).copied().unwrap_or(0);
        self.members.push(Member { module, image, base, file_base, tls, parts });
    }

    /// Where the first module begins.
    pub(crate) fn first(&self) -> u64 {
        let part = self.members.first().and_then(|member| Some((member, member.parts.first()?)));
        part.map_or(self.low, |(member, part)| page(member.moved(part.address)))
    }

    /// Where program headers end at the latest.
    pub(crate) fn headers_end(&self) -> u64 {
        let parts = self.members.iter().map(|member| member.parts.len()).sum::<usize>();
        self.low + FILE_HEADER + (parts + OWN_HEADERS) as u64 * PROGRAM_HEADER
    }

    /// Address of the preamble.
    pub(crate) fn preamble(&self) -> u64 {
        self.end
    }

    /// The program, which is always merged.
    pub(crate) fn program(&self) -> &Member<'a> {
        &self.members[0]
    }

    /// The merged module with this index in the graph.
    pub(crate) fn member(&self, module: usize) -> Option<&Member<'a>> {
        self.members.get((*self.of_module.get(module)?)?)
    }
}

/// What is added to the program's addresses, and the address at which the file begins.
fn program_base(parts: &[Segment], room: u64, bases: Bases) -> Result<(u64, u64), String> {
    let own = parts.first().map_or(0, |part| page(part.address));
    let before = up(room, alignment(parts));
    let base = bases.program.unwrap_or(before.wrapping_sub(own));
    let low = base.wrapping_add(own).checked_sub(before);
    let low = low.filter(|&low| bases.program.is_none() || low >= LOWEST);
    let low = low.ok_or_else(|| {
        format!("its first address, {own:#x}, leaves no room for program headers before it")
    })?;
    Ok((base, low))
}

/// What is mapped of an image. Where something is written behind what the file has, that becomes
/// part of the file too.
fn parts(image: &Loadable) -> Vec<Segment> {
    let loaded = image.segments().iter().filter(|part| part.loads() && part.memory_size > 0);
    let mut parts: Vec<Segment> = loaded.copied().collect();
    let mut reach = |from: u64, size: u64| {
        let part = parts.iter_mut().find(|part| part.holds(from));
        if let Some(part) = part.filter(|part| part.flags & spec::PF_W != 0) {
            let needed = from.saturating_add(size).min(part.end()) - part.address;
            part.file_size = part.file_size.max(needed);
        }
    };
    for relocation in image.relocations() {
        let copied = relocation.class == Class::Copy;
        let symbol = || image.symbol(relocation.symbol).map_or(0, |symbol| symbol.size);
        reach(relocation.offset, if copied { symbol() } else { 8 });
    }
    image.packed_addresses().for_each(|address| reach(address, 8));
    parts
}

/// Where there are more program headers than a kernel takes: neighbours that are not written
/// become one, in as many modules as it takes.
fn join(parts: &mut [Vec<Segment>]) -> Result<usize, String> {
    let mut count = parts.iter().map(Vec::len).sum::<usize>() + OWN_HEADERS;
    let mut joined = 0;
    for parts in parts.iter_mut() {
        if count <= MOST_HEADERS {
            break;
        }
        let before = parts.len();
        *parts = without_borders(parts);
        count -= before - parts.len();
        joined += usize::from(parts.len() < before);
    }
    if count > MOST_HEADERS {
        return Err(format!(
            "it would need {count} program headers, and kernels take {MOST_HEADERS}; leave \
             libraries out with --outside"
        ));
    }
    Ok(joined)
}

fn without_borders(parts: &[Segment]) -> Vec<Segment> {
    let read_only = |part: &Segment| part.flags & spec::PF_W == 0;
    let mut all: Vec<Segment> = Vec::with_capacity(parts.len());
    for part in parts {
        match all.last_mut().filter(|last| read_only(last) && read_only(part)) {
            Some(last) => {
                last.file_size = part.address + part.file_size - last.address;
                last.memory_size = part.end() - last.address;
                last.flags |= part.flags;
            }
            None => all.push(*part),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(flags: u32, address: u64, size: u64) -> Segment {
        let kind = spec::PT_LOAD;
        let (offset, alignment) = (address, PAGE);
        Segment { kind, flags, offset, address, file_size: size, memory_size: size, alignment }
    }

    fn usual() -> Vec<Segment> {
        let (r, w, x) = (spec::PF_R, spec::PF_R | spec::PF_W, spec::PF_R | spec::PF_X);
        vec![part(r, 0, 0x400), part(x, 0x1000, 0x80), part(r, 0x2000, 0x90), part(w, 0x3e00, 8)]
    }

    #[test]
    fn borders_go_where_kernels_would_refuse_and_only_there() {
        let mut few = vec![usual(); 100];
        assert_eq!(join(&mut few), Ok(0));
        assert_eq!(few[0].len(), 4);
        // 300 × 4 and twelve are 42 too many; each module can save two.
        let mut many = vec![usual(); 300];
        assert_eq!(join(&mut many), Ok(21));
        assert_eq!(many.iter().map(Vec::len).sum::<usize>() + OWN_HEADERS, MOST_HEADERS);
        let joined = &many[0][0];
        assert_eq!((joined.address, joined.end(), many[0].len()), (0, 0x2090, 2));
        assert_eq!(joined.flags, spec::PF_R | spec::PF_X);
        let refused = join(&mut vec![usual(); 700]).expect_err("two parts each are too many");
        assert!(refused.contains("1412") && refused.contains("--outside"), "{refused}");
    }

    #[test]
    fn headers_come_before_the_program() {
        let free = Bases { program: None, libraries: None };
        assert_eq!(program_base(&usual(), 0x2000, free), Ok((0x2000, 0)));
        let at = |base| Bases { program: Some(base), libraries: None };
        assert_eq!(program_base(&usual(), 0x2000, at(0x40_0000)), Ok((0x40_0000, 0x3f_e000)));
        let mut large = usual();
        large[0].alignment = 0x20_0000;
        assert_eq!(program_base(&large, 0x2000, free), Ok((0x20_0000, 0)));
        // Nothing is mapped at the lowest addresses.
        assert!(program_base(&usual(), 0x2000, at(0x1_1000)).is_err());
    }
}

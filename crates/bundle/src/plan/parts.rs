//! Parts of modules: what is mapped of each, and what is put together to save program headers.

use crate::error::{BundleAdvice, DeclineReason};
use crate::plan::layout::{OWN_HEADERS, PAGE, align_up, page_start};
use image::elf::Loadable;
use image::elf::loadable::Class;
use image::elf::records::ProgramHeader;
use image::elf::spec;
use model::Va;

/// The kernel refuses more than 64 KiB of program headers.
const MOST_HEADERS: usize = 0x1_0000 / ProgramHeader::SIZE;

/// What is mapped of an image. Where something is written behind what the file has, that becomes
/// part of the file too.
pub(super) fn mapped_parts(image: &Loadable) -> Vec<ProgramHeader> {
    let loaded = image.segments().iter().filter(|part| part.loads() && part.memory_size > 0);
    let mut parts: Vec<ProgramHeader> = loaded.copied().collect();
    let mut reach = |from: Va, size: u64| {
        let part = parts.iter_mut().find(|part| part.holds(from));
        if let Some(part) = part.filter(|part| part.flags & spec::PF_W != 0) {
            let needed = from.saturating_add(size).min(part.end()) - part.address;
            part.file_size = part.file_size.max(needed);
        }
    };
    for relocation in image.relocations() {
        let copied = relocation.class == Class::Copy;
        let symbol = || {
            relocation.symbol.and_then(|index| image.symbol(index)).map_or(0, |symbol| symbol.size)
        };
        reach(relocation.offset, if copied { symbol() } else { 8 });
    }
    image.packed_addresses().for_each(|address| reach(address, 8));
    let most = if image.refers_to(&ADVISES) { 0 } else { MOST_ZEROS };
    parts.iter_mut().for_each(|part| fill_zeros(part, most));
    parts
}

/// Bytes of zeros that a module has in the file at most. Of more, a launch may need few.
const MOST_ZEROS: u64 = 8 * PAGE;
/// Functions by which code asks the kernel for what it does for memory of no file only (MADV_FREE, MADV_WIPEONFORK).
const ADVISES: [&[u8]; 3] = [b"madvise", b"process_madvise", b"syscall"];

/// What is written and zero at first comes from the file, too: a few pages as a whole, else up to the end of a page.
/// The kernel would map the pages behind the file's at every start on their own, and clear the end of the file's last
/// page, and so read and copy it.
fn fill_zeros(part: &mut ProgramHeader, most: u64) {
    if part.flags & spec::PF_W != 0 && part.file_size > 0 {
        let page_end = align_up(part.address.0 + part.file_size, PAGE) - part.address.0;
        let rest = part.memory_size.saturating_sub(page_end);
        let filled = if rest <= most { part.memory_size } else { page_end.min(part.memory_size) };
        part.file_size = part.file_size.max(filled);
    }
}

/// Whether a part goes on in memory where another one ends, with the same rights.
pub(crate) fn continues(part: &ProgramHeader, next: &ProgramHeader) -> bool {
    part.flags == next.flags
        && part.file_size == part.memory_size
        && align_up(part.end().0, PAGE) == page_start(next.address.0)
}

/// Program headers that may be needed where constants are set apart from what is written: one a module, unless
/// they can be mapped together with what comes before.
pub(super) fn spare_headers(modules: &[Vec<ProgramHeader>]) -> usize {
    let needs = |parts: &&Vec<ProgramHeader>| {
        let written = parts.iter().position(|part| part.flags & spec::PF_W != 0);
        let before = written.and_then(|at| parts.get(at.checked_sub(1)?));
        written.is_some() && before.is_none_or(|part| part.flags != spec::PF_R)
    };
    let headers = modules.iter().map(Vec::len).sum::<usize>() + OWN_HEADERS;
    modules.iter().filter(needs).count().min(MOST_HEADERS.saturating_sub(headers))
}

/// Where there are more program headers than a kernel takes: neighbors that are not written
/// become one, in as many modules as it takes.
pub(super) fn join(parts: &mut [Vec<ProgramHeader>]) -> Result<usize, DeclineReason> {
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
        let reason =
            format!("it would need {count} program headers, and kernels take {MOST_HEADERS}");
        return Err(DeclineReason::from(reason).with(BundleAdvice::KeepSomeOutside));
    }
    Ok(joined)
}

fn without_borders(parts: &[ProgramHeader]) -> Vec<ProgramHeader> {
    let read_only = |part: &ProgramHeader| part.flags & spec::PF_W == 0;
    let mut all: Vec<ProgramHeader> = Vec::with_capacity(parts.len());
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
pub(super) mod tests {
    use super::*;
    use model::FileOffset;

    fn part(flags: u32, address: u64, size: u64) -> ProgramHeader {
        ProgramHeader {
            kind: spec::PT_LOAD,
            flags,
            offset: FileOffset(address),
            address: Va(address),
            file_size: size,
            memory_size: size,
            alignment: PAGE,
            ..ProgramHeader::default()
        }
    }

    pub(in crate::plan) fn usual() -> Vec<ProgramHeader> {
        let (r, w, x) = (spec::PF_R, spec::PF_R | spec::PF_W, spec::PF_R | spec::PF_X);
        vec![part(r, 0, 0x400), part(x, 0x1000, 0x80), part(r, 0x2000, 0x90), part(w, 0x3e00, 8)]
    }

    #[test]
    fn few_zeros_are_in_the_file_and_of_many_those_of_the_last_page() {
        let writable = part(spec::PF_R | spec::PF_W, 0x3e00, 0x300);
        for (memory, file) in [
            (0x300, 0x300),
            (0x1000, 0x1000),
            (0x200 + PAGE + MOST_ZEROS - 1, 0x200 + PAGE + MOST_ZEROS - 1),
            (0x1200 + MOST_ZEROS, 0x1200 + MOST_ZEROS),
            (0x1201 + MOST_ZEROS, 0x1200),
        ] {
            let mut filled = ProgramHeader { memory_size: memory, ..writable };
            fill_zeros(&mut filled, MOST_ZEROS);
            assert_eq!((filled.file_size, filled.memory_size), (file, memory), "{memory:#x}");
        }
        let mut whole_page = ProgramHeader { memory_size: 0x1201, ..writable };
        fill_zeros(&mut whole_page, 0);
        assert_eq!(whole_page.file_size, 0x1200);
        let constant = ProgramHeader { memory_size: PAGE, ..part(spec::PF_R, 0, 8) };
        let (mut filled, mut empty) = (constant, ProgramHeader { file_size: 0, ..writable });
        fill_zeros(&mut filled, MOST_ZEROS);
        fill_zeros(&mut empty, MOST_ZEROS);
        assert_eq!((filled.file_size, empty.file_size), (8, 0));
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
        assert_eq!((joined.address, joined.end(), many[0].len()), (Va(0), Va(0x2090), 2));
        assert_eq!(joined.flags, spec::PF_R | spec::PF_X);
        let refused = join(&mut vec![usual(); 700]).expect_err("two parts each are too many");
        assert!(refused.text.contains("1412"), "{refused}");
        assert_eq!(refused.advice, Some(BundleAdvice::KeepSomeOutside));
    }
}

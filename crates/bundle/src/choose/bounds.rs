//! Addresses and sizes that a file may have: what every sum of them relies on.

use image::elf::Loadable;
use image::elf::loadable::Class;
use image::elf::records::ProgramHeader;
use image::elf::spec;
use model::{FileOffset, Va};

/// Processes have addresses below 1 << 47 (x86-64); this leaves room for the rest of a bundle.
const HIGHEST: Va = Va(0x7fff_0000_0000);
/// What linkers align pages to, at most.
const LARGEST_ALIGNMENT: u64 = 1 << 30;
/// How much more than its file a module may take in another file: alignment, and data that is
/// written before it is there.
const LARGEST_GROWTH: u64 = 256 << 20;
/// Thread-local storage: a block is allocated for each thread.
const LARGEST_BLOCK: u64 = 1 << 30;

/// What is wrong with an image's own numbers; such a file is damaged.
pub(crate) fn fault(image: &Loadable) -> Option<String> {
    let loaded: Vec<&ProgramHeader> =
        image.segments().iter().filter(|part| part.loads() && part.memory_size > 0).collect();
    let fault = loaded.iter().find_map(|part| of_segment(part, image));
    let fault = fault.or_else(|| of_order(&loaded)).or_else(|| of_relocations(image, &loaded));
    let fault = fault.or_else(|| of_growth(image, &loaded)).or_else(|| of_blocks(image, &loaded));
    fault.map(|fault| format!("its file is damaged: {fault}"))
}

fn of_segment(part: &ProgramHeader, image: &Loadable) -> Option<String> {
    let at = part.address;
    let file_end = part.offset.checked_add(part.file_size);
    if file_end.is_none_or(|end| end > FileOffset::at(image.bytes().len())) {
        return Some(format!("the segment for {at:#x} ends behind the end of the file"));
    }
    if part.address.checked_add(part.memory_size).is_none_or(|end| end > HIGHEST) {
        return Some(format!("a segment at {at:#x} of {:#x} bytes", part.memory_size));
    }
    if part.file_size > part.memory_size {
        return Some(format!("the segment at {at:#x} has more bytes than memory"));
    }
    let alignment = part.alignment;
    if alignment > LARGEST_ALIGNMENT || alignment > 0 && !alignment.is_power_of_two() {
        return Some(format!("the segment at {at:#x} is aligned to {alignment:#x}"));
    }
    None
}

fn of_order(loaded: &[&ProgramHeader]) -> Option<String> {
    let mut pairs = loaded.iter().zip(loaded.iter().skip(1));
    let (_, second) = pairs.find(|(first, second)| first.end() > second.address)?;
    Some(format!("the segment at {:#x} is not behind the one before it", second.address))
}

/// What is relocated must be written to; what the loader would do otherwise is end the program.
fn of_relocations(image: &Loadable, loaded: &[&ProgramHeader]) -> Option<String> {
    let written = |address: Va, size: u64| {
        let part = loaded.iter().find(|part| part.holds(address));
        part.is_some_and(|part| part.flags & spec::PF_W != 0 && part.end() - address >= size)
    };
    let relocations = image.relocations().filter(|one| one.class != Class::None);
    let mut places = relocations.map(|one| match one.class {
        Class::Copy => (
            one.offset,
            one.symbol.and_then(|index| image.symbol(index)).map_or(0, |symbol| symbol.size),
        ),
        _ => (one.offset, 8),
    });
    let mut packed = image.packed_addresses().map(|address| (address, 8));
    let beside = |&(address, size): &(Va, u64)| !written(address, size);
    let (address, _) = places.find(beside).or_else(|| packed.find(beside))?;
    Some(format!("a relocation at {address:#x}, where nothing is written"))
}

/// Gaps, and what is written behind the file's own data.
fn of_growth(image: &Loadable, loaded: &[&ProgramHeader]) -> Option<String> {
    let own = image.bytes().len() as u64;
    let start = loaded.first()?.address;
    let relocations = image.relocations().filter(|one| one.class != Class::None);
    let last = relocations.map(|one| one.offset).chain(image.packed_addresses()).max();
    let ends = loaded.iter().map(|part| part.address + part.file_size);
    let end = ends.chain(last).max().unwrap_or(start);
    let grown = (end - start).saturating_sub(own);
    (grown > LARGEST_GROWTH)
        .then(|| format!("{own} bytes are strewn over {:#x} bytes of memory", end - start))
}

/// Parts of what is loaded that have a meaning of their own.
fn of_blocks(image: &Loadable, loaded: &[&ProgramHeader]) -> Option<String> {
    if let Some(block) = image.segment(spec::PT_TLS)
        && (block.memory_size > LARGEST_BLOCK || block.file_size > block.memory_size)
    {
        return Some(format!("{:#x} bytes of thread-local storage", block.memory_size));
    }
    let blocks = [spec::PT_TLS, spec::PT_GNU_RELRO, spec::PT_GNU_EH_FRAME];
    for block in blocks.into_iter().filter_map(|kind| image.segment(kind)) {
        if let Some(fault) = of_segment(block, image) {
            return Some(fault);
        }
    }
    let relro = image.segment(spec::PT_GNU_RELRO).filter(|relro| relro.memory_size > 0)?;
    let within = loaded.iter().any(|part| part.holds(relro.address));
    (!within).then(|| format!("nothing at {:#x} can become read-only", relro.address))
}

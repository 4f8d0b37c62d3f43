//! The breakpoints of one address space: planted by the page, found and removed by address.

use super::pe_images::PeImage;
use super::planting::{Planting, plant_in_memory};
use super::watched::{FunctionPlace, HEAD_BYTES, Head, Hit, Watched, first};
use crate::linux::trace::maps::{self, FileMapping};
use crate::linux::trace::ptrace::{self, Tid};
use crate::linux::trace::{arch, breakpoints, images};
use image::{CodePart, FunctionStarts};
use model::{Format, MappedVa, ModuleId, Rva, text};
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// The modules of an address space that are watched.
#[derive(Default)]
pub struct Watch {
    /// In order of address.
    modules: Vec<Watched>,
    /// PE images, whose code is still to be filled or is in `modules`.
    images: Vec<PeImage>,
    /// `/proc/PID/mem`, once it has been needed.
    memory: Option<File>,
}

impl Watch {
    /// What a fork of the space begins with: the same breakpoints.
    pub fn forked(&self) -> Watch {
        Watch { modules: self.modules.clone(), images: self.images.clone(), memory: None }
    }

    /// Plants a breakpoint at every function of `mapping`, which is a part of `code`; gives their
    /// number. What was watched at these addresses before is gone.
    pub fn plant(
        &mut self,
        tid: Tid,
        module: ModuleId,
        functions: &Arc<FunctionStarts>,
        mapping: &FileMapping,
        code: &File,
    ) -> io::Result<usize> {
        self.forget(&mapping.memory);
        let Some(part) = part_of(functions, mapping) else { return Ok(0) };
        let base = base_of(functions, mapping, part);
        let file = (&*mapping.path, mapping.inode);
        let mut watched = Watched::new(module, functions, mapping.memory.clone(), base, file);
        let planting = Planting { watched: &watched, memory: self.memory(tid)?, part, code };
        // A thread that hits one meanwhile is looked at only when all are planted.
        let heads = planting.plant_all(&watched.runs())?;
        let count = watched.set_heads(heads);
        self.insert(watched);
        Ok(count)
    }

    /// Remembers a PE image that is being mapped. What was at its addresses before is gone.
    pub fn add_image(&mut self, image: PeImage) {
        self.forget(&image.memory);
        self.images.push(image);
    }

    /// The PE image around `address`.
    pub fn image_at(&self, address: MappedVa) -> Option<&PeImage> {
        self.images.iter().find(|image| image.memory.contains(&address))
    }

    /// Plants a breakpoint at every function of `image` in `memory`, which the process has filled
    /// and is about to make executable; gives their number. Where functions are watched already
    /// nothing happens.
    pub fn plant_image(
        &mut self,
        tid: Tid,
        module: ModuleId,
        image: &PeImage,
        memory: Range<MappedVa>,
    ) -> io::Result<usize> {
        let mut count = 0;
        for memory in self.unwatched(memory) {
            let (functions, base) = (&image.functions, image.memory.start);
            let mut watched = Watched::new(module, functions, memory, base, (&image.path, 0));
            count += plant_in_memory(&mut watched, self.memory(tid)?)?;
            self.insert(watched);
        }
        Ok(count)
    }

    /// The parts of `memory` in which nothing is watched.
    fn unwatched(&self, memory: Range<MappedVa>) -> Vec<Range<MappedVa>> {
        let (mut start, mut parts) = (memory.start, Vec::new());
        for one in &self.modules {
            if one.memory.start < memory.end && start < one.memory.end {
                parts.extend((start < one.memory.start).then_some(start..one.memory.start));
                start = one.memory.end;
            }
        }
        parts.extend((start < memory.end).then_some(start..memory.end));
        parts
    }

    /// Whether functions are watched in the mapping or image around `address`.
    pub fn contains(&self, address: MappedVa) -> bool {
        let in_module = self.modules.iter().any(|one| one.memory.contains(&address));
        in_module || self.image_at(address).is_some()
    }

    /// What is at `address` of a function that is watched.
    pub fn at(&self, address: MappedVa) -> Option<Hit> {
        let place = self.find(address)?;
        Some(self.modules[place.module].hit(place))
    }

    /// Whether the breakpoint of a function, which `tid` has executed at `address`, is the
    /// recorder's. The program may have unmapped the code, and have mapped other memory there, or
    /// have written into its code: a breakpoint in that is its own affair.
    pub fn is_ours(&mut self, tid: Tid, address: MappedVa, place: FunctionPlace) -> bool {
        let found = self.head(tid, address);
        let watched = &self.modules[place.module];
        if !watched.planted.get(place.index) {
            // Another thread has just hit it, unless a breakpoint is there again.
            return first(found) != arch::BREAKPOINT;
        }
        // Wine relocates code that has been planted in, and so does the loader in some images.
        watched.functions.format == Format::Pe
            || watched.looks_planted(place.index, found)
            || is_relocated(watched, tid, address)
    }

    /// Whether the function at `address` begins with an instruction that puts the flags on the stack.
    pub fn saves_flags(&self, address: MappedVa) -> bool {
        self.find(address).is_some_and(|place| {
            self.modules[place.module].original(place.index) == arch::PUSH_FLAGS
        })
    }

    /// Whether the function at `address` has, or had, a breakpoint of the recorder.
    pub fn had_breakpoint(&self, address: MappedVa) -> bool {
        self.find(address).is_some_and(|place| {
            self.modules[place.module].original(place.index) != arch::BREAKPOINT
        })
    }

    /// Puts the original byte back.
    pub fn lift(&mut self, tid: Tid, address: MappedVa, place: FunctionPlace) -> io::Result<()> {
        self.write(tid, address, self.modules[place.module].original(place.index))?;
        self.modules[place.module].planted.set(place.index, false);
        Ok(())
    }

    /// Plants the breakpoint again.
    pub fn replant(&mut self, tid: Tid, address: MappedVa) -> io::Result<()> {
        let Some(place) = self.find(address) else { return Ok(()) };
        self.write(tid, address, arch::BREAKPOINT)?;
        self.modules[place.module].planted.set(place.index, true);
        Ok(())
    }

    /// Lifts every breakpoint, for a process whose memory can soon not be written any more.
    pub fn lift_all(&mut self, tid: Tid) {
        self.lift_in(tid, &(MappedVa::ZERO..MappedVa(u64::MAX)));
        self.modules.clear();
    }

    /// Lifts every breakpoint in `memory` that the program has left there; whether there were any.
    pub fn lift_in(&mut self, tid: Tid, memory: &Range<MappedVa>) -> bool {
        let overlaps =
            |one: &Watched| one.memory.start < memory.end && memory.start < one.memory.end;
        if !self.modules.iter().any(overlaps) {
            return false;
        }
        let files = maps::files(tid).unwrap_or_default();
        let mut lifted = false;
        let mut modules = std::mem::take(&mut self.modules);
        for watched in modules.iter_mut().filter(|one| overlaps(one)) {
            for index in 0..watched.starts.len() {
                let address = watched.address(index);
                if !watched.planted.get(index) || !memory.contains(&address) {
                    continue;
                }
                watched.planted.set(index, false);
                // A page that is gone cannot be executed either.
                let found = self.head(tid, address);
                if is_left(watched, index, found, maps::around(&files, address)) {
                    lifted |= self.write(tid, address, watched.original(index)).is_ok();
                }
            }
        }
        self.modules = modules;
        lifted
    }

    fn write(&mut self, tid: Tid, address: MappedVa, byte: u8) -> io::Result<()> {
        let written = self.memory(tid).and_then(|file| file.write_all_at(&[byte], address.0));
        // Some kernels keep this file from changing code, but not ptrace (proc_mem.force_override).
        written.or_else(|_| breakpoints::restore(tid, address, byte))
    }

    /// The first bytes at `address`; zeros behind the end of the memory.
    fn head(&mut self, tid: Tid, address: MappedVa) -> Head {
        let mut bytes = [0; HEAD_BYTES];
        if self.memory(tid).and_then(|file| file.read_at(&mut bytes, address.0)).is_err() {
            bytes.fill(0);
        }
        Head::from_le_bytes(bytes)
    }

    fn memory(&mut self, tid: Tid) -> io::Result<&File> {
        match &mut self.memory {
            Some(file) => Ok(file),
            none => {
                let path = ptrace::proc_path(tid, "mem");
                Ok(none.insert(OpenOptions::new().read(true).write(true).open(path)?))
            }
        }
    }

    fn find(&self, address: MappedVa) -> Option<FunctionPlace> {
        let after = self.modules.partition_point(|one| one.memory.start <= address);
        let module = after.checked_sub(1)?;
        let watched = self.modules.get(module)?;
        if !watched.memory.contains(&address) {
            return None;
        }
        let rva = u32::try_from(address.0.wrapping_sub(watched.base.0)).ok()?;
        let starts = watched.functions.starts.get(watched.starts.clone())?;
        let index = starts.binary_search(&Rva(rva)).ok()?;
        // An int3 of the program's own is its own affair.
        (watched.original(index) != arch::BREAKPOINT).then_some(FunctionPlace { module, index })
    }

    /// Something else has been mapped there.
    fn forget(&mut self, memory: &Range<MappedVa>) {
        let apart = |one: &Range<MappedVa>| one.end <= memory.start || memory.end <= one.start;
        self.modules.retain(|one| apart(&one.memory));
        self.images.retain(|one| apart(&one.memory));
    }

    /// Where it is among the others.
    fn insert(&mut self, watched: Watched) -> usize {
        let at = self.modules.partition_point(|one| one.memory.start < watched.memory.start);
        self.modules.insert(at, watched);
        at
    }
}

/// Whether the code at `address` is still that of the module, whose loader changes its code.
fn is_relocated(watched: &Watched, tid: Tid, address: MappedVa) -> bool {
    let files = maps::files(tid).unwrap_or_default();
    let file = maps::around(&files, address).filter(|file| watched.is_of(file));
    file.is_some_and(|file| {
        let path = ptrace::proc_path(tid, &format!("root{}", file.path));
        images::has_text_relocations(Path::new(&text::name(&path)))
    })
}

/// Whether a breakpoint is still where it was planted, where `found` is in memory now, of `file` or
/// of none. The program may have mapped something else there.
fn is_left(watched: &Watched, index: usize, found: Head, file: Option<&FileMapping>) -> bool {
    let is_breakpoint = first(found) == arch::BREAKPOINT;
    match file {
        Some(file) if file.shared => false,
        Some(file) if watched.is_of(file) => is_breakpoint,
        // Wine relocates code that has been planted in.
        _ if watched.functions.format == Format::Pe => is_breakpoint,
        _ => watched.looks_planted(index, found),
    }
}

/// Where RVA 0 of the image is by this mapping of its code; `None` where it is none of its code.
pub fn base(functions: &FunctionStarts, mapping: &FileMapping) -> Option<MappedVa> {
    let part = part_of(functions, mapping)?;
    Some(base_of(functions, mapping, part))
}

/// The part of the file that `mapping` begins in.
fn part_of(functions: &FunctionStarts, mapping: &FileMapping) -> Option<CodePart> {
    let length = mapping.memory.end - mapping.memory.start;
    let (from, to) = (mapping.offset.0, mapping.offset.0.saturating_add(length));
    let mut parts = functions.code.iter().copied();
    parts.find(|part| part.offset.0 < to && from < part.offset.0.saturating_add(part.bytes))
}

/// Where RVA 0 is when `part` of the file is in `mapping`.
fn base_of(functions: &FunctionStarts, mapping: &FileMapping, part: CodePart) -> MappedVa {
    let at_start = part.address.0.wrapping_sub(functions.preferred_base.0);
    let skipped = mapping.offset.0.wrapping_sub(part.offset.0);
    MappedVa(mapping.memory.start.0.wrapping_sub(at_start.wrapping_add(skipped)))
}

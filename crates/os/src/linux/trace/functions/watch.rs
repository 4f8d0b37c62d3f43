//! The breakpoints of one address space: planted by the page, found and removed by address.

use super::pe_images::PeImage;
use super::planting::{Planting, plant_in_memory};
use super::watched::{Hit, Watched};
use crate::linux::trace::maps::FileMapping;
use crate::linux::trace::ptrace::{self, Tid};
use crate::linux::trace::{arch, breakpoints};
use image::{CodePart, FunctionStarts};
use model::{MappedVa, ModuleId, Rva};
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
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
        let mut watched = Watched::new(module, functions, mapping.memory.clone(), base);
        let runs = watched.plan();
        let count = runs.iter().map(|run| run.planted).sum();
        // It is known before the first byte is written: a hit must find it.
        let at = self.insert(watched);
        self.memory(tid)?;
        if let (Some(memory), Some(watched)) = (&self.memory, self.modules.get(at)) {
            Planting { watched, memory, part, code }.plant_all(&runs)?;
        }
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
            let mut watched = Watched::new(module, &image.functions, memory, image.memory.start);
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
        self.find(address).map(|(watched, index)| watched.hit(index))
    }

    /// Puts the original byte back.
    pub fn lift(&mut self, tid: Tid, address: MappedVa) -> io::Result<()> {
        self.set(tid, address, false)
    }

    /// Plants the breakpoint again.
    pub fn replant(&mut self, tid: Tid, address: MappedVa) -> io::Result<()> {
        self.set(tid, address, true)
    }

    /// Lifts every breakpoint, for a process whose memory can soon not be written any more.
    pub fn lift_all(&mut self, tid: Tid) {
        let modules = std::mem::take(&mut self.modules);
        for watched in &modules {
            for index in (0..watched.starts.len()).filter(|&index| watched.planted.get(index)) {
                // The program may have written other code there. A page that is gone cannot be
                // executed either.
                if self.is_there(tid, watched.address(index)) {
                    let _ = self.write(tid, watched.address(index), watched.original(index));
                }
            }
        }
    }

    fn set(&mut self, tid: Tid, address: MappedVa, planted: bool) -> io::Result<()> {
        let Some((watched, index)) = self.find(address) else { return Ok(()) };
        let byte = if planted { arch::BREAKPOINT } else { watched.original(index) };
        self.write(tid, address, byte)?;
        let found = self.modules.iter_mut().find(|one| one.memory.contains(&address));
        if let Some(watched) = found {
            watched.planted.set(index, planted);
        }
        Ok(())
    }

    fn write(&mut self, tid: Tid, address: MappedVa, byte: u8) -> io::Result<()> {
        let written = self.memory(tid).and_then(|file| file.write_all_at(&[byte], address.0));
        // Some kernels keep this file from changing code, but not ptrace (proc_mem.force_override).
        written.or_else(|_| breakpoints::restore(tid, address, byte))
    }

    /// Whether a breakpoint instruction is at `address`.
    fn is_there(&mut self, tid: Tid, address: MappedVa) -> bool {
        let mut byte = [0];
        let read = self.memory(tid).and_then(|file| file.read_exact_at(&mut byte, address.0));
        read.is_ok() && byte == [arch::BREAKPOINT]
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

    fn find(&self, address: MappedVa) -> Option<(&Watched, usize)> {
        let after = self.modules.partition_point(|one| one.memory.start <= address);
        let watched = self.modules.get(after.checked_sub(1)?)?;
        if !watched.memory.contains(&address) {
            return None;
        }
        let rva = u32::try_from(address.0.wrapping_sub(watched.base.0)).ok()?;
        let starts = watched.functions.starts.get(watched.starts.clone())?;
        let index = starts.binary_search(&Rva(rva)).ok()?;
        // An int3 of the program's own is its own affair.
        (watched.original(index) != arch::BREAKPOINT).then_some((watched, index))
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

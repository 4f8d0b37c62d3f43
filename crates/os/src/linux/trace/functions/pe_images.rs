//! PE images, which Wine maps: their headers first, then the sections, or what it reads of them,
//! and at last each section gets its protection. Code is planted in then.

use crate::linux::trace::maps::FileMapping;
use crate::linux::trace::ptrace::Tid;
use crate::linux::trace::session::Session;
use image::FunctionStarts;
use model::{FileOffset, MappedVa, Rva};
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// The smallest page that the kernel protects.
const PAGE_BYTES: u64 = 4096;

/// A PE image in an address space.
#[derive(Clone)]
pub struct PeImage {
    /// Its file, as [`model::text`] writes names.
    pub path: String,
    /// Its functions.
    pub functions: Arc<FunctionStarts>,
    /// Where it is: its base, and as many bytes as its headers ask for.
    pub memory: Range<MappedVa>,
    /// The function that the launch is complete with, if it has that.
    last: Option<Rva>,
}

impl Session<'_> {
    /// The headers of a PE image are mapped, where `mapping` begins with the file.
    pub fn on_image_mapped(
        &mut self,
        tid: Tid,
        mapping: &FileMapping,
        functions: Arc<FunctionStarts>,
        file: &str,
    ) -> io::Result<usize> {
        if mapping.offset != FileOffset(0) {
            return Ok(0);
        }
        let base = mapping.memory.start;
        let bytes = functions.image_bytes.next_multiple_of(PAGE_BYTES);
        let memory = base..base.saturating_add(bytes);
        let (path, last) = (mapping.path.clone(), self.last_function(&functions, file));
        let process = self.tasks.get(&tid).map(|task| task.process);
        if let (Some(recording), Some(process)) = (&mut self.recording, process) {
            recording.loads_image(process, &path);
        }
        let space = self.tasks.get(&tid).map(|task| task.space);
        if let Some(space) = space.and_then(|space| self.spaces.get_mut(space)) {
            space.watch.add_image(PeImage { path, functions, memory, last });
        }
        // An image whose sections are closer than pages is mapped as one piece.
        self.watch_image(tid, mapping.memory.clone())
    }

    /// `memory` is about to be made executable.
    pub fn on_code_protected(&mut self, tid: Tid, memory: Range<MappedVa>) {
        let start = memory.start;
        let planted = self.watch_image(tid, memory);
        let space = self.tasks.get(&tid).and_then(|task| self.spaces.get(task.space));
        let image = space.and_then(|space| space.watch.image_at(start));
        let Some(recording) = &mut self.recording else { return };
        match (planted, image) {
            (Ok(count), _) => recording.planted += count as u64,
            (Err(error), Some(PeImage { path, .. })) => {
                recording.note(format!("'{path}': its functions are not recorded: {error}"));
            }
            (Err(_), None) => {}
        }
    }

    /// Watches the functions of the PE image around `memory` in it.
    fn watch_image(&mut self, tid: Tid, memory: Range<MappedVa>) -> io::Result<usize> {
        let space = self.tasks.get(&tid).map(|task| task.space);
        let space = space.and_then(|space| self.spaces.get(space));
        let image = space.and_then(|space| space.watch.image_at(memory.start));
        let Some(image) = image.cloned() else { return Ok(0) };
        let memory = memory.start..memory.end.min(image.memory.end);
        let Some(recording) = &mut self.recording else { return Ok(0) };
        if recording.is_finished() || !image.has_functions(&memory) {
            return Ok(0);
        }
        let module = recording.module(&image.path, &image.functions, image.memory.start);
        image.last.into_iter().for_each(|rva| recording.ends_with(module, rva));
        let space = self.tasks.get(&tid).map(|task| task.space);
        match space.and_then(|space| self.spaces.get_mut(space)) {
            Some(space) => space.watch.plant_image(tid, module, &image, memory),
            None => Ok(0),
        }
    }
}

impl PeImage {
    fn has_functions(&self, memory: &Range<MappedVa>) -> bool {
        let rva = |address: MappedVa| address.0.saturating_sub(self.memory.start.0);
        let starts = &self.functions.starts;
        let next = starts.partition_point(|start| u64::from(start.0) < rva(memory.start));
        starts.get(next).is_some_and(|start| u64::from(start.0) < rva(memory.end))
    }
}

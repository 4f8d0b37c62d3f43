//! New code in a process: a program that it executes, a library that it maps.

use crate::functions::{RecordedFunctions, Recording, pe_function};
use crate::linux::trace::functions::watch;
use crate::linux::trace::maps::{self, FileMapping};
use crate::linux::trace::ptrace::{self, Tid};
use crate::linux::trace::session::Session;
use crate::linux::trace::{arch, images, start};
use crate::linux::{LaunchError, program};
use image::FunctionStarts;
use model::{Ending, FileOffset, Format, MappedVa, ModuleId, Rva, text};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A mapping of code that is being made.
#[derive(Clone, Copy, Debug)]
pub struct NewCode {
    bytes: u64,
    /// What is written there is written to the file.
    shared: bool,
    descriptor: u64,
    offset: FileOffset,
}

impl NewCode {
    /// From the arguments of mmap.
    pub fn of([_, bytes, _, flags, descriptor, offset]: [u64; 6]) -> NewCode {
        // MAP_SHARED_VALIDATE has this bit, too.
        let shared = flags & libc::MAP_SHARED as u64 != 0;
        NewCode { bytes, shared, descriptor, offset: FileOffset(offset) }
    }
}

impl Session<'_> {
    /// [`Session::run`] for a recording.
    pub fn record(mut self) -> Result<(RecordedFunctions, Ending), LaunchError> {
        let (_, ending, left_running) = self.follow()?;
        let Some(mut recording) = self.recording.take() else {
            return Err(LaunchError::LauncherGone);
        };
        recording.note_missing_function("write the name as 'nm FILE' does");
        recording.note_own_end(ending);
        let Recording { modules, programs, calls, notes, planted, .. } = recording.into_found();
        let ready = false;
        let functions = RecordedFunctions {
            modules,
            programs,
            calls,
            notes,
            ending,
            ready,
            left_running,
            planted,
        };
        Ok((functions, ending))
    }

    /// `process` has executed a new program, which waits before its first instruction.
    pub fn watch_program(&mut self, tid: Tid, process: usize) {
        let pid = self.processes.get(process).map_or(0, |process| process.record.pid);
        let Some(recording) = &mut self.recording else { return };
        let link = ptrace::proc_link(tid, "exe");
        if link.is_none() {
            recording.note(hidden(tid));
        }
        let path = link.unwrap_or_else(|| own_name(tid));
        recording.executed(process, pid, path.clone());
        let is_narrow = ptrace::registers(tid).is_ok_and(|registers| arch::is_32_bit(&registers));
        recording.notes.extend(unprivileged(tid, &path, is_narrow));
        if let Some(process) = self.processes.get_mut(process) {
            process.trap = process.trap.executed();
        }
        // The mask stays; a breakpoint of the former program has not changed it.
        let _ = self.learn_mask(tid);
        let Some(recording) = &mut self.recording else { return };
        if is_narrow {
            let note = format!("'{path}': the libraries of a 32-bit program are not recorded");
            recording.note(note);
        }
        let Some(mappings) = maps::files(tid) else { return };
        for mapping in mappings.into_iter().filter(|mapping| mapping.executable) {
            // The file itself, whatever is at its path now.
            let link = if mapping.path == path {
                "exe".to_owned()
            } else {
                format!("root{}", mapping.path)
            };
            self.watch(tid, &mapping, &ptrace::proc_path(tid, &link));
        }
    }

    /// mmap has given its answer.
    pub fn on_code_mapped(&mut self, tid: Tid, new: NewCode) -> io::Result<()> {
        let answer = arch::syscall_result(&ptrace::registers(tid)?);
        // The last page of addresses holds error numbers.
        if (-4095..=0).contains(&answer) {
            return Ok(());
        }
        let start = MappedVa(answer as u64);
        let link = format!("fd/{}", new.descriptor as i32);
        let path = ptrace::proc_link(tid, &link).unwrap_or_default();
        let memory = start..start.saturating_add(new.bytes.next_multiple_of(4096));
        let file = ptrace::proc_path(tid, &link);
        let inode = std::fs::metadata(&file).map_or(0, |data| data.ino());
        let (executable, shared, offset) = (true, new.shared, new.offset);
        let mapping = FileMapping { memory, executable, shared, offset, inode, path };
        self.watch(tid, &mapping, &file);
        Ok(())
    }

    /// Watches the functions in `mapping`, of the file that can be opened at `file`.
    fn watch(&mut self, tid: Tid, mapping: &FileMapping, file: &str) {
        let planted = self.try_watch(tid, mapping, file);
        let Some(recording) = &mut self.recording else { return };
        match planted {
            Ok(count) => recording.planted += count as u64,
            // Of a process that may not be read, which has been noted.
            Err(_) if mapping.path.is_empty() => {}
            Err(error) => {
                let path = &mapping.path;
                recording.note(format!("'{path}': its functions are not recorded: {error}"));
            }
        }
    }

    fn try_watch(&mut self, tid: Tid, mapping: &FileMapping, file: &str) -> io::Result<usize> {
        let functions = match images::function_starts(Path::new(file)) {
            Ok(functions) => functions,
            // Code of another kind.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => return Ok(0),
            Err(error) => return Err(error),
        };
        let Some(recording) = &mut self.recording else { return Ok(0) };
        if recording.is_finished() {
            return Ok(0);
        }
        if mapping.shared {
            let why =
                "it is mapped so that breakpoints would be written into the file (MAP_SHARED)";
            return Err(io::Error::other(why));
        }
        if functions.format == Format::Pe {
            return self.on_image_mapped(tid, mapping, functions, file);
        }
        let Some(mapped_at) = watch::base(&functions, mapping) else { return Ok(0) };
        recording.note_hidden_functions(&mapping.path, &functions);
        let module = recording.module(&mapping.path, &functions, mapped_at);
        self.end_with_function(module, &functions, file);
        let code = File::open(file)?;
        let space = self.tasks.get(&tid).map(|task| task.space);
        match space.and_then(|space| self.spaces.get_mut(space)) {
            Some(space) => space.watch.plant(tid, module, &functions, mapping, &code),
            None => Ok(0),
        }
    }

    /// Looks for the function that the launch is complete with.
    fn end_with_function(&mut self, module: ModuleId, functions: &FunctionStarts, file: &str) {
        let last = self.last_function(functions, file);
        let Some(recording) = &mut self.recording else { return };
        if recording.ends_at_entry() && module == ModuleId::PROGRAM {
            recording.ends_with(module, functions.entry);
        }
        last.into_iter().for_each(|rva| recording.ends_with(module, rva));
    }

    /// Where the function is that the launch is complete with, if `file` has it.
    pub fn last_function(&self, functions: &FunctionStarts, file: &str) -> Option<Rva> {
        let name = self.recording.as_ref()?.last_function()?;
        match functions.format {
            Format::Elf => elf_function(functions, Path::new(file), name),
            Format::Pe => pe_function(functions, file, name),
        }
    }
}

/// The name that a program was started by, where its file is hidden.
fn own_name(tid: Tid) -> String {
    let arguments = start::arguments(tid).unwrap_or_default();
    arguments.into_iter().next().unwrap_or_default()
}

/// What is said of a program whose process hides its file and its memory.
fn hidden(tid: Tid) -> String {
    format!(
        "'{}': its functions are not recorded: it may be executed, but not read; run headstart as \
         root, or have its owner permit reading it (chmod a+r)",
        own_name(tid)
    )
}

/// What is said of a program that would have had more privileges without a tracer.
fn unprivileged(tid: Tid, path: &str, is_narrow: bool) -> Option<String> {
    let user = start::Auxiliary::of(tid, is_narrow)?;
    let file = ptrace::proc_path(tid, "exe");
    let found = program::missing(Path::new(&file), user.user, user.group)?;
    Some(format!(
        "'{path}': {found} had no effect, as in every traced launch: it ran without its privileges, \
         and may have behaved differently"
    ))
}

/// Where a symbol is.
fn elf_function(functions: &FunctionStarts, file: &Path, name: &str) -> Option<Rva> {
    let name = text::name(name);
    let image = image::elf::Loadable::open(file).ok()?;
    let mut symbols = image.symbols().map(|(_, symbol)| symbol).chain(image.static_symbols());
    let named = symbols.find(|symbol| symbol.defined && symbol.name == name.as_encoded_bytes())?;
    u32::try_from(named.value.since(functions.preferred_base)?).ok().map(Rva)
}

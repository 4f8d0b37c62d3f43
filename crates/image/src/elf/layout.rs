//! Segments and sections, counted and measured.

use super::read::Elf;
use crate::notes::Notes;
use model::{Interpreter, Relro};
use object::elf;
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};

/// Segments and sections; fields as in [`model::ElfFacts`].
#[derive(Default)]
pub(super) struct Layout {
    pub(super) interpreter: Option<Interpreter>,
    pub(super) load_file_bytes: u64,
    pub(super) load_memory_bytes: u64,
    pub(super) load_segments: u32,
    pub(super) code_bytes: u64,
    pub(super) executable_stack: bool,
    pub(super) has_symbol_table: bool,
    pub(super) has_debug_info: bool,
    has_relro: bool,
}

pub(super) fn read<H: FileHeader>(file: &Elf<'_, H>, notes: &mut Notes) -> Layout {
    let endian = file.endian;
    let mut layout = Layout::default();
    for segment in file.segments {
        let executable = segment.p_flags(endian).contains(elf::PF_X);
        match segment.p_type(endian) {
            elf::PT_LOAD => layout.load(file, segment, executable, notes),
            elf::PT_INTERP if !file.is_elsewhere(b".interp") => {
                let (offset, size) = (segment.p_offset(endian), segment.p_filesz(endian));
                let bytes = file.at_offset(offset.into(), size.into(), "PT_INTERP", notes);
                layout.interpreter = notes.name(bytes, 0, "PT_INTERP").map(Interpreter);
            }
            elf::PT_GNU_STACK => layout.executable_stack = executable,
            elf::PT_GNU_RELRO => layout.has_relro = true,
            _ => {}
        }
    }
    layout.has_symbol_table = file.sections.iter().any(|s| s.sh_type(endian) == elf::SHT_SYMTAB);
    layout.has_debug_info = file.has_section(b".debug_info") || file.has_section(b".zdebug_info");
    layout
}

impl Layout {
    fn load<H: FileHeader>(
        &mut self,
        file: &Elf<'_, H>,
        segment: &H::ProgramHeader,
        executable: bool,
        notes: &mut Notes,
    ) {
        let offset: u64 = segment.p_offset(file.endian).into();
        let size: u64 = segment.p_filesz(file.endian).into();
        // Clipped to the file, so that a damaged header cannot claim terabytes of it.
        let in_file = file.at_offset(offset, size, "PT_LOAD", notes).len() as u64;
        self.load_segments += 1;
        self.load_file_bytes = self.load_file_bytes.saturating_add(in_file);
        let in_memory = segment.p_memsz(file.endian).into();
        self.load_memory_bytes = self.load_memory_bytes.saturating_add(in_memory);
        if executable {
            self.code_bytes = self.code_bytes.saturating_add(in_file);
        }
    }

    /// Read-only relocated data: only full where no slot is left to be bound later.
    pub(super) fn relro(&self, binds_at_start: bool) -> Relro {
        match (self.has_relro, binds_at_start) {
            (false, _) => Relro::None,
            (true, false) => Relro::Partial,
            (true, true) => Relro::Full,
        }
    }
}

/// Functions to run before and after `main`; fields as in [`model::ElfFacts`].
pub(super) struct Functions {
    pub(super) initializers: u64,
    pub(super) finalizers: u64,
}

/// Counts by the sizes of the arrays: loaders call every entry.
pub(super) fn functions<H: FileHeader>(file: &Elf<'_, H>) -> Functions {
    let word = if H::is_type_64_sized() { 8 } else { 4 };
    let dynamic = &file.dynamic;
    if dynamic.present() {
        let array = |tag| dynamic.get(tag).unwrap_or(0) / word;
        let one = |tag| u64::from(dynamic.get(tag).is_some_and(|address| address != 0));
        return Functions {
            initializers: (array(elf::DT_PREINIT_ARRAYSZ))
                .saturating_add(array(elf::DT_INIT_ARRAYSZ))
                .saturating_add(one(elf::DT_INIT)),
            finalizers: array(elf::DT_FINI_ARRAYSZ).saturating_add(one(elf::DT_FINI)),
        };
    }
    // A static program's start code finds the arrays by linker symbols; the sections hold them.
    let array = |kinds: &[elf::SectionType]| {
        let sections = file.sections.iter().filter(|s| kinds.contains(&s.sh_type(file.endian)));
        let sizes = sections.map(|section| section.sh_size(file.endian).into() / word);
        sizes.fold(0, u64::saturating_add)
    };
    let one = |name| u64::from(file.has_section(name));
    let initializers = array(&[elf::SHT_PREINIT_ARRAY, elf::SHT_INIT_ARRAY]);
    Functions {
        initializers: initializers.saturating_add(one(b".init")),
        finalizers: array(&[elf::SHT_FINI_ARRAY]).saturating_add(one(b".fini")),
    }
}

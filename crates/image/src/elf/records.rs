//! The records of 64-bit little-endian ELF files (gABI, chapters 4 and 5) in plain numbers: what
//! rewrites, bundles and synthetic programs are written with. Their layout is `object`'s.

mod field;

use crate::elf::loadable::Relocation;
use crate::elf::spec;
use crate::notes::entry;
use field::Field;
use model::{FileOffset, Va};
use object::LittleEndian as LE;
use object::elf;
use object::pod;
use std::ops::Range;

/// Defines a record by the fields of the structure of `object` that has its layout.
macro_rules! record {
    ($(#[$about:meta])* $name:ident = $raw:ident {
        $($(#[$doc:meta])* $field:ident: $type:ty = $raw_field:ident,)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl $name {
            /// Bytes of one in a file.
            pub const SIZE: usize = size_of::<elf::$raw<LE>>();

            /// The one at the start of these bytes; `None` where they are too few.
            pub fn read(bytes: &[u8]) -> Option<$name> {
                entry(bytes).map($name::of)
            }

            pub(crate) fn of(raw: &elf::$raw<LE>) -> $name {
                $name { $($field: Field::of(raw.$raw_field),)* }
            }

            /// As it stands in a file.
            #[inline]
            pub fn bytes(&self) -> [u8; Self::SIZE] {
                let raw = elf::$raw::<LE> { $($raw_field: self.$field.raw(),)* };
                let mut bytes = [0; Self::SIZE];
                bytes.copy_from_slice(pod::bytes_of(&raw));
                bytes
            }
        }
    };
}

/// `e_ident`: how the rest of the file is to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identification {
    /// ELFMAG.
    pub magic: [u8; 4],
    /// ELFCLASS64 and so on.
    pub class: u8,
    /// ELFDATA2LSB and so on.
    pub data: u8,
    /// EV_CURRENT.
    pub version: u8,
    /// ELFOSABI_SYSV and so on.
    pub os_abi: u8,
    /// Version of that ABI.
    pub abi_version: u8,
    /// Zeros.
    pub padding: [u8; 7],
}

record! {
    /// Elf64_Ehdr.
    FileHeader = FileHeader64 {
        /// What kind of ELF file it is.
        ident: Identification = e_ident,
        /// ET_EXEC or ET_DYN.
        kind: u16 = e_type,
        /// EM_X86_64 and so on.
        machine: u16 = e_machine,
        /// EV_CURRENT.
        version: u32 = e_version,
        /// Where a program begins.
        entry: Va = e_entry,
        /// Where the program headers are.
        programs_at: FileOffset = e_phoff,
        /// Where the section headers are.
        sections_at: FileOffset = e_shoff,
        /// Of the machine.
        flags: u32 = e_flags,
        /// Size of this header.
        header_size: u16 = e_ehsize,
        /// Size of a program header.
        program_size: u16 = e_phentsize,
        /// How many program headers there are.
        program_count: u16 = e_phnum,
        /// Size of a section header.
        section_size: u16 = e_shentsize,
        /// How many section headers there are.
        section_count: u16 = e_shnum,
        /// Which section holds the names of the sections.
        names: u16 = e_shstrndx,
    }
}

record! {
    /// Elf64_Phdr: a segment.
    ProgramHeader = ProgramHeader64 {
        /// PT_LOAD and so on.
        kind: u32 = p_type,
        /// PF_R, PF_W, PF_X.
        flags: u32 = p_flags,
        /// Where in the file it begins.
        offset: FileOffset = p_offset,
        /// Where it is mapped, before the image is moved.
        address: Va = p_vaddr,
        /// Used by no loader of programs; linkers repeat the address.
        physical: Va = p_paddr,
        /// Bytes in the file.
        file_size: u64 = p_filesz,
        /// Bytes in memory; what the file does not have is zero.
        memory_size: u64 = p_memsz,
        /// Alignment of address and offset.
        alignment: u64 = p_align,
    }
}

record! {
    /// Elf64_Shdr: a section.
    SectionHeader = SectionHeader64 {
        /// Offset of its name among the names of the sections.
        name: u32 = sh_name,
        /// SHT_PROGBITS and so on.
        kind: u32 = sh_type,
        /// SHF_ALLOC and so on.
        flags: u64 = sh_flags,
        /// Address; 0 for what is not loaded.
        address: Va = sh_addr,
        /// Where in the file.
        offset: FileOffset = sh_offset,
        /// Bytes.
        size: u64 = sh_size,
        /// Another section, by its kind.
        link: u32 = sh_link,
        /// More, by its kind.
        info: u32 = sh_info,
        /// Alignment of its address.
        alignment: u64 = sh_addralign,
        /// Size of an entry, if it is a table.
        entry_size: u64 = sh_entsize,
    }
}

record! {
    /// Elf64_Sym: a symbol.
    SymbolEntry = Sym64 {
        /// Offset of its name in the string table.
        name: u32 = st_name,
        /// See [`symbol_info`].
        info: u8 = st_info,
        /// STV_DEFAULT and so on.
        visibility: u8 = st_other,
        /// Number of the section that it is in, or SHN_UNDEF.
        section: u16 = st_shndx,
        /// Address, or offset in thread-local storage.
        value: u64 = st_value,
        /// Bytes.
        size: u64 = st_size,
    }
}

record! {
    /// Elf64_Rela: a relocation.
    Rela = Rela64 {
        /// Where it writes.
        offset: Va = r_offset,
        /// See [`relocation_info`].
        info: u64 = r_info,
        /// What is added.
        addend: i64 = r_addend,
    }
}

record! {
    /// Elf64_Dyn: an entry of the dynamic table.
    DynamicEntry = Dyn64 {
        /// DT_NEEDED and so on.
        tag: u64 = d_tag,
        /// A number, an address, or the offset of a string.
        value: u64 = d_val,
    }
}

impl Rela {
    /// A relocation as it was read.
    pub fn of_relocation(relocation: &Relocation) -> Rela {
        let Relocation { offset, kind, symbol, addend, .. } = *relocation;
        let info = relocation_info(symbol.map_or(0, |symbol| symbol.0), kind);
        Rela { offset, info, addend }
    }
}

impl FileHeader {
    /// That of an image for x86-64 whose tables are nowhere yet.
    pub fn x86_64(kind: u16) -> FileHeader {
        let ident = Identification {
            magic: elf::ELFMAG,
            class: elf::ELFCLASS64.0,
            data: elf::ELFDATA2LSB.0,
            version: elf::EV_CURRENT.0,
            ..Identification::default()
        };
        FileHeader {
            ident,
            kind,
            machine: elf::EM_X86_64.0,
            version: elf::EV_CURRENT.0.into(),
            header_size: FileHeader::SIZE as u16,
            program_size: ProgramHeader::SIZE as u16,
            section_size: SectionHeader::SIZE as u16,
            ..FileHeader::default()
        }
    }
}

impl ProgramHeader {
    /// Whether this is PT_LOAD.
    pub fn loads(&self) -> bool {
        self.kind == spec::PT_LOAD
    }

    /// Where it ends in memory.
    pub fn end(&self) -> Va {
        self.address.saturating_add(self.memory_size)
    }

    /// Whether an address is within it.
    pub fn holds(&self, address: Va) -> bool {
        (self.address..self.end()).contains(&address)
    }

    /// Where in the file an address of the file's part is.
    pub fn offset_of(&self, address: Va) -> Option<FileOffset> {
        let within = address.since(self.address).filter(|&within| within < self.file_size)?;
        self.offset.checked_add(within)
    }

    /// What it takes of the file.
    pub fn extent(&self) -> Range<FileOffset> {
        self.offset..self.offset.saturating_add(self.file_size)
    }

    /// Puts it somewhere else.
    pub fn place(&mut self, offset: FileOffset, address: Va) {
        (self.offset, self.address, self.physical) = (offset, address, address);
    }
}

impl SectionHeader {
    /// Whether it is loaded (SHF_ALLOC).
    pub fn allocated(&self) -> bool {
        self.flags & spec::SHF_ALLOC != 0
    }

    /// Whether it takes room in the file.
    pub fn in_file(&self) -> bool {
        self.kind != spec::SHT_NOBITS && self.kind != spec::SHT_NULL && self.size > 0
    }

    /// What it takes of the file, if it does.
    pub fn extent(&self) -> Range<FileOffset> {
        self.offset..self.offset.saturating_add(self.size)
    }
}

impl SymbolEntry {
    /// STT_FUNC and so on.
    pub fn kind(&self) -> u8 {
        self.info & 15
    }
}

/// `st_info` of a symbol of this binding (STB_GLOBAL and so on) and type (STT_FUNC and so on).
pub const fn symbol_info(binding: u8, kind: u8) -> u8 {
    binding << 4 | kind
}

/// `r_info` of a relocation of this type that refers to this symbol, or to none (0).
pub const fn relocation_info(symbol: u32, kind: u32) -> u64 {
    (symbol as u64) << 32 | kind as u64
}

//! Names of relocation types as readelf (binutils 2.40) prints them, and what a type means to a
//! loader. The tables are text, one `number name` a line, and are searched only for the few
//! types that an image uses.

use object::elf;
use object::elf::Machine;

/// What a loader has to do for a relocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Nothing.
    None,
    /// Add the load address.
    Relative,
    /// Add the load address where no symbol is given, else look it up (R_MIPS_REL32).
    RelativeOrSymbol,
    /// Call a resolver function.
    Irelative,
    /// Copy a library's data into the program.
    Copy,
    /// A slot of the procedure linkage table.
    Plt,
    /// A module number or an offset of thread-local storage.
    Tls,
    /// Look up a symbol.
    Symbol,
}

/// readelf's name of relocation `kind` of `machine`.
pub(crate) fn name(machine: Machine, kind: u32) -> String {
    match known(machine, kind) {
        Some(name) => name.to_owned(),
        None => format!("unrecognized: {kind:x}"),
    }
}

/// What a loader does for relocation `kind` of `machine`, by the words in its name, which are
/// the same for all machines.
pub(crate) fn class(machine: Machine, kind: u32) -> Class {
    known(machine, kind).map_or(Class::Symbol, class_of)
}

fn class_of(name: &str) -> Class {
    let ends = |words: &[&str]| words.iter().any(|word| name.ends_with(word));
    let contains = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if ends(&["_NONE"]) {
        Class::None
    } else if ends(&["_IRELATIVE", "_JMP_IREL"]) {
        Class::Irelative
    } else if ends(&[
        "_RELATIVE",
        "_RELATIVE64",
        "_REL32LSB",
        "_REL32MSB",
        "_REL64LSB",
        "_REL64MSB",
    ]) {
        Class::Relative
    } else if name == "R_MIPS_REL32" {
        Class::RelativeOrSymbol
    } else if ends(&["_COPY", "_COPY64"]) {
        Class::Copy
    } else if contains(&["JUMP_SLOT", "JMP_SLOT", "_IPLT"]) {
        Class::Plt
    } else if contains(&["DTPMOD", "DTPOFF", "DTPREL", "TPOFF", "TPREL", "TLSDESC"]) {
        Class::Tls
    } else {
        Class::Symbol
    }
}

/// [`class`] of every type of `machine`, by its number.
pub(crate) fn classes(machine: Machine) -> Vec<Class> {
    let kinds = table(machine).lines().filter_map(|line| line.split_once(' ')?.0.parse().ok());
    // No machine numbers its types beyond this; a table is that of the specification.
    let most = kinds.filter(|&kind| kind < 4096).max().unwrap_or(0);
    let mut classes = vec![Class::Symbol; most as usize + 1];
    for line in table(machine).lines() {
        let Some((number, name)) = line.split_once(' ') else { continue };
        let slot = number.parse().ok().and_then(|kind: usize| classes.get_mut(kind));
        if let Some(slot) = slot {
            *slot = class_of(name);
        }
    }
    classes
}

fn known(machine: Machine, kind: u32) -> Option<&'static str> {
    table(machine).lines().find_map(|line| {
        let (number, name) = line.split_once(' ')?;
        (number.parse() == Ok(kind)).then_some(name)
    })
}

macro_rules! tables {
    ($machine:expr; $($($number:path)|+ => $file:literal,)*) => {
        match $machine {
            $($($number)|+ => include_str!(concat!("relocation_types/", $file, ".txt")),)*
            _ => "",
        }
    };
}

fn table(machine: Machine) -> &'static str {
    tables!(machine;
        elf::EM_386 | elf::EM_IAMCU => "i386",
        elf::EM_X86_64 => "x86_64",
        elf::EM_ARM => "arm",
        elf::EM_AARCH64 => "aarch64",
        elf::EM_RISCV => "riscv",
        elf::EM_PPC => "powerpc",
        elf::EM_PPC64 => "powerpc64",
        elf::EM_S390 => "s390",
        elf::EM_MIPS | elf::EM_MIPS_RS3_LE => "mips",
        elf::EM_SPARC | elf::EM_SPARC32PLUS | elf::EM_SPARCV9 => "sparc",
        elf::EM_ALPHA => "alpha",
        elf::EM_IA_64 => "ia64",
        elf::EM_PARISC => "parisc",
        elf::EM_68K => "m68k",
        elf::EM_SH => "sh",
        elf::EM_LOONGARCH => "loongarch",
        elf::EM_BPF => "bpf",
        elf::EM_AVR => "avr",
        elf::EM_ARC_COMPACT | elf::EM_ARC_COMPACT2 => "arc",
        elf::EM_CSKY => "csky",
        elf::EM_MICROBLAZE => "microblaze",
        elf::EM_OPENRISC => "openrisc",
        elf::EM_AMDGPU => "amdgpu",
        elf::EM_XTENSA => "xtensa",
        elf::EM_ALTERA_NIOS2 => "nios2",
    )
}

//! Names of machines.

use object::elf;
use object::elf::Machine;

/// The machine's usual name.
pub(crate) fn name(machine: Machine, bits: u8) -> String {
    let name = match (machine, bits) {
        (elf::EM_386, _) => "i386",
        (elf::EM_X86_64, 32) => "x32",
        (elf::EM_X86_64, _) => "x86_64",
        (elf::EM_ARM, _) => "arm",
        (elf::EM_AARCH64, _) => "aarch64",
        (elf::EM_RISCV, 32) => "riscv32",
        (elf::EM_RISCV, _) => "riscv64",
        (elf::EM_PPC, _) => "powerpc",
        (elf::EM_PPC64, _) => "powerpc64",
        (elf::EM_S390, 32) => "s390",
        (elf::EM_S390, _) => "s390x",
        (elf::EM_MIPS | elf::EM_MIPS_RS3_LE, 32) => "mips",
        (elf::EM_MIPS | elf::EM_MIPS_RS3_LE, _) => "mips64",
        (elf::EM_SPARC | elf::EM_SPARC32PLUS, _) => "sparc",
        (elf::EM_SPARCV9, _) => "sparc64",
        (elf::EM_LOONGARCH, 32) => "loongarch32",
        (elf::EM_LOONGARCH, _) => "loongarch64",
        (elf::EM_ALPHA, _) => "alpha",
        (elf::EM_IA_64, _) => "ia64",
        (elf::EM_PARISC, _) => "parisc",
        (elf::EM_68K, _) => "m68k",
        (elf::EM_SH, _) => "sh",
        (elf::EM_BPF, _) => "bpf",
        (elf::EM_AVR, _) => "avr",
        (elf::EM_ARC_COMPACT | elf::EM_ARC_COMPACT2, _) => "arc",
        (elf::EM_CSKY, _) => "csky",
        (elf::EM_MICROBLAZE, _) => "microblaze",
        (elf::EM_OPENRISC, _) => "openrisc",
        (elf::EM_AMDGPU, _) => "amdgpu",
        (elf::EM_XTENSA, _) => "xtensa",
        (elf::EM_ALTERA_NIOS2, _) => "nios2",
        (other, _) => return format!("machine {}", other.0),
    };
    name.to_owned()
}

//! What kind of PE image a file is: machine, subsystem and flags by name.

use super::headers::Headers;
use super::spec;
use model::{PeFlags, PeKind};

/// The subsystem's usual name.
pub fn subsystem(number: u16) -> String {
    let name = match number {
        1 => "native",
        2 => "gui",
        3 => "console",
        5 => "os2",
        7 => "posix",
        8 => "windows 9x driver",
        9 => "windows ce",
        10 => "efi application",
        11 => "efi boot driver",
        12 => "efi runtime driver",
        13 => "efi rom",
        14 => "xbox",
        16 => "boot application",
        17 => "xbox code catalog",
        other => return format!("subsystem {other}"),
    };
    name.to_owned()
}

/// The machine's usual name, the same as that of ELF files for it.
pub fn machine(number: u16) -> String {
    let name = match number {
        0x14c => "i386",
        0x8664 => "x86_64",
        0x1c0 | 0x1c2 | 0x1c4 => "arm",
        0xaa64 => "aarch64",
        0xa641 => "arm64ec",
        0xa64e => "arm64x",
        0x200 => "ia64",
        0xebc => "efi byte code",
        0x5032 => "riscv32",
        0x5064 => "riscv64",
        0x6232 => "loongarch32",
        0x6264 => "loongarch64",
        0x162 | 0x166 | 0x168 | 0x169 | 0x266 | 0x366 | 0x466 => "mips",
        0x184 => "alpha",
        0x284 => "alpha64",
        0x1f0..=0x1f2 => "powerpc",
        0x1a2..=0x1a8 => "sh",
        0x3a64 => "chpe i386",
        other => return format!("machine {other:#x}"),
    };
    name.to_owned()
}

pub(super) fn of(headers: &Headers) -> PeKind {
    match headers.subsystem {
        10..=13 => PeKind::Firmware,
        1 | 8 => PeKind::Native,
        _ if headers.characteristics & spec::IMAGE_FILE_DLL != 0 => PeKind::Library,
        _ => PeKind::Program,
    }
}

pub(super) fn flags(headers: &Headers) -> PeFlags {
    let file = |flag| headers.characteristics & flag != 0;
    let dll = |flag| headers.dll_characteristics & flag != 0;
    PeFlags {
        dynamic_base: dll(spec::IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE),
        high_entropy_va: dll(spec::IMAGE_DLLCHARACTERISTICS_HIGH_ENTROPY_VA),
        force_integrity: dll(spec::IMAGE_DLLCHARACTERISTICS_FORCE_INTEGRITY),
        nx_compatible: dll(spec::IMAGE_DLLCHARACTERISTICS_NX_COMPAT),
        no_isolation: dll(spec::IMAGE_DLLCHARACTERISTICS_NO_ISOLATION),
        no_seh: dll(spec::IMAGE_DLLCHARACTERISTICS_NO_SEH),
        no_bind: dll(spec::IMAGE_DLLCHARACTERISTICS_NO_BIND),
        app_container: dll(spec::IMAGE_DLLCHARACTERISTICS_APPCONTAINER),
        wdm_driver: dll(spec::IMAGE_DLLCHARACTERISTICS_WDM_DRIVER),
        guard_cf: dll(spec::IMAGE_DLLCHARACTERISTICS_GUARD_CF),
        terminal_server_aware: dll(spec::IMAGE_DLLCHARACTERISTICS_TERMINAL_SERVER_AWARE),
        relocations_stripped: file(spec::IMAGE_FILE_RELOCS_STRIPPED),
        large_address_aware: file(spec::IMAGE_FILE_LARGE_ADDRESS_AWARE),
        swap_run_removable: file(spec::IMAGE_FILE_REMOVABLE_RUN_FROM_SWAP),
        swap_run_net: file(spec::IMAGE_FILE_NET_RUN_FROM_SWAP),
    }
}

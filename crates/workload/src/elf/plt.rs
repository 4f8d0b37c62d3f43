//! The procedure linkage table, as the x86-64 psABI (figure 5.2) draws it.

use super::bytes::Bytes;
use super::code::Code;
use super::headers::PLT_ENTRY;
use super::layout::Layout;
use ::image::elf::records::{Rela, relocation_info};
use ::image::elf::spec::R_X86_64_JUMP_SLOT;
use model::Va;

/// Address of an import's entry; imports count from 0.
pub(super) fn entry(import: u64, at: &Layout) -> u64 {
    at.plt.at + PLT_ENTRY * (1 + import)
}

/// Writes the entries, their slots and the relocations that bind them.
pub(super) fn write(imports: u64, at: &Layout, out: &mut Bytes) {
    if imports == 0 {
        return;
    }
    let mut code = Code { out, at: at.plt.at };
    code.distance(&[0xff, 0x35], at.got.at + 8); // push [got + 8]
    code.distance(&[0xff, 0x25], at.got.at + 16); // jmp [got + 16]
    code.raw(&[0x0f, 0x1f, 0x40, 0x00]); // nop
    out.u64(at.got.at, at.dynamic.at);
    for import in 0..imports {
        let slot = at.got.at + 8 * (3 + import);
        let start = entry(import, at);
        let mut code = Code { out, at: start };
        code.distance(&[0xff, 0x25], slot); // jmp [slot]
        code.value(&[0x68], import as u32); // push import
        code.distance(&[0xe9], at.plt.at); // jmp the first entry
        out.u64(slot, start + 6);
        let info = relocation_info(1 + import as u32, R_X86_64_JUMP_SLOT);
        let relocation = Rela { offset: Va(slot), info, addend: 0 };
        out.entry(at.rela_plt, import as usize, &relocation.bytes());
    }
}

//! What an image is for: a program, a library, a loader, an object file, a core dump.

use super::layout::Layout;
use super::read::Elf;
use super::symbols;
use crate::notes::{Notes, entries};
use model::ImageKind;
use object::elf;
use object::read::elf::{FileHeader, Sym};

/// Exported by every loader: where debuggers are told of libraries (glibc and musl alike).
const DEBUG_HOOK: &[u8] = b"_dl_debug_state";

/// What the image is for.
pub(super) fn of<H: FileHeader>(
    file: &Elf<'_, H>,
    layout: &Layout,
    soname: Option<&str>,
    notes: &mut Notes,
) -> ImageKind {
    let has_interpreter = layout.interpreter.is_some();
    let pie = file.dynamic.flag(elf::DT_FLAGS_1, elf::DF_1_PIE.0);
    match file.header.e_type(file.endian) {
        elf::ET_REL => ImageKind::Object,
        elf::ET_CORE => ImageKind::Core,
        elf::ET_EXEC if has_interpreter => ImageKind::Executable,
        elf::ET_EXEC => ImageKind::StaticExecutable,
        elf::ET_DYN if pie && has_interpreter => ImageKind::PositionIndependentExecutable,
        elf::ET_DYN if pie => ImageKind::StaticPie,
        // Old linkers set no DF_1_PIE; libraries that can be run, such as libc.so.6, have a name.
        elf::ET_DYN if has_interpreter && soname.is_none() => {
            ImageKind::PositionIndependentExecutable
        }
        elf::ET_DYN if !has_interpreter && is_loader(file) => ImageKind::Loader,
        elf::ET_DYN => ImageKind::SharedLibrary,
        other => {
            notes.problem(format!("e_type {:#x} is not one that ELF defines", other.0));
            ImageKind::Object
        }
    }
}

/// A loader depends on nothing, starts on its own and tells debuggers about libraries.
fn is_loader<H: FileHeader>(file: &Elf<'_, H>) -> bool {
    let entry: u64 = file.header.e_entry(file.endian).into();
    if entry == 0 || file.dynamic.has(elf::DT_NEEDED) || !file.dynamic.present() {
        return false;
    }
    // Whatever is wrong with the tables has been noted when their symbols were counted.
    let mut unused = Notes::new(file.bytes.len());
    let strings = super::dynamic::Dynamic::strings(file, &mut unused);
    symbols::tables(file, 0, &mut unused).first().is_some_and(|table| {
        entries::<H::Sym>(table).iter().any(|symbol| {
            let rest = strings.get(symbol.st_name(file.endian) as usize..).unwrap_or(&[]);
            symbol.st_shndx(file.endian) != elf::SHN_UNDEF
                && rest.starts_with(DEBUG_HOOK)
                && rest.get(DEBUG_HOOK.len()) == Some(&0)
        })
    })
}

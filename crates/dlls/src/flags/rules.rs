//! Which flags an image can have, and which do nothing without others.
//!
//! Sources: Microsoft's pages on the linker's options /DYNAMICBASE, /HIGHENTROPYVA,
//! /LARGEADDRESSAWARE, /NXCOMPAT, /TSAWARE, /GUARD and /APPCONTAINER.

use super::Flag;
use crate::{Advice, RefusalReason};
use image::pe::{Headers, Pe, spec};

const NATIVE: u16 = 1;

/// Whether a flag can be set (`on`) or cleared; else why not.
pub(super) fn possible(file: &Pe<'_>, flag: Flag, on: bool) -> Result<(), String> {
    match (flag, on) {
        (Flag::DynamicBase, true) => can_move(file),
        (Flag::HighEntropyVa, true) if !file.headers().pe32_plus => {
            Err("highentropyva is for 64-bit images, but this is a 32-bit one (PE32)".to_owned())
        }
        (Flag::DynamicBase, false) if is_arm(file.headers()) => {
            Err("Windows does not load ARM images without dynamicbase".to_owned())
        }
        (Flag::LargeAddressAware, false) if is_arm64(file.headers()) => {
            Err("Windows does not run ARM64 programs without largeaddressaware".to_owned())
        }
        _ => Ok(()),
    }
}

fn can_move(file: &Pe<'_>) -> Result<(), String> {
    let headers = file.headers();
    let stripped = headers.characteristics & spec::IMAGE_FILE_RELOCS_STRIPPED != 0;
    let none = file.directory(spec::BASERELOC).is_none();
    // Code of 32 bits has absolute addresses.
    if stripped || (none && has_code(headers) && !headers.pe32_plus) {
        return Err(
            "dynamicbase needs relocations, but they were removed, so it works only at its \
             preferred base; link it with /fixed:no (GNU ld: --dynamicbase)"
                .to_owned(),
        );
    }
    Ok(())
}

/// What a user should know of the flags that were changed.
pub(super) fn notes(file: &Pe<'_>, set: &[Flag], cleared: &[Flag]) -> Vec<RefusalReason> {
    let headers = file.headers();
    let is_dll = headers.characteristics & spec::IMAGE_FILE_DLL != 0;
    let is_program = !is_dll && headers.subsystem != NATIVE;
    let has = |flag: Flag| flag.is_set(headers);
    let was_set = |flag| set.contains(&flag);
    let was_cleared = |flag| cleared.contains(&flag);
    let touched = |flag| was_set(flag) || was_cleared(flag);
    let has_table = file.directory(spec::BASERELOC).is_some();
    let entropy = [Flag::HighEntropyVa, Flag::DynamicBase, Flag::LargeAddressAware];
    let entropy = has(Flag::HighEntropyVa) && entropy.into_iter().any(touched);
    let all = [
        (
            was_set(Flag::DynamicBase) && !has_table && has_code(headers),
            "it has no relocation table: dynamicbase is correct only if it contains no absolute \
             addresses",
        ),
        (entropy && !has(Flag::DynamicBase), "highentropyva has no effect without dynamicbase"),
        (
            entropy && is_program && !has(Flag::LargeAddressAware),
            "highentropyva has no effect in a program without largeaddressaware",
        ),
        (
            touched(Flag::LargeAddressAware) && !is_program,
            "largeaddressaware has an effect in programs only, not in DLLs and drivers",
        ),
        (
            was_set(Flag::LargeAddressAware) && is_program && !headers.pe32_plus,
            "its code and that of its DLLs can now get addresses above 2 GiB; test that this works",
        ),
        (
            was_cleared(Flag::LargeAddressAware) && is_program && headers.pe32_plus,
            "the whole process must now fit into 2 GiB of addresses",
        ),
        (
            touched(Flag::TsAware) && !is_program,
            "tsaware has an effect in programs only, not in DLLs and drivers",
        ),
        (
            touched(Flag::NxCompat) && headers.pe32_plus,
            "nxcompat has no effect on 64-bit programs, which never execute data",
        ),
        (
            was_cleared(Flag::DynamicBase) && has(Flag::GuardCf),
            "Windows uses Control Flow Guard (guard:cf) only together with dynamicbase",
        ),
        (
            (was_cleared(Flag::DynamicBase) || was_cleared(Flag::NxCompat))
                && has(Flag::AppContainer),
            "Windows starts app containers only with dynamicbase and nxcompat",
        ),
        (
            was_set(Flag::DynamicBase) && file.directory(spec::BOUND_IMPORT).is_some(),
            "it is bound, which helps only if its DLLs are at their preferred bases",
        ),
    ];
    let bound = was_set(Flag::NoBind) && file.directory(spec::BOUND_IMPORT).is_some();
    let bound = bound.then(|| RefusalReason::from("it is already bound").with(Advice::Unbind));
    let notes = all.into_iter().filter(|(holds, _)| *holds).map(|(_, note)| note.into());
    notes.chain(bound).collect()
}

fn has_code(headers: &Headers) -> bool {
    let executable = |section: &image::pe::SectionHeader| {
        section.flags & (spec::IMAGE_SCN_CNT_CODE | spec::IMAGE_SCN_MEM_EXECUTE) != 0
    };
    headers.sections.iter().any(executable)
}

fn is_arm64(headers: &Headers) -> bool {
    headers.machine == spec::IMAGE_FILE_MACHINE_ARM64
}

fn is_arm(headers: &Headers) -> bool {
    is_arm64(headers) || headers.machine == spec::IMAGE_FILE_MACHINE_ARMNT
}

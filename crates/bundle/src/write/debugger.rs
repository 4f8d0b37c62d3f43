//! Commands by which gdb learns of the modules in a bundle: it asks for one table of call frames a
//! file, and their lines and types are in files of their own.

use crate::plan::layout::Layout;
use crate::plan::member::Member;
use crate::tables::debug_symbols::BEGIN;
use image::elf::loadable::Section;
use image::elf::spec;
use model::BundleVa;

/// Name of the file with the commands in a bundle's folder.
pub const SYMBOLS: &str = "symbols.gdb";

/// The commands.
pub(crate) fn commands(layout: &Layout<'_>) -> String {
    let mut text = format!(
        "# Functions, lines and call frames of what is merged:\n\
         #     gdb -x {SYMBOLS} --args run ARGUMENT...\n\
         #     gdb -x {SYMBOLS} -p PROCESS\n\
         if $_thread == 0\n  starti\nend\n"
    );
    for member in &layout.members {
        let path = member.module.path.display().to_string();
        let plain = |letter: char| letter != '"' && letter != '\\' && !letter.is_control();
        if path.chars().all(plain) {
            let at =
                |address: u64| format!("(long)&{BEGIN}+{:#x}", address.wrapping_sub(layout.low.0));
            text += &format!("add-symbol-file \"{path}\" -o {}", at(member.base));
            for (section, address) in apart(member) {
                text += &format!(" -s {section} {}", at(address.0));
            }
            text.push('\n');
        }
    }
    text
}

/// Sections that are not where the others are: at their old distance they would hide other modules.
fn apart(member: &Member<'_>) -> Vec<(String, BundleVa)> {
    let Some(tables) = &member.tables else { return Vec::new() };
    let is_apart = |section: &Section| {
        let header = &section.header;
        header.flags & spec::SHF_ALLOC != 0 && tables.part.holds(header.address)
    };
    let is_plain = |section: &Section| {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        section.name.starts_with('.') && section.name.chars().all(plain)
    };
    let sections = member.image.sections().into_iter();
    let sections = sections.filter(|section| is_apart(section) && is_plain(section));
    sections.map(|it| (it.name, member.moved(it.header.address))).collect()
}

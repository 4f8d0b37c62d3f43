//! Commands by which gdb learns of the modules in a bundle: it asks for one table of call frames a
//! file, and their lines and types are in files of their own.

use crate::plan::layout::Layout;
use crate::tables::debug_symbols::BEGIN;

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
            let distance = member.base.wrapping_sub(layout.low.0);
            let at = format!("(long)&{BEGIN}+{distance:#x}");
            text += &format!("add-symbol-file \"{path}\" -o {at}\n");
        }
    }
    text
}

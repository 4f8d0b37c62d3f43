//! For a shell: variables, which `configure` scripts and many makefiles take over.

use super::words::{for_compiler, for_linker, is_for_pe};
use crate::write::Linker;
use model::quoted_for_posix;

pub(super) fn snippet(linker: Linker, file: &str) -> String {
    let mut text = format!("order_file={}\n", quoted_for_posix(file));
    // cl and Microsoft's linker, and those that stand in for them, read variables of their own.
    let (compile, link): (&[&str], &str) =
        if is_for_pe(linker) { (&["CL"], "LINK") } else { (&["CFLAGS", "CXXFLAGS"], "LDFLAGS") };
    if let Some(word) = for_compiler(linker) {
        text += "# Before compiling, or before ./configure:\n";
        let line = |variable| format!("export {variable}=\"${variable} {word}\"\n");
        text.extend(compile.iter().map(line));
    }
    text + &match for_linker(linker, "$order_file") {
        Some(words) => format!("export {link}=\"${link} {}\"\n", words.join(" ")),
        None => "# Between compiling and linking, for all object files:
for object in *.o; do objcopy \"@$order_file\" \"$object\"; done
"
        .to_owned(),
    }
}

//! For a makefile. make has no way to quote a blank in the name of a file; see [`super::unfit`].

use super::words::{for_compiler, for_linker, is_for_pe};
use crate::write::Linker;

pub(super) fn snippet(linker: Linker, file: &str) -> String {
    let mut text = format!("ORDER_FILE := {file}\n");
    if let Some(word) = for_compiler(linker) {
        text += "# Run make clean once, so that everything is compiled with this.\n";
        let variables: &[&str] = if is_for_pe(linker) { &["CL"] } else { &["CFLAGS", "CXXFLAGS"] };
        text.extend(variables.iter().map(|variable| format!("{variable} += {word}\n")));
    }
    match for_linker(linker, "$(ORDER_FILE)") {
        Some(words) => {
            let variable = if is_for_pe(linker) { "LINK" } else { "LDFLAGS" };
            text += &format!("{variable} += {}\n", words.join(" "));
            // cl and link take what these have in the environment.
            text += if is_for_pe(linker) { "export CL LINK\n" } else { "" };
            text + AGAIN
        }
        None => text + &renaming(),
    }
}

const AGAIN: &str = "\
# For the program, so that it is relinked when the order changes (GNU make 4.3):
# PROGRAM: private .EXTRA_PREREQS = $(ORDER_FILE)
";

/// Sections get new names as soon as they are compiled.
fn renaming() -> String {
    let rule = |kind: &str, compile: &str| {
        format!(
            "%.o: %.{kind} $(ORDER_FILE)\n\t$({compile}) -c -o $@ $<\n\tobjcopy @$(ORDER_FILE) $@\n"
        )
    };
    rule("c", "COMPILE.c") + &rule("cpp", "COMPILE.cpp")
}

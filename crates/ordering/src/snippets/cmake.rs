//! For `CMakeLists.txt`.

use super::words::{for_compiler, for_linker, is_for_pe};
use crate::write::Linker;

pub(super) fn snippet(linker: Linker, file: &str) -> Option<String> {
    let words = for_linker(linker, "${ORDER_FILE}")?;
    // CMake calls Microsoft's linker itself, but clang may stand in front of lld-link.
    let prefix = if is_for_pe(linker) { "LINKER:" } else { "" };
    let words: Vec<String> = words.iter().map(|word| format!("\"{prefix}{word}\"")).collect();
    let compile = for_compiler(linker).map_or(String::new(), |word| {
        format!("# Before all targets and subdirectories:\nadd_compile_options({word})\n\n")
    });
    let link = words.join("\n    ");
    let file = quoted(file);
    Some(format!(
        "{compile}get_filename_component(ORDER_FILE {file} ABSOLUTE)
function(order_functions target)
  target_link_options(${{target}} PRIVATE
    {link})
  set_property(TARGET ${{target}} APPEND PROPERTY LINK_DEPENDS \"${{ORDER_FILE}}\")
endfunction()

# After add_executable(PROGRAM ...) or add_library(PROGRAM SHARED ...):
# order_functions(PROGRAM)
"
    ))
}

fn quoted(file: &str) -> String {
    let mut text = String::from("\"");
    for character in file.chars() {
        text.extend(matches!(character, '\\' | '"' | '$').then_some('\\'));
        text.push(character);
    }
    text + "\""
}

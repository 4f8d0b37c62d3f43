//! For `meson.build`.

use super::words::{for_compiler, for_linker};
use crate::write::Linker;

pub(super) fn snippet(linker: Linker, file: &str) -> Option<String> {
    const FILE: &str = "\u{0}";
    // The place of the file is an expression.
    let words = for_linker(linker, FILE)?;
    let word = |word: &String| match word.strip_suffix(FILE) {
        Some(option) => format!("'{option}' + order_path"),
        None => format!("'{word}'"),
    };
    let words: Vec<String> = words.iter().map(word).collect();
    let compile = for_compiler(linker).map_or(String::new(), |word| {
        format!(
            "# Before all targets and subdirectories:
add_project_arguments('{word}', language: ['c', 'cpp'])

"
        )
    });
    let file = quoted(file);
    Some(format!(
        "{compile}order_file = files({file})
order_path = meson.current_source_dir() / {file}
order_args = [{}]

# Arguments of executable('PROGRAM', ...) or shared_library('PROGRAM', ...):
# link_args: order_args, link_depends: order_file
",
        words.join(", ")
    ))
}

fn quoted(file: &str) -> String {
    format!("'{}'", file.replace('\\', "\\\\").replace('\'', "\\'"))
}

//! The sort file of mksquashfs: a path below the source folder, white space, a priority from 32767
//! down to -32768. Files of a higher priority lie in front.
//!
//! A backslash makes the next character part of the name: white space, a backslash, and a `#` at the
//! beginning, which would be a comment.

/// The first file's; files that are not listed have 0.
const HIGHEST: usize = 32_767;

/// The list. Where there are more files than priorities, neighbors share one.
pub(super) fn sort_file(paths: &[String]) -> String {
    let mut text = String::new();
    for (place, path) in paths.iter().enumerate() {
        let priority = HIGHEST - place * HIGHEST / paths.len().max(HIGHEST);
        for (at, character) in path.char_indices() {
            let is_space = character.is_ascii_whitespace() || character == '\u{b}';
            if is_space || character == '\\' || (at == 0 && character == '#') {
                text.push('\\');
            }
            text.push(character);
        }
        text += &format!(" {priority}\n");
    }
    text
}

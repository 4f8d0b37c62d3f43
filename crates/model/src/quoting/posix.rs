//! Words as a POSIX shell takes them.

use crate::text;
use std::ffi::{OsStr, OsString};

/// Quoted for a POSIX shell where it has to be.
pub fn quoted(word: impl AsRef<OsStr>) -> String {
    let word = word.as_ref();
    let Some(word) = word.to_str().filter(|word| !word.contains(char::is_control)) else {
        return in_bytes(word);
    };
    let plain = |c: char| c.is_alphanumeric() || "_-./=:,+@%^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The words of a line that consists of words as [`quoted`] writes them; `None` where it does not.
pub fn words(line: &str) -> Option<Vec<OsString>> {
    let mut words = Vec::new();
    let mut rest = line.trim_start_matches(' ');
    while !rest.is_empty() {
        let mut word = Vec::new();
        while !rest.is_empty() && !rest.starts_with(' ') {
            rest = piece(rest, &mut word)?;
        }
        words.push(text::of_bytes(word));
        rest = rest.trim_start_matches(' ');
    }
    Some(words)
}

/// Adds the first piece of a line to a word, and gives what is behind it.
fn piece<'a>(line: &'a str, word: &mut Vec<u8>) -> Option<&'a str> {
    if let Some(quoted) = line.strip_prefix("$'") {
        return escaped(quoted, word);
    }
    if let Some(quoted) = line.strip_prefix('\'') {
        let (text, rest) = quoted.split_once('\'')?;
        word.extend_from_slice(text.as_bytes());
        return Some(rest);
    }
    let (letter, behind) = match line.strip_prefix('\\') {
        Some(line) => (line.chars().next()?, line),
        None => (line.chars().next()?, line),
    };
    word.extend_from_slice(letter.to_string().as_bytes());
    behind.get(letter.len_utf8()..)
}

/// The same of what is in `$'…'`.
fn escaped<'a>(quoted: &'a str, word: &mut Vec<u8>) -> Option<&'a str> {
    let mut rest = quoted;
    loop {
        let letter = rest.chars().next()?;
        rest = rest.get(letter.len_utf8()..)?;
        match letter {
            '\'' => return Some(rest),
            '\\' if rest.starts_with(['\\', '\'']) => {
                word.extend_from_slice(rest.get(..1)?.as_bytes());
                rest = rest.get(1..)?;
            }
            '\\' => {
                word.push(u8::from_str_radix(rest.get(..3)?, 8).ok()?);
                rest = rest.get(3..)?;
            }
            letter => word.extend_from_slice(letter.to_string().as_bytes()),
        }
    }
}

/// A word that cannot be printed, as `$'…'` (POSIX.1-2024, 2.2.4): bytes that are no text, and
/// control characters, by number.
fn in_bytes(word: &OsStr) -> String {
    let mut quoted = "$'".to_owned();
    // Three octal digits, so that no digit that follows is taken for one of it.
    let number = |byte: &u8| format!(r"\{byte:03o}");
    for chunk in word.as_encoded_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' | '\'' => quoted.extend(['\\', c]),
                c if c.is_control() => quoted.extend(c.to_string().as_bytes().iter().map(number)),
                c => quoted.push(c),
            }
        }
        quoted.extend(chunk.invalid().iter().map(number));
    }
    quoted + "'"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_quoted_is_read_back() {
        let hard: [&[u8]; 8] = [
            b"plain",
            b"",
            b"two words",
            b"it's",
            b"a\nb\t'c' \\ 1",
            b"\xff\xfe7",
            "gr\u{fc}n 'x'".as_bytes(),
            b"$'a",
        ];
        let hard: Vec<OsString> = hard.iter().map(|word| text::of_bytes(word.to_vec())).collect();
        let line: Vec<String> = hard.iter().map(quoted).collect();
        assert_eq!(words(&line.join(" ")), Some(hard));
        assert_eq!(words(""), Some(Vec::new()));
        for wrong in ["'open", "$'open", "$'\\9'", "\\"] {
            assert_eq!(words(wrong), None, "{wrong}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_shell_reads_a_quoted_path_as_it_is() {
        let paths: [&[u8]; 5] =
            [b"/a b", b"/it's\n\xff1\\n", b"/\xc3\xa4'\xfe", b"/plain", b"a\tb\xc2\x851"];
        for bytes in paths {
            let quoted = quoted(text::of_bytes(bytes.to_vec()));
            let script = format!("printf %s {quoted}");
            let output = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
            assert_eq!(output.stdout, bytes, "{quoted}");
            assert!(!quoted.contains(char::is_control), "{quoted:?}");
        }
    }
}

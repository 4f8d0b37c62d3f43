//! Words as programs of Windows take them from their command line, and as cmd and PowerShell pass
//! them on where both can.
//!
//! A program divides its own command line, by the rules of Microsoft's C library
//! (CommandLineToArgvW): spaces divide words outside of double quotes, and backslashes count only
//! in front of a double quote.

use std::ffi::{OsStr, OsString};

/// What divides words.
const DIVIDES: [char; 2] = [' ', '\t'];

/// Quoted where it has to be.
pub fn quoted(word: impl AsRef<OsStr>) -> String {
    let word = word.as_ref().to_string_lossy();
    // Signs of cmd (&|<>^%!), of PowerShell ($`#@'{};,) and of both are kept from the shell by quotes.
    let plain = |c: char| c.is_alphanumeric() || r"_-./\=:+~".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into_owned();
    }
    String::from_utf16_lossy(&enclosed(word.encode_utf16()))
}

/// A word in UTF-16, enclosed in quotes, as a program reads it back from its command line.
pub fn enclosed(word: impl IntoIterator<Item = u16>) -> Vec<u16> {
    const QUOTE: u16 = b'"' as u16;
    const BACKSLASH: u16 = b'\\' as u16;
    let mut enclosed = vec![QUOTE];
    let mut backslashes = 0;
    for unit in word {
        if unit == QUOTE {
            // As many again, and one for the quote.
            enclosed.extend(std::iter::repeat_n(BACKSLASH, backslashes + 1));
        }
        backslashes = if unit == BACKSLASH { backslashes + 1 } else { 0 };
        enclosed.push(unit);
    }
    enclosed.extend(std::iter::repeat_n(BACKSLASH, backslashes));
    enclosed.push(QUOTE);
    enclosed
}

/// The words of a line that consists of words as [`quoted`] writes them; `None` where it does not.
pub fn words(line: &str) -> Option<Vec<OsString>> {
    let mut words = Vec::new();
    let mut rest = line.trim_start_matches(DIVIDES);
    while !rest.is_empty() {
        let (word, behind) = word(rest)?;
        words.push(word.into());
        rest = behind.trim_start_matches(DIVIDES);
    }
    Some(words)
}

/// The first word of a line, and what is behind it.
fn word(line: &str) -> Option<(String, &str)> {
    let mut word = String::new();
    let (mut is_quoted, mut backslashes) = (false, 0_usize);
    let mut letters = line.char_indices().peekable();
    while let Some((at, c)) = letters.next() {
        match c {
            '\\' => backslashes += 1,
            '"' => {
                // Of two backslashes one is left; an odd one makes the quote a letter.
                word.truncate(word.len() - backslashes.div_ceil(2));
                match backslashes % 2 {
                    // Two within quotes are one that is meant.
                    0 if is_quoted && letters.next_if(|(_, next)| *next == '"').is_some() => {
                        word.push('"');
                    }
                    0 => is_quoted = !is_quoted,
                    _ => word.push('"'),
                }
                backslashes = 0;
                continue;
            }
            c if DIVIDES.contains(&c) && !is_quoted => return Some((word, line.get(at..)?)),
            _ => backslashes = 0,
        }
        word.push(c);
    }
    (!is_quoted).then_some((word, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_quoted_is_read_back() {
        let hard = [
            r"C:\Program Files\a.dll",
            r"C:\x\",
            r"C:\x y\",
            r#"say "hi""#,
            r#"a\"b\\"c\"#,
            "",
            "plain",
            "%PATH%",
            "a&b|c",
            r"\\server\share\gr\u{fc}n x.exe",
            "\\\\\\",
            "\" ",
        ];
        let line: Vec<String> = hard.iter().map(quoted).collect();
        let read = words(&line.join(" "));
        assert_eq!(read, Some(hard.iter().map(OsString::from).collect()));
        assert_eq!(words(""), Some(Vec::new()));
        assert_eq!(words(r#""x""y""#), Some(vec![r#"x"y"#.into()]));
        assert_eq!(words(r#""" a"#), Some(vec!["".into(), "a".into()]));
        assert_eq!(words("\"open"), None);
        assert_eq!(words("a \t b\tc"), Some(["a", "b", "c"].map(OsString::from).to_vec()));
    }

    #[test]
    fn paths_are_quoted_only_where_it_has_to_be() {
        assert_eq!(quoted(r"C:\bin\x.exe"), r"C:\bin\x.exe");
        assert_eq!(quoted(r"\\server\share\x.exe"), r"\\server\share\x.exe");
        assert_eq!(quoted(r"C:\My Files\"), r#""C:\My Files\\""#);
        assert_eq!(quoted(r#"a"b"#), r#""a\"b""#);
    }
}

//! The command line of a program, which divides it into words itself.

use crate::windows::LaunchError;
use std::ffi::OsString;
use std::os::windows::ffi::OsStrExt;
use std::path::Path;

const QUOTE: u16 = b'"' as u16;
/// The longest line that CreateProcess takes, its NUL included.
const LONGEST: usize = 32_767;

/// The words in one line, ended by NUL, as CommandLineToArgvW and Microsoft's C library divide it: by
/// spaces and tabs outside of quotes, with backslashes that count only in front of a quote.
///
/// # Errors
/// There is none that would be read so, or it is too long.
pub(super) fn of(argv: &[OsString], program: &Path) -> Result<Vec<u16>, LaunchError> {
    let name = argv.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut line = Vec::new();
    for (place, word) in argv.iter().enumerate() {
        let word: Vec<u16> = word.encode_wide().collect();
        if word.contains(&0) {
            return Err(LaunchError::NulByte(name));
        }
        match place {
            // The first word ends at the next quote, and no backslash changes that.
            0 => push_quoted(&mut line, word.iter().copied().filter(|&unit| unit != QUOTE)),
            _ if place + 1 == argv.len() && is_line_of_cmd(argv) => {
                line.push(b' '.into());
                push_quoted(&mut line, word.iter().copied());
            }
            _ => {
                line.push(b' '.into());
                push(&mut line, &word);
            }
        }
    }
    line.push(0);
    if line.len() > LONGEST {
        let found = "its command line is longer than the 32,766 characters that Windows allows";
        let found = found.to_owned();
        return Err(LaunchError::TooLong { program: program.to_owned(), found });
    }
    Ok(line)
}

/// Whether the last word is a line that cmd takes as it stands, but for the outer quotes, which `/s` has
/// it remove: it knows no backslashes that keep quotes.
fn is_line_of_cmd(argv: &[OsString]) -> bool {
    let [program, options @ .., _line] = argv else { return false };
    let stem = Path::new(program).file_stem().unwrap_or_default();
    stem.eq_ignore_ascii_case("cmd") && options == ["/d", "/s", "/c"]
}

fn push_quoted(line: &mut Vec<u16>, word: impl Iterator<Item = u16>) {
    line.push(QUOTE);
    line.extend(word);
    line.push(QUOTE);
}

fn push(line: &mut Vec<u16>, word: &[u16]) {
    let divides = |unit: &u16| [b' ', b'\t', b'\n', 0x0b, b'"'].map(u16::from).contains(unit);
    if !word.is_empty() && !word.iter().any(divides) {
        line.extend(word);
        return;
    }
    line.extend(model::enclosed_for_windows(word.iter().copied()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &[&str]) -> String {
        let argv: Vec<OsString> = words.iter().map(OsString::from).collect();
        let line = of(&argv, Path::new("p")).unwrap();
        String::from_utf16(line.strip_suffix(&[0]).unwrap()).unwrap()
    }

    #[test]
    fn words_are_quoted_as_programs_read_them() {
        assert_eq!(line(&[r"C:\x y\p.exe"]), r#""C:\x y\p.exe""#);
        let of_cmd = line(&["cmd", "/d", "/s", "/c", r#"echo "a" \"#]);
        assert_eq!(of_cmd, r#""cmd" /d /s /c "echo "a" \""#);
        let words = ["p", r"C:\x\", r"C:\x y\", "", r#"a\"b"#, "a\tb", "%PATH%", "ü"];
        let expected = concat!(r#""p" C:\x\ "C:\x y\\" "" "a\\\"b" "#, "\"a\tb\" %PATH% ü");
        assert_eq!(line(&words), expected);
        let read = model::words(&line(&words)).unwrap();
        assert_eq!(read, words.map(OsString::from));
    }

    #[test]
    fn what_cannot_be_passed_on_is_refused() {
        let nul = of(&["p".into(), "a\0b".into()], Path::new("p"));
        assert!(matches!(nul, Err(LaunchError::NulByte(_))));
        let long = of(&["p".into(), "x".repeat(LONGEST).into()], Path::new("p"));
        assert!(matches!(long, Err(LaunchError::TooLong { .. })));
    }
}

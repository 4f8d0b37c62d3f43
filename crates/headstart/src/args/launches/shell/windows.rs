//! cmd, and other shells on Windows.

use super::first_word;
use crate::exit::Usage;
use anyhow::Result;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The shell of lines that need one.
pub const DEFAULT: &str = "cmd";
/// Another one.
pub const EXAMPLE: &str = "powershell";

/// What has a shell run a line. cmd takes all behind `/c` as it stands, without the outer quotation
/// marks, and keeps backslashes in front of inner ones, so a line with such marks would not arrive.
///
/// # Errors
/// It cannot be passed on.
pub fn of_shell(shell: &[OsString], line: &OsStr) -> Result<Vec<OsString>> {
    let options: &[&str] = match name(shell).as_str() {
        "cmd" if line.as_encoded_bytes().contains(&b'"') => {
            let text = "headstart cannot pass a line with double quotes to cmd; put the line into a batch \
                        file, and launch it with cmd /c FILE";
            return Err(Usage(text.to_owned()).into());
        }
        "cmd" => &["/d", "/s", "/c"],
        "powershell" | "pwsh" => &["-NoProfile", "-Command"],
        _ => &["-c"],
    };
    let options: Vec<OsString> = options.iter().map(OsString::from).collect();
    Ok([shell, &options, &[line.to_owned()]].concat())
}

fn name(shell: &[OsString]) -> String {
    let program = Path::new(shell.first().map_or(OsStr::new(""), OsString::as_os_str));
    program.file_stem().unwrap_or_default().to_string_lossy().to_lowercase()
}

/// Words of cmd's own that are no programs.
const BUILT_IN: [&str; 36] = [
    "assoc", "break", "call", "cd", "chdir", "cls", "color", "copy", "date", "del", "dir", "echo",
    "endlocal", "erase", "exit", "for", "ftype", "goto", "if", "md", "mkdir", "mklink", "move",
    "path", "pause", "popd", "pushd", "rd", "rem", "ren", "rmdir", "set", "setlocal", "start",
    "type", "ver",
];

/// Whether the line has something that only cmd understands: a word of its own, or a sign or a
/// variable outside of quotation marks.
pub fn needs_shell(line: &OsStr) -> bool {
    let first = first_word(line).to_lowercase();
    if BUILT_IN.contains(&first.as_str()) {
        return true;
    }
    let mut is_quoted = false;
    let mut plain = String::new();
    for c in line.to_string_lossy().chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '|' | '&' | '<' | '>' | '^' | '\n' => return true,
            c => plain.push(c),
        }
    }
    has_variable(&plain)
}

/// Whether there is `%NAME%` in it.
fn has_variable(text: &str) -> bool {
    let parts: Vec<&str> = text.split('%').collect();
    let names = parts.get(1..parts.len().saturating_sub(1)).unwrap_or_default();
    names.iter().any(|name| !name.is_empty() && !name.contains(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_need_a_shell() {
        for line in ["a.exe | sort", "a&b", "a > f", "echo x", "Set A=1", "a %PATH%", "a ^x"] {
            assert!(needs_shell(OsStr::new(line)), "{line}");
        }
        for line in ["a.exe -x", "a \"b | c\"", "a 50%", "a 5% 6%", "a 'b'", r"C:\x\a.exe ~ * ?"] {
            assert!(!needs_shell(OsStr::new(line)), "{line}");
        }
    }

    #[test]
    fn shells_have_options_of_their_own() {
        let words = |shell: &str, line: &str| {
            of_shell(&[shell.into()], OsStr::new(line)).map(|words| words.join(OsStr::new("~")))
        };
        assert_eq!(words("cmd", "a | b").unwrap(), "cmd~/d~/s~/c~a | b");
        assert_eq!(words(r"C:\x\CMD.EXE", "a").unwrap(), r"C:\x\CMD.EXE~/d~/s~/c~a");
        assert_eq!(words("pwsh", "a").unwrap(), "pwsh~-NoProfile~-Command~a");
        assert_eq!(words("bash", "a \"b\"").unwrap(), "bash~-c~a \"b\"");
        assert!(words("cmd", "a \"b\"").is_err());
    }
}

//! cmd, and other shells on Windows.

use super::{SetVariable, first_word};
use lab::command_line::assignment;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The shell of lines that need one.
pub const DEFAULT: &str = "cmd";
/// Another one.
pub const EXAMPLE: &str = "powershell";

/// What has a shell run a line. cmd takes all behind `/c` as it stands, which is how it is launched.
pub fn of_shell(shell: &[OsString], line: &OsStr) -> Vec<OsString> {
    let options: &[&str] = match name(shell).as_str() {
        "cmd" => &["/d", "/s", "/c"],
        "powershell" | "pwsh" => &["-NoProfile", "-Command"],
        _ => &["-c"],
    };
    let options: Vec<OsString> = options.iter().map(OsString::from).collect();
    [shell, &options, &[line.to_owned()]].concat()
}

/// Variables that are set for a line (`NAME=value` in front of it), and the line without them: cmd
/// knows no such words.
pub fn variables(line: &OsStr) -> (Vec<SetVariable>, OsString) {
    let mut found = Vec::new();
    let Some(mut rest) = line.to_str() else { return (found, line.to_owned()) };
    loop {
        let start = rest.trim_start();
        let word = start.split(char::is_whitespace).next().unwrap_or_default();
        match assignment(OsStr::new(word)).filter(|_| !word.contains('"')) {
            Some(variable) => found.push(variable),
            None => return (found, start.into()),
        }
        rest = start.get(word.len()..).unwrap_or_default();
    }
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
            of_shell(&[shell.into()], OsStr::new(line)).join(OsStr::new("~"))
        };
        assert_eq!(words("cmd", "a | b"), "cmd~/d~/s~/c~a | b");
        assert_eq!(words(r"C:\x\CMD.EXE", "a"), r"C:\x\CMD.EXE~/d~/s~/c~a");
        assert_eq!(words("pwsh", "a"), "pwsh~-NoProfile~-Command~a");
        assert_eq!(words("bash", "a \"b\""), "bash~-c~a \"b\"");
        assert_eq!(words("cmd", "a \"b\""), "cmd~/d~/s~/c~a \"b\"");
    }

    #[test]
    fn variables_in_front_are_set_and_no_words_for_cmd() {
        let (found, line) = variables(OsStr::new("A=1  B_2= echo C=3"));
        let names: Vec<_> =
            found.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        assert_eq!(names, [("A", Some("1".into())), ("B_2", Some("".into()))]);
        assert_eq!(line, "echo C=3");
        assert_eq!(variables(OsStr::new("echo A=1")).1, "echo A=1");
    }
}

//! POSIX shells.

use super::{SetVariable, first_word};
use std::ffi::{OsStr, OsString};

/// The shell of lines that need one.
pub const DEFAULT: &str = "sh";
/// Another one.
pub const EXAMPLE: &str = "bash";

/// What has a shell run a line.
pub fn of_shell(shell: &[OsString], line: &OsStr) -> Vec<OsString> {
    [shell, &["-c".into(), line.to_owned()]].concat()
}

/// Variables that are set for a line, and the line without them: shells set them.
pub fn variables(line: &OsStr) -> (Vec<SetVariable>, OsString) {
    (Vec::new(), line.to_owned())
}

/// Words of a shell's own that are no programs, or do nothing when they are.
const BUILT_IN: [&str; 28] = [
    "!", ".", ":", "alias", "break", "case", "cd", "command", "eval", "exec", "exit", "export",
    "for", "hash", "if", "read", "readonly", "return", "set", "shift", "source", "times", "trap",
    "type", "ulimit", "umask", "unset", "while",
];

/// Whether the line has something outside of quotation marks that only a shell understands.
pub fn needs_shell(line: &OsStr) -> bool {
    let first = first_word(line);
    if BUILT_IN.iter().any(|word| first == *word) {
        return true;
    }
    let mut bytes = line.as_encoded_bytes().iter().copied();
    let (mut quote, mut before) = (None, b' ');
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (Some(b'\''), b'\'') | (Some(b'"'), b'"') => quote = None,
            (Some(b'\''), _) => {}
            (_, b'\\') => drop(bytes.next()),
            (_, b'$' | b'`') => return true,
            (Some(_), _) => {}
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'|' | b'&' | b';' | b'<' | b'>' | b'(' | b')' | b'*' | b'?' | b'[' | b'\n') => {
                return true;
            }
            (None, b'~' | b'#') if before.is_ascii_whitespace() => return true,
            (None, _) => {}
        }
        before = byte;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_need_a_shell() {
        for line in [
            "ls | sort",
            "ls|sort",
            "a; b",
            "a && b",
            "a & b",
            "a > f",
            "a 2>&1",
            "a <f",
            "echo $HOME",
            "echo \"$HOME\"",
            "echo `a`",
            "ls *.c",
            "ls ?",
            "ls [ab]",
            "(a)",
            "ls ~",
            "a # b",
            "a\nb",
            "exit 3",
            "A=1 cd /",
            ": x",
            "sleep $((2**3))",
        ] {
            assert!(needs_shell(OsStr::new(line)), "{line}");
        }
        for line in [
            "ls -l",
            "sh -c 'a | b; c $d'",
            r"echo \$HOME \| x",
            "echo a~b c#d",
            "A=1 ls",
            "echo '*'",
            "echo \"a|b\"",
            "python3 -c 'print([1])'",
            "sh -c :",
            "echo {x}",
        ] {
            assert!(!needs_shell(OsStr::new(line)), "{line}");
        }
    }
}

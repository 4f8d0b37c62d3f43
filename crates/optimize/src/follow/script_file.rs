//! What can be read of a script without running it.

use shlex::bytes::Shlex;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Larger scripts are not read: they are archives that unpack themselves.
const MOST_BYTES: u64 = 1 << 20;

/// The longest `#!` line that the kernel reads (execve(2), "Interpreter scripts").
const LONGEST_LINE: u64 = 256;

/// Whether the kernel starts another program to read this file.
pub fn is_script(path: &Path) -> bool {
    let mut head = [0; 2];
    File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && &head == b"#!"
}

/// The program that the last command of a shell script executes, where that is an `exec` of an absolute
/// path without variables.
pub fn last_exec(path: &Path) -> Option<PathBuf> {
    let mut text = Vec::new();
    File::open(path).ok()?.take(MOST_BYTES).read_to_end(&mut text).ok()?;
    let interpreter = interpreter(&text)?;
    if !is_shell(&interpreter) {
        return None;
    }
    let mut lines = text.split(|&byte| byte == b'\n').map(|line| line.trim_ascii());
    let last = lines.rfind(|line| !line.is_empty() && !line.starts_with(b"#"))?;
    let mut words = Shlex::new(last);
    if words.next()? != b"exec" {
        return None;
    }
    let program = words.find(|word| !word.starts_with(b"-") && !is_assignment(word))?;
    let plain = program.starts_with(b"/") && !program.iter().any(|byte| b"$`*?[".contains(byte));
    let program = PathBuf::from(std::ffi::OsString::from_vec(program));
    (plain && program.is_file()).then_some(program)
}

/// The program that reads a script; `None` where it is a shell, which only starts others, or is not found.
pub fn interpreter_of(path: &Path) -> Option<PathBuf> {
    let mut head = Vec::new();
    File::open(path).ok()?.take(LONGEST_LINE).read_to_end(&mut head).ok()?;
    let interpreter = interpreter(&head).filter(|name| !is_shell(name))?;
    os::program::resolve(&[interpreter]).ok()?.program.canonicalize().ok()
}

/// The interpreter of a `#!` line; that which `/usr/bin/env` looks up, without its path.
fn interpreter(text: &[u8]) -> Option<String> {
    let line = text.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line).into_owned();
    let mut words = line.split_whitespace();
    let first = words.next()?;
    let by_env = Path::new(first).file_name() == Some("env".as_ref());
    match by_env {
        true => words.find(|word| !word.starts_with('-') && !word.contains('=')),
        false => Some(first),
    }
    .map(str::to_owned)
}

fn is_shell(interpreter: &str) -> bool {
    let name = Path::new(interpreter).file_name().unwrap_or_default();
    ["sh", "bash", "dash", "ksh", "zsh", "ash"].iter().any(|shell| name == *shell)
}

fn is_assignment(word: &[u8]) -> bool {
    let name = word.split(|&byte| byte == b'=').next().unwrap_or_default();
    word.contains(&b'=') && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(text: &str) -> Option<PathBuf> {
        let folder = tempfile::tempdir().unwrap();
        last_exec(&testkit::script(folder.path(), "script", text))
    }

    #[test]
    fn the_last_exec_is_read_where_it_is_plain() {
        let shell = Some(PathBuf::from("/bin/sh"));
        assert_eq!(last("#!/bin/sh\nA=1\nexec /bin/sh -c true \"$@\"\n# end\n"), shell);
        assert_eq!(
            last("#!/usr/bin/env bash\nexec -a name '/bin/sh'\n"),
            None,
            "a name follows -a"
        );
        assert_eq!(last("#!/bin/sh\nexec \"$LIB/program\"\n"), None);
        assert_eq!(last("#!/bin/sh\nexec program\n"), None);
        assert_eq!(last("#!/bin/sh\nexec /bin/sh\necho after\n"), None);
        assert_eq!(last("#!/usr/bin/python3\nexec /bin/sh\n"), None, "no shell reads it");
    }

    #[test]
    fn interpreters() {
        let of = |line: &str| interpreter(line.as_bytes());
        assert_eq!(of("#!/bin/sh -e\n").as_deref(), Some("/bin/sh"));
        assert_eq!(of("#! /usr/bin/env -S A=1 perl -w\n").as_deref(), Some("perl"));
        assert_eq!(of("text\n"), None);
        assert_eq!(of("#!\n"), None);
    }
}

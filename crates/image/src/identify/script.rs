//! Scripts, and who reads them. execve(2), *Interpreter scripts*; env(1).

use model::{FileKind, Identity};

/// The kernel looks no further for the end of the line (BINPRM_BUF_SIZE).
const MOST_LINE_BYTES: usize = 256;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

fn without_mark(start: &[u8]) -> &[u8] {
    start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(start)
}

pub(super) fn is_script(start: &[u8]) -> bool {
    without_mark(start).starts_with(b"#!")
}

/// What is known of the script.
pub(super) fn identify(start: &[u8]) -> Identity {
    let has_mark = start.starts_with(BYTE_ORDER_MARK);
    let line = without_mark(start).get(2..).unwrap_or_default();
    let line = &line[..line.len().min(MOST_LINE_BYTES)];
    let line = line.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let (line, returns) = match line.strip_suffix(b"\r") {
        Some(line) => (line, true),
        None => (line, false),
    };
    let line = String::from_utf8_lossy(line);
    let (interpreter, mut detail) = reader(line.trim_matches([' ', '\t']));
    if has_mark {
        detail += "; the kernel cannot run it: there is a byte order mark before #!";
    } else if returns {
        detail += "; its first line ends in CR LF, which Linux does not accept";
    }
    Identity { kind: FileKind::Script, detail, interpreter, ..Identity::default() }
}

/// The interpreter, and how the line names it.
fn reader(line: &str) -> (Option<String>, String) {
    let (program, argument) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    let argument = argument.trim_matches([' ', '\t']);
    if program.is_empty() {
        return (None, "names no interpreter".to_owned());
    }
    if program.rsplit('/').next() == Some("env")
        && let Some(name) = sought(argument)
    {
        return (Some(name.to_owned()), format!("for {name}, found by {program}"));
    }
    let detail = match argument {
        "" => format!("for {program}"),
        argument => format!("for {program} with {argument}"),
    };
    (Some(program.to_owned()), detail)
}

/// The program that `env` looks for. Without `-S` it gets all that follows as one word.
fn sought(argument: &str) -> Option<&str> {
    let Some(rest) = split_string(argument) else {
        return (!argument.is_empty() && !argument.starts_with('-')).then_some(argument);
    };
    let mut words = rest.split_whitespace();
    while let Some(word) = words.next() {
        if matches!(word, "-u" | "-C" | "--unset" | "--chdir") {
            words.next();
        } else if !word.starts_with('-') && !word.contains('=') {
            return Some(word);
        }
    }
    None
}

/// What follows `-S`, alone or as the last of several options (`-iS`).
fn split_string(argument: &str) -> Option<&str> {
    if let Some(rest) = argument.strip_prefix("--split-string") {
        return Some(rest.trim_start_matches('='));
    }
    let options = argument.strip_prefix('-')?;
    let (before, rest) = options.split_once('S')?;
    before.chars().all(|option| matches!(option, 'i' | 'v' | '0')).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> (Option<String>, String) {
        assert!(is_script(text.as_bytes()), "{text}");
        let identity = identify(text.as_bytes());
        (identity.interpreter, identity.detail)
    }

    #[test]
    fn interpreters() {
        let cases = [
            ("#!/bin/sh\necho", "/bin/sh", "for /bin/sh"),
            ("#! /usr/bin/perl -w\n", "/usr/bin/perl", "for /usr/bin/perl with -w"),
            ("#!/usr/bin/awk -f", "/usr/bin/awk", "for /usr/bin/awk with -f"),
            ("#!/usr/bin/env python3\n", "python3", "for python3, found by /usr/bin/env"),
            ("#!/usr/bin/env -S node --a\n", "node", "for node, found by /usr/bin/env"),
            ("#!/usr/bin/env -Snode\n", "node", "for node, found by /usr/bin/env"),
            ("#!/bin/env -iS A=1 -u B sh -e\n", "sh", "for sh, found by /bin/env"),
            ("#!/bin/env --split-string=sh\n", "sh", "for sh, found by /bin/env"),
            // What env would look for in fact, and not find.
            ("#!/bin/env node --a\n", "node --a", "for node --a, found by /bin/env"),
            ("#!/bin/env -x\n", "/bin/env", "for /bin/env with -x"),
            ("#!/bin/env\n", "/bin/env", "for /bin/env"),
        ];
        for (text, interpreter, detail) in cases {
            let expected = (Some(interpreter.to_owned()), detail.to_owned());
            assert_eq!(seen(text), expected, "{text}");
        }
    }

    #[test]
    fn what_keeps_a_script_from_running_is_said() {
        assert_eq!(seen("#!\nx"), (None, "names no interpreter".to_owned()));
        assert_eq!(seen("#!  \t\n"), (None, "names no interpreter".to_owned()));
        let (interpreter, detail) = seen("#!/bin/sh\r\necho\r\n");
        assert_eq!(interpreter.as_deref(), Some("/bin/sh"));
        assert!(detail.starts_with("for /bin/sh; ") && detail.contains("CR LF"));
        let (interpreter, detail) = seen("\u{feff}#!/bin/sh\n");
        assert_eq!(interpreter.as_deref(), Some("/bin/sh"));
        assert!(detail.contains("byte order mark"), "{detail}");
        let long = format!("#!/{}", "x".repeat(5000));
        assert_eq!(seen(&long).0.map(|name| name.len()), Some(MOST_LINE_BYTES));
    }
}

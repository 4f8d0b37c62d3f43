//! The starts that count, without building the command line that clap would parse them with:
//! `headstart prefetch [--record FILE] [--quiet] [--before] -- CMD…`.

use super::{Request, meant, start};
use anyhow::{Error, Result};
use model::Command;
use std::ffi::{OsStr, OsString};

/// Becomes the program if the words are such a command line and the program can be found. Otherwise
/// returns, and the usual way says what is wrong. To be called first of all, in a single thread.
pub fn run_now(words: impl Iterator<Item = OsString>) -> Option<Error> {
    launched(words.collect()).unwrap_or_else(Some)
}

fn launched(words: Vec<OsString>) -> Result<Option<Error>> {
    let Some((mut request, command)) = parsed(words.into_iter()) else { return Ok(None) };
    let command = meant(command, &mut request)?;
    Ok(Some(start(&command, &request).into()))
}

fn parsed(mut words: impl Iterator<Item = OsString>) -> Option<(Request, Command)> {
    let mut request = Request::default();
    loop {
        let word = words.next()?;
        match word.to_str()? {
            "--" => break,
            "--quiet" | "-q" => request.quiet = true,
            "--before" => request.before = true,
            "--record" => request.record = Some(words.next()?.into()),
            _ => return None,
        }
    }
    let argv: Vec<OsString> = words.collect();
    // A single word may be a whole command line, or an option in the wrong place.
    let first = argv.first()?;
    if is_odd(first) {
        return None;
    }
    Some((request, os::program::resolve(&argv).ok()?))
}

fn is_odd(word: &OsStr) -> bool {
    word.to_str().is_none_or(|word| word.starts_with('-') || word.contains([' ', '=']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Option<(Request, Command)> {
        parsed(words.iter().map(OsString::from))
    }

    #[test]
    fn the_usual_command_line_is_understood_and_any_other_is_left_to_clap() {
        let (request, command) =
            parse(&["--record", "x", "-q", "--before", "--", "sh", "-c", "1"]).unwrap();
        assert_eq!(request.record, Some("x".into()));
        assert!(request.quiet && request.before && command.argv == ["sh", "-c", "1"]);
        for other in [
            &["sh"][..],
            &["--only", "--", "sh"],
            &["--record"],
            &["--"],
            &["--", "sh -c 1"],
            &["--", "--only"],
            &["--", "A=1"],
            &["--", "no-such-program-x"],
        ] {
            assert!(parse(other).is_none(), "{other:?}");
        }
    }
}

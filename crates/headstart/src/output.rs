//! What standard output can show, and writing to it and to files.

use crate::args::Look;
use crate::exit::{self, FileError, WithCode};
use crate::spared;
use anyhow::Result;
use files::{Permit, WriteError};
use lab::Series;
use report::Style;
use serde::Serialize;
use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::Path;

/// Columns where there is no terminal to ask.
const WIDTH: usize = 80;
/// Lines longer than this are hard to read, however wide the terminal.
const WIDEST: usize = 110;
const NARROWEST: usize = 40;

/// How standard output is written to: its width, colors (NO_COLOR and CLICOLOR are heeded) and
/// characters (those of the locale).
pub fn style() -> Style {
    let stdout = std::io::stdout();
    style_of(stdout.is_terminal(), anstream::AutoStream::choice(&stdout))
}

/// The same of standard error.
pub fn style_aside() -> Style {
    let stderr = std::io::stderr();
    style_of(stderr.is_terminal(), anstream::AutoStream::choice(&stderr))
}

fn style_of(is_terminal: bool, choice: anstream::ColorChoice) -> Style {
    let size = if is_terminal { terminal_size::terminal_size() } else { None };
    let width = size.map_or(WIDTH, |(width, _)| usize::from(width.0));
    Style {
        color: !matches!(choice, anstream::ColorChoice::Never),
        width: width.clamp(NARROWEST, WIDEST),
        unicode: unicode(),
    }
}

/// The same, with the colors that the user asked for.
pub fn style_as(look: Look) -> Style {
    let style = style();
    match look {
        Look::Auto | Look::None => style,
        Look::Basic | Look::Nocolor => Style { color: false, ..style },
        Look::Full | Look::Color => Style { color: true, ..style },
    }
}

/// Says it on stderr. Where that is full or closed, the exit code is all that can still be told.
pub fn tell(words: impl Display) {
    let _ = writeln!(anstream::stderr(), "headstart: {words}");
}

/// Sentences for stderr, which nobody has to act upon.
pub fn say(notes: &[String], look: Look) {
    if look != Look::None {
        notes.iter().for_each(|note| tell(format_args!("note: {note}")));
    }
}

/// Says on stderr that a run ended before its time, and how to go on with it where it is kept.
pub fn say_ended(interrupted: bool, kept: Option<(Series, &Path)>) {
    let said = match interrupted {
        true => "interrupted",
        false => {
            "the launches so far are kept; once the cause of the error below is fixed, without a change \
                  of the commands"
        }
    };
    // Somebody may have removed the folder.
    match kept.filter(|(_, path)| path.exists()) {
        Some((series, path)) => {
            let (verb, path) = (exit::verb(series), quoted(path));
            let sign = if interrupted { ";" } else { "," };
            tell(format_args!("{said}{sign} continue with: headstart {verb} --resume {path}"));
        }
        None if interrupted => tell(said),
        None => {}
    }
}

/// Whether the locale is UTF-8, by the variables and in the order of locale(7).
fn unicode() -> bool {
    let set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let name = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find(set);
    let value = name.and_then(|name| std::env::var(name).ok()).unwrap_or_default();
    let value = value.to_ascii_lowercase();
    value.contains("utf-8") || value.contains("utf8")
}

pub use model::quoted_path as quoted;

/// Where the tables and graphs of an experiment are.
pub fn left_in(folder: &Path) -> String {
    format!("Tables and graphs: {}\n", quoted(folder))
}

/// Where the output of programs goes that nobody wants to see.
pub fn null() -> Result<std::fs::File> {
    let opened = std::fs::File::options().read(true).write(true).open("/dev/null");
    Ok(opened.map_err(|source| FileError {
        path: "/dev/null".to_owned(),
        source,
        remedy: "check the permissions of that device",
    })?)
}

/// Writes to standard error what belongs to no output. Where that is full or closed, it is lost.
pub fn print_aside(text: &str) {
    let _ = write!(anstream::stderr(), "{text}");
}

/// Writes to standard output.
pub fn print(text: &str) -> Result<()> {
    print_bytes(text.as_bytes())
}

/// [`print()`] for what need not be text.
pub fn print_bytes(bytes: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(bytes).and_then(|()| out.flush());
    Ok(written.map_err(|source| FileError {
        path: "standard output".to_owned(),
        source,
        remedy: "check where it leads",
    })?)
}

/// Prints a result: as one JSON object, or as a view of it.
pub fn print_either(
    json: bool,
    result: &impl Serialize,
    view: impl FnOnce(&Style) -> String,
) -> Result<()> {
    print(&if json { report::export::json(result)? } else { view(&style()) })
}

/// Whether a file can be written where it is to be: better said before the launches.
///
/// # Errors
/// Its folder is not there, it is a named pipe or a program, or what is there is no text.
pub fn may_be_written(path: &Path) -> Result<()> {
    let (found, remedy) = if !files::folder_of(path).is_dir() {
        ("its folder does not exist", "create it, or choose another file")
    } else if is_named_pipe(path) {
        ("it is a named pipe, which waits for somebody who reads it", "choose a file")
    } else if is_program(path) {
        (
            "it is marked as a program (executable), which results do not replace",
            "choose another file",
        )
    } else {
        match spared::is_no_text(path) {
            Ok(false) => return Ok(()),
            Ok(true) => (
                "it is no text file, such as an object file or a library, and results replace text \
                 only",
                "choose another file",
            ),
            Err(_) => ("it cannot be read, so its kind is not known", "choose another file"),
        }
    };
    Err(refused(path, found, remedy))
}

/// Whether a file can be written that is none of those that the command reads.
///
/// # Errors
/// As [`may_be_written`]; or it is one of the `inputs`, by whatever name, or in one that is a folder.
pub fn may_be_written_beside<'a>(
    path: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<()> {
    if spared::is_among(path, inputs) {
        return Err(refused(
            path,
            "the command reads this file",
            "choose another file for the output",
        ));
    }
    may_be_written(path)
}

fn refused(path: &Path, found: &str, remedy: &'static str) -> anyhow::Error {
    let source = std::io::Error::other(found);
    FileError { path: path.display().to_string(), source, remedy }.into()
}

/// Whether opening it may take for ever; not so a pipe that is open already, as a shell names it
/// (/dev/fd/63, /dev/stdout).
pub fn is_named_pipe(path: &Path) -> bool {
    let is_open = path.starts_with("/dev") || path.starts_with("/proc");
    !is_open && path.metadata().is_ok_and(|data| data.file_type().is_fifo())
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// Writes a file whole or not at all. A link is followed; what could be started is not replaced.
pub fn write_file(path: &Path, text: &str) -> Result<()> {
    write_bytes(path, text.as_bytes())
}

/// [`write_file`] for what need not be text.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<()> {
    may_be_written(path)?;
    let failed = |source| FileError {
        path: path.display().to_string(),
        source,
        remedy: "choose another file, or make room",
    };
    match files::write_named(path, bytes, Permit::Created(0o666)) {
        // It has its own next step.
        Err(error @ WriteError::Refused { .. }) => {
            Err(WithCode { code: exit::FILES, text: error.to_string() }.into())
        }
        written => Ok(written.map_err(|error| failed(error.into()))?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_file_and_no_temporary_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("gone/x.json");
        for error in [write_file(&file, "").unwrap_err(), may_be_written(&file).unwrap_err()] {
            let text = error.to_string();
            assert!(text.contains("gone/x.json: ") && !text.contains(".headstart-"), "{text}");
        }
        assert!(may_be_written(&folder.path().join("x.json")).is_ok());
        assert!(may_be_written(Path::new("x.json")).is_ok());
    }
}

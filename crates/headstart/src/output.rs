//! What standard output can show, and writing to it and to files.

mod launches;
#[cfg(target_os = "linux")]
mod linux;
mod text;
mod written;

pub use launches::{left_in, print_aside, say, say_ended, style_as, style_aside};
#[cfg(target_os = "linux")]
pub use linux::*;
pub use written::{is_named_pipe, may_be_written, may_be_written_beside, write_bytes, write_file};

use crate::exit::FileError;
use anyhow::Result;
use report::Style;
use serde::Serialize;
use std::fmt::Display;
use std::io::{IsTerminal, Write};

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

fn style_of(is_terminal: bool, choice: anstream::ColorChoice) -> Style {
    let size = if is_terminal { terminal_size::terminal_size() } else { None };
    let width = size.map_or(WIDTH, |(width, _)| usize::from(width.0));
    Style {
        color: !matches!(choice, anstream::ColorChoice::Never),
        width: width.clamp(NARROWEST, WIDEST),
        unicode: unicode(),
    }
}

/// Says it on stderr. Where that is full or closed, the exit code is all that can still be told.
pub fn tell(words: impl Display) {
    let _ = writeln!(anstream::stderr(), "headstart: {words}");
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

//! What standard output can show, and writing to it and to files.

use crate::exit::FileError;
use anyhow::Result;
use report::Style;
use std::io::{IsTerminal, Write};
use std::path::Path;

/// Columns where there is no terminal to ask.
const WIDTH: usize = 80;
/// Lines longer than this are hard to read, however wide the terminal.
const WIDEST: usize = 110;
const NARROWEST: usize = 40;

/// How standard output is written to: its width, colours (NO_COLOR and CLICOLOR are heeded) and
/// characters (those of the locale).
pub fn style() -> Style {
    let stdout = std::io::stdout();
    let size = if stdout.is_terminal() { terminal_size::terminal_size() } else { None };
    let width = size.map_or(WIDTH, |(width, _)| usize::from(width.0));
    let choice = anstream::AutoStream::choice(&stdout);
    Style {
        colour: !matches!(choice, anstream::ColorChoice::Never),
        width: width.clamp(NARROWEST, WIDEST),
        unicode: unicode(),
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

/// A path as a shell takes it.
pub fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    shlex::try_quote(&text).map_or_else(|_| text.to_string(), |quoted| quoted.into_owned())
}

/// Where the tables and graphs of an experiment are.
pub fn left_in(folder: &Path) -> String {
    format!("Tables and graphs: {}\n", quoted(folder))
}

/// Writes to standard output.
pub fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    Ok(written.map_err(|source| FileError {
        path: "standard output".to_owned(),
        source,
        remedy: "check where it leads",
    })?)
}

/// Writes a file whole or not at all.
pub fn write_file(path: &Path, text: &str) -> Result<()> {
    let failed = |source| FileError {
        path: path.display().to_string(),
        source,
        remedy: "choose another file, or make room; the results were printed",
    };
    // Devices and pipes, such as /dev/stdout, cannot be replaced.
    if path.exists() && !path.is_file() {
        return Ok(std::fs::write(path, text).map_err(failed)?);
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = std::fs::File::create(&temporary).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)
    });
    if written.is_err() {
        // The error above is the one that matters.
        let _ = std::fs::remove_file(&temporary);
    }
    Ok(written.map_err(failed)?)
}

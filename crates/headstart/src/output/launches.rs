//! What is said of launches and shown of their results.

use super::{quoted, style, style_of, tell};
use crate::args::Look;
use crate::exit;
use lab::Series;
use report::Style;
use std::io::{IsTerminal, Write};
use std::path::Path;

/// How standard output is written to, with the colors that the user asked for.
pub fn style_as(look: Look) -> Style {
    let style = style();
    match look {
        Look::Auto | Look::None => style,
        Look::Basic | Look::Nocolor => Style { color: false, ..style },
        Look::Full | Look::Color => Style { color: true, ..style },
    }
}

/// Sentences for stderr, which nobody has to act upon.
pub fn say(notes: &[String], look: Look) {
    if look != Look::None {
        notes.iter().for_each(|note| tell(format_args!("note: {note}")));
    }
}

/// Where the tables and graphs of an experiment are.
pub fn left_in(folder: &Path) -> String {
    format!("Tables and graphs: {}\n", quoted(folder))
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

/// How standard error is written to.
pub fn style_aside() -> Style {
    let stderr = std::io::stderr();
    style_of(stderr.is_terminal(), anstream::AutoStream::choice(&stderr))
}

/// Writes to standard error what belongs to no output. Where that is full or closed, it is lost.
pub fn print_aside(text: &str) {
    let _ = write!(anstream::stderr(), "{text}");
}

//! What views of rewritten PE files end with.

use crate::figure::count;
use crate::style::{Style, Tint};

/// Every file's notes, the same one once, and where the results are; `None` for a dry run.
pub fn end<'a>(
    files: impl Iterator<Item = (&'a str, &'a [String])>,
    written: Option<&str>,
    style: &Style,
) -> String {
    let notes = style.notes(&notes_by_file(files));
    let gap = if notes.is_empty() { "" } else { "\n" };
    let end = match written {
        Some(written) => style.terminal(written),
        None => style.paint(Tint::Doubt, "Nothing was written: this was a dry run."),
    };
    format!("{gap}{notes}\n{end}\n")
}

/// Every note with the file that it is about, or the first of them and how many more there are.
pub fn notes_by_file<'a>(files: impl Iterator<Item = (&'a str, &'a [String])>) -> Vec<String> {
    let told = by_note(files).into_iter().map(|(note, about)| match about.as_slice() {
        [file, others @ ..] if !others.is_empty() => {
            format!("{file} and {} more: {note}", count(others.len() as u64))
        }
        about => format!("{}: {note}", about.concat()),
    });
    told.collect()
}

/// Notes in the order of their first files, with all their files.
fn by_note<'a>(
    files: impl Iterator<Item = (&'a str, &'a [String])>,
) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut notes: Vec<(&str, Vec<&str>)> = Vec::new();
    for (file, own) in files {
        for note in own {
            match notes.iter_mut().find(|(known, _)| known == note) {
                Some((_, about)) => about.push(file),
                None => notes.push((note, vec![file])),
            }
        }
    }
    notes
}

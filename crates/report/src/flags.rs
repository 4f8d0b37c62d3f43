//! Views of the flags of PE images.

use crate::rewritten;
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};

/// Flags that one image has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlagRow {
    /// The file.
    pub file: String,
    /// Their names.
    pub flags: Vec<String>,
}

/// What became of one image's flags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlagChange {
    /// The file.
    pub file: String,
    /// Names of those that it has now and had not before.
    pub set: Vec<String>,
    /// Names of those that it had before.
    pub cleared: Vec<String>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// Flags with a column of their own: its head, the flag, and what the flag says.
const COLUMNS: [(&str, &str, &str); 8] = [
    ("base", "dynamicbase", "ASLR"),
    ("high", "highentropyva", "ASLR above 4 GiB"),
    ("large", "largeaddressaware", "uses addresses above 2 GiB"),
    ("net", "swaprun:net", "copied before it runs from a network drive"),
    ("cd", "swaprun:cd", "copied before it runs from a removable drive"),
    ("nx", "nxcompat", "data cannot be executed"),
    ("ts", "tsaware", "terminal-server aware"),
    ("nobind", "no-bind", "must not be bound"),
];

/// A table of files and flags, and what its heads mean.
pub fn table(rows: &[FlagRow], style: &Style) -> String {
    let heads = COLUMNS.iter().map(|(head, _, _)| Column::left(*head));
    let other = Column::left("others").or_drop(1);
    let mut table =
        Table::new([Column::left("file")].into_iter().chain(heads).chain([other]).collect());
    for row in rows {
        let has = |flag: &str| row.flags.iter().any(|name| name == flag);
        let mut cells = vec![Cell::new(Tint::Name, style.terminal(&row.file))];
        for (_, flag, _) in COLUMNS {
            let (tint, text) =
                if has(flag) { (Tint::Plain, "yes") } else { (Tint::Faint, style.or("·", "-")) };
            cells.push(Cell::new(tint, text));
        }
        let own = |name: &&String| COLUMNS.iter().all(|(_, flag, _)| flag != name);
        let others: Vec<&str> = row.flags.iter().filter(own).map(String::as_str).collect();
        cells.push(Cell::new(Tint::Plain, others.join(" ")));
        table.row(cells);
    }
    let meaning = COLUMNS.iter().map(|(head, flag, says)| format!("{head} = {flag} ({says})"));
    let meaning = style.wrap(&meaning.collect::<Vec<_>>().join(", "), 2);
    table.render(style) + "\n  " + &style.paint(Tint::Faint, &meaning) + "\n"
}

/// A line for each file, notes, and `written`: where the results are. `None` for a dry run.
pub fn changes(files: &[FlagChange], written: Option<&str>, style: &Style) -> String {
    let mut table = Table::new(vec![Column::left("file"), Column::left("set, cleared")]);
    let minus = style.or("−", "-");
    for file in files {
        let set = file.set.iter().map(|name| format!("+{name}"));
        let words: Vec<String> =
            set.chain(file.cleared.iter().map(|name| format!("{minus}{name}"))).collect();
        let cell = match words.is_empty() {
            true => Cell::new(Tint::Faint, "unchanged"),
            false => Cell::new(Tint::Plain, words.join(" ")),
        };
        table.row(vec![Cell::new(Tint::Name, style.terminal(&file.file)), cell]);
    }
    let notes = files.iter().map(|file| (file.file.as_str(), file.notes.as_slice()));
    table.render(style) + &rewritten::end(notes, written, style)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STYLE: Style = Style { color: false, width: 80, unicode: true };

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn flags_stand_in_columns() {
        let row = |file: &str, flags| FlagRow { file: file.to_owned(), flags: words(flags) };
        let rows = [
            row("plain.dll", ""),
            row(
                "a/rather/long/path/to/a/library.dll",
                "dynamicbase highentropyva nxcompat guard:cf",
            ),
        ];
        insta::assert_snapshot!(table(&rows, &STYLE));
        let narrow = Style { width: 60, unicode: false, ..STYLE };
        insta::assert_snapshot!(table(&rows, &narrow));
    }

    #[test]
    fn changes_and_notes_are_told() {
        let change = |file: &str, set, cleared, notes: &[&str]| FlagChange {
            file: file.to_owned(),
            set: words(set),
            cleared: words(cleared),
            notes: notes.iter().map(|&note| note.to_owned()).collect(),
        };
        let files = [
            change("one.dll", "dynamicbase", "swaprun:net", &["a note about two files"]),
            change("two.dll", "", "", &["a note about two files", "a note about one"]),
        ];
        insta::assert_snapshot!(changes(&files, Some("Written to out"), &STYLE));
        insta::assert_snapshot!(changes(&files[1..], None, &STYLE));
    }
}

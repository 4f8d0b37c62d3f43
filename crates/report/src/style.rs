//! Color, width and characters of a terminal.

use crate::text::printable;
use anstyle::AnsiColor;

/// What the terminal (or the pipe) can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Colors and bold text by ANSI sequences.
    pub color: bool,
    /// Columns.
    pub width: usize,
    /// Characters beyond ASCII.
    pub unicode: bool,
}

/// What a piece of text means; [`Style::paint`] decides how it looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tint {
    /// Ordinary text.
    #[default]
    Plain,
    /// What the eye should find first.
    Strong,
    /// Labels and side remarks.
    Faint,
    /// Faster, good.
    Good,
    /// Slower, failed.
    Bad,
    /// Cannot be told, worth attention.
    Doubt,
    /// Commands and names.
    Name,
    /// Bars.
    Bar,
    /// What to do.
    Remedy,
}

impl Style {
    /// What a reader should know besides, a marked paragraph each, ended by newlines.
    pub(crate) fn notes(&self, notes: &[String]) -> String {
        let mark = self.paint(Tint::Doubt, "note:");
        let paragraph =
            |note: &String| self.wrap(&format!("{mark} {}", self.terminal(note)), 6) + "\n";
        notes.iter().map(paragraph).collect()
    }

    /// The same below a view, after an empty line; nothing where there are none.
    pub(crate) fn notes_below(&self, notes: &[String]) -> String {
        let lines = self.notes(notes);
        if lines.is_empty() { lines } else { format!("\n{lines}") }
    }

    /// The text in the look of `tint`; as it stands without color.
    pub fn paint(&self, tint: Tint, text: &str) -> String {
        if !self.color || tint == Tint::Plain || text.trim().is_empty() {
            return text.to_owned();
        }
        let plain = anstyle::Style::new();
        let look = match tint {
            Tint::Plain => plain,
            Tint::Strong => plain.bold(),
            Tint::Faint => plain.dimmed(),
            Tint::Good => plain.bold().fg_color(Some(AnsiColor::Green.into())),
            Tint::Bad => plain.bold().fg_color(Some(AnsiColor::Red.into())),
            Tint::Doubt => plain.fg_color(Some(AnsiColor::Yellow.into())),
            Tint::Name => plain.bold().fg_color(Some(AnsiColor::Cyan.into())),
            Tint::Bar => plain.fg_color(Some(AnsiColor::Cyan.into())),
            Tint::Remedy => plain.fg_color(Some(AnsiColor::Green.into())),
        };
        format!("{look}{text}{look:#}")
    }

    /// `unicode` where it can be shown, else `ascii`.
    pub fn or<'a>(&self, unicode: &'a str, ascii: &'a str) -> &'a str {
        if self.unicode { unicode } else { ascii }
    }

    /// Text from elsewhere (findings, reasons, names) without control characters, in the
    /// characters that can be shown.
    pub fn terminal(&self, text: &str) -> String {
        self.spelt(&printable(text))
    }

    /// The characters beyond ASCII that headstart itself writes, replaced where only ASCII can
    /// be shown. Letters in the names of files stay.
    pub fn spelt(&self, text: &str) -> String {
        if self.unicode {
            return text.to_owned();
        }
        let text = text.replace('µ', "u").replace('×', "x").replace(['–', '−'], "-");
        text.replace('…', "...")
    }

    /// A figure with a true minus sign, where that can be shown.
    pub fn minus(&self, figure: &str) -> String {
        figure.replace('-', self.or("−", "-"))
    }

    /// Words separated by a middle dot (a comma in ASCII).
    pub fn list(&self, words: &[String]) -> String {
        words.join(self.or(" · ", ", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Style = Style { color: false, width: 20, unicode: true };

    #[test]
    fn without_color_there_is_no_escape() {
        for tint in [Tint::Strong, Tint::Good, Tint::Name] {
            assert_eq!(PLAIN.paint(tint, "x"), "x");
        }
    }
}

use anstyle::AnsiColor;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What the terminal (or the pipe) can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Colours and bold text by ANSI sequences.
    pub colour: bool,
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
}

impl Style {
    /// The text in the look of `tint`; as it stands without colour.
    pub fn paint(&self, tint: Tint, text: &str) -> String {
        if !self.colour || tint == Tint::Plain || text.is_empty() {
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
        };
        format!("{look}{text}{look:#}")
    }

    /// `unicode` where it can be shown, else `ascii`.
    pub fn or<'a>(&self, unicode: &'a str, ascii: &'a str) -> &'a str {
        if self.unicode { unicode } else { ascii }
    }

    /// Words separated by a middle dot (a comma in ASCII).
    pub fn list(&self, words: &[String]) -> String {
        words.join(self.or(" · ", ", "))
    }

    /// At most `width` columns: what is too long loses its middle. Control characters are
    /// escaped, so that a name cannot steer the terminal.
    pub fn shorten(&self, text: &str, width: usize) -> String {
        let text = one_line(text);
        if columns(&text) <= width {
            return text;
        }
        let mark = self.or("…", "...");
        let room = width.saturating_sub(columns(mark));
        let head = take_columns(text.chars(), room.div_ceil(2));
        let tail: Vec<char> = take_columns(text.chars().rev(), room / 2);
        let head: String = head.into_iter().collect();
        let tail: String = tail.into_iter().rev().collect();
        format!("{}{mark}{}", head.trim_end(), tail.trim_start())
    }

    /// Broken into lines at spaces; later lines are indented by `indent` columns. Painted text
    /// keeps its look.
    pub fn wrap(&self, text: &str, indent: usize) -> String {
        let mut lines = String::new();
        let mut used = 0;
        for word in text.split(' ') {
            let length = columns(&unpainted(word));
            if used > indent && used + 1 + length > self.width {
                lines.push('\n');
                lines.push_str(&" ".repeat(indent));
                used = indent;
            } else if !lines.is_empty() {
                lines.push(' ');
                used += 1;
            }
            lines.push_str(word);
            used += length;
        }
        lines
    }
}

/// Columns that a text takes on a terminal.
pub fn columns(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// Spaces that fill `text` up to `width` columns.
pub fn padding(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(columns(text)))
}

/// The text with control characters escaped as in Rust.
fn one_line(text: &str) -> String {
    let escape = |c: char| {
        if c.is_control() { c.escape_default().to_string() } else { c.to_string() }
    };
    text.chars().map(escape).collect()
}

fn take_columns(text: impl Iterator<Item = char>, room: usize) -> Vec<char> {
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= room
    };
    text.take_while(fits).collect()
}

/// The text without ANSI sequences.
fn unpainted(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Style = Style { colour: false, width: 20, unicode: true };
    const RICH: Style = Style { colour: true, width: 20, unicode: false };

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(PLAIN.shorten("/usr/bin/emacs-nox", 18), "/usr/bin/emacs-nox");
        assert_eq!(PLAIN.shorten("/usr/bin/emacs-nox", 11), "/usr/…s-nox");
        assert_eq!(RICH.shorten("/usr/bin/emacs-nox", 11), "/usr...-nox");
        assert_eq!(PLAIN.shorten("日本語日本語日本語", 7), "日…語");
        assert_eq!(PLAIN.shorten("a\n\u{1b}[31mb", 40), r"a\n\u{1b}[31mb");
        assert_eq!(PLAIN.shorten("abc", 0), "…");
    }

    #[test]
    fn painted_words_wrap_by_what_is_seen() {
        let text = format!("{} is much faster than before", RICH.paint(Tint::Good, "B"));
        let wrapped = RICH.wrap(&text, 2);
        assert_eq!(unpainted(&wrapped), "B is much faster\n  than before");
        assert!(wrapped.starts_with("\u{1b}[1m\u{1b}[32mB\u{1b}[0m is"), "{wrapped:?}");
    }

    #[test]
    fn without_colour_there_is_no_escape() {
        for tint in [Tint::Strong, Tint::Good, Tint::Name] {
            assert_eq!(PLAIN.paint(tint, "x"), "x");
        }
    }
}

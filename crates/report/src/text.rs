//! Text that fits: its width, its line breaks, its harmlessness.

use crate::style::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// No text is broken into lines shorter than this, however narrow the terminal is.
const LEAST_LINE: usize = 10;

pub use model::file_name as base_name;

/// Columns that a text takes on a terminal.
pub fn columns(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// Spaces that fill `text` up to `width` columns.
pub fn padding(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(columns(text)))
}

/// The text with control characters escaped as in Rust, so that a name cannot steer the
/// terminal, and with bytes that are not UTF-8 by number.
pub fn printable(text: &str) -> String {
    let escape = |c: char| match c {
        c if c.is_control() || changes_order(c) => c.escape_default().to_string(),
        c if model::text::is_byte(c) => format!("\\x{:02x}", u32::from(c) & 0xff),
        c => c.to_string(),
    };
    text.chars().map(escape).collect()
}

/// Whether the character changes the order or the lines in which others are shown: the explicit formatting of
/// Unicode's bidirectional algorithm (UAX #9), and separators of lines and paragraphs.
fn changes_order(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

impl Style {
    /// At most `width` columns: what is too long loses its middle. Control characters are
    /// escaped.
    pub fn shorten(&self, text: &str, width: usize) -> String {
        let text = printable(text);
        if columns(&text) <= width {
            return text;
        }
        let mark = self.or("…", "...");
        let room = width.saturating_sub(columns(mark));
        let head: String = take_columns(text.chars(), room.div_ceil(2)).into_iter().collect();
        let tail = take_columns(text.chars().rev(), room / 2);
        let tail: String = tail.into_iter().rev().collect();
        format!("{}{mark}{}", head.trim_end(), tail.trim_start())
    }

    /// [`Style::shorten`], filled up to `width` columns.
    pub fn fitted(&self, text: &str, width: usize) -> String {
        let text = self.shorten(text, width);
        let space = padding(&text, width);
        text + &space
    }

    /// Broken into lines of the style's width; later lines are indented by `indent` columns.
    /// Painted text keeps its look.
    pub fn wrap(&self, text: &str, indent: usize) -> String {
        let lines = broken(text, self.width, self.width.saturating_sub(indent));
        lines.join(&format!("\n{}", " ".repeat(indent)))
    }
}

/// Lines of at most `width` columns.
pub fn lines(text: &str, width: usize) -> Vec<String> {
    broken(text, width, width)
}

/// Lines broken at spaces, the first of at most `first` columns, the others of `rest`. A word
/// longer than a line is broken too, unless it is painted: a path behind a slash.
fn broken(text: &str, first: usize, rest: usize) -> Vec<String> {
    let (first, rest) = (first.max(LEAST_LINE), rest.max(LEAST_LINE));
    let mut lines = vec![String::new()];
    for word in words(text) {
        let room = |lines: &[String]| if lines.len() == 1 { first } else { rest };
        let used = lines.last().map_or(0, |line| columns(&unpainted(line)));
        let length = columns(&unpainted(&word));
        if used > 0 && used + 1 + length > room(&lines) {
            lines.push(String::new());
        } else if used > 0 {
            push(&mut lines, " ");
        }
        let mut word = word;
        while columns(&word) > room(&lines) && !word.contains('\u{1b}') {
            let part: String = take_columns(word.chars(), room(&lines)).into_iter().collect();
            let whole_names = part.rfind('/').filter(|at| *at > 0).map_or(part.len(), |at| at + 1);
            let part = part[..whole_names].to_owned();
            word = word.split_off(part.len());
            push(&mut lines, &part);
            lines.push(String::new());
        }
        push(&mut lines, &word);
    }
    lines
}

fn push(lines: &mut [String], text: &str) {
    if let Some(line) = lines.last_mut() {
        line.push_str(text);
    }
}

/// Words of a sentence; a figure and its unit (`38.1 ms`, `43 %`) are one.
fn words(text: &str) -> Vec<String> {
    const UNITS: [&str; 12] =
        ["µs", "us", "ms", "s", "%", "B", "KiB", "MiB", "GiB", "×", "x", "times"];
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let bare = unpainted(word);
        let bare = bare.trim_matches(|c: char| matches!(c, ',' | '.' | ':' | ';' | ')' | '('));
        match words.last_mut() {
            Some(last)
                if UNITS.contains(&bare)
                    && unpainted(last).ends_with(|c: char| c.is_ascii_digit()) =>
            {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
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
    use crate::style::Tint;

    const PLAIN: Style = Style { color: false, width: 20, unicode: true };
    const RICH: Style = Style { color: true, width: 20, unicode: false };

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(PLAIN.shorten("/usr/bin/emacs-nox", 18), "/usr/bin/emacs-nox");
        assert_eq!(PLAIN.shorten("/usr/bin/emacs-nox", 11), "/usr/…s-nox");
        assert_eq!(RICH.shorten("/usr/bin/emacs-nox", 11), "/usr...-nox");
        assert_eq!(PLAIN.shorten("日本語日本語日本語", 7), "日…語");
        assert_eq!(PLAIN.shorten("a\n\u{1b}[31mb", 40), r"a\n\u{1b}[31mb");
        assert_eq!(PLAIN.shorten("abc", 0), "…");
        assert_eq!(PLAIN.fitted("ls", 4), "ls  ");
        assert_eq!(PLAIN.fitted("日本語日本語日本語", 7), "日…語  ");
    }

    #[test]
    fn bytes_that_are_not_utf8_are_shown_by_number() {
        let name = model::text::text_of(b"caf\xe9");
        assert_eq!(printable(&name), r"caf\xe9");
    }

    #[test]
    fn characters_that_reorder_others_are_escaped() {
        assert_eq!(
            printable("a\u{202e}lld.exe\u{2066}é\u{5d0}"),
            "a\\u{202e}lld.exe\\u{2066}é\u{5d0}"
        );
    }

    #[test]
    fn painted_words_wrap_by_what_is_seen() {
        let text = format!("{} is much faster than before", RICH.paint(Tint::Good, "B"));
        let wrapped = RICH.wrap(&text, 2);
        assert_eq!(unpainted(&wrapped), "B is much faster\n  than before");
        assert!(wrapped.starts_with("\u{1b}[1m\u{1b}[32mB\u{1b}[0m is"), "{wrapped:?}");
    }

    #[test]
    fn lines_break_between_words_and_within_long_ones() {
        assert_eq!(lines("one two three", 10), ["one two", "three"]);
        assert_eq!(lines("abcdefghijklmno p", 10), ["abcdefghij", "klmno p"]);
        assert_eq!(lines("an abcdefghijklmno p", 10), ["an", "abcdefghij", "klmno p"]);
        // A path is broken behind a slash, so that its names stay whole.
        assert_eq!(lines("see /opt/program/lib/x.so", 14), ["see", "/opt/program/", "lib/x.so"]);
        assert_eq!(lines("/abcdefghijklmno", 10), ["/abcdefghi", "jklmno"]);
        assert_eq!(lines("it takes 38.1 ms", 14), ["it takes", "38.1 ms"]);
        assert_eq!(lines("", 14), [""]);
        let painted = RICH.paint(Tint::Bad, "38.1 ms") + ", abcdefg";
        let seen: Vec<String> = lines(&painted, 10).iter().map(|line| unpainted(line)).collect();
        assert_eq!(seen, ["38.1 ms,", "abcdefg"]);
    }
}

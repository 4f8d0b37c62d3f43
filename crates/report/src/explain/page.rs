//! A page of text under construction: width, colour and characters are decided here.

use super::ViewOptions;
use anstyle::{AnsiColor, Style};

/// What a piece of text is, which decides its colour.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Look {
    Plain,
    /// Headings and causes.
    Strong,
    /// What may be skipped.
    Quiet,
    /// Bars.
    Bar,
    /// What to do.
    Remedy,
    /// What is missing.
    Warning,
}

impl Look {
    fn style(self) -> Style {
        match self {
            Look::Plain => Style::new(),
            Look::Strong => Style::new().bold(),
            Look::Quiet => Style::new().dimmed(),
            Look::Bar => AnsiColor::Cyan.on_default(),
            Look::Remedy => AnsiColor::Green.on_default(),
            Look::Warning => AnsiColor::Yellow.on_default(),
        }
    }
}

pub(super) struct Page {
    pub(super) options: ViewOptions,
    pub(super) width: usize,
    text: String,
}

impl Page {
    pub(super) fn new(options: ViewOptions) -> Self {
        Page { options, width: options.width.max(60), text: String::new() }
    }

    /// The finished text, without spaces at the ends of lines.
    pub(super) fn finish(self) -> String {
        let lines: Vec<&str> = self.text.lines().map(str::trim_end).collect();
        let text = lines.join("\n") + "\n";
        if self.options.unicode { text } else { ascii(&text) }
    }

    /// One of two texts, by whether more than ASCII may be drawn.
    pub(super) fn pick<'a>(&self, unicode: &'a str, ascii: &'a str) -> &'a str {
        if self.options.unicode { unicode } else { ascii }
    }

    pub(super) fn paint(&self, look: Look, text: &str) -> String {
        if !self.options.colour || look == Look::Plain || text.trim().is_empty() {
            return text.to_owned();
        }
        let style = look.style();
        format!("{style}{text}{style:#}")
    }

    /// A finished line.
    pub(super) fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    pub(super) fn blank(&mut self) {
        self.line("");
    }

    /// A heading after an empty line.
    pub(super) fn heading(&mut self, text: &str) {
        self.blank();
        let heading = self.paint(Look::Strong, text);
        self.line(&heading);
    }

    /// `text` broken at spaces, the first line behind `first`, the others behind as many spaces.
    pub(super) fn wrapped(&mut self, first: &str, look: Look, text: &str) {
        self.wrapped_behind(first, first, look, text);
    }

    /// [`Page::wrapped`] where the first line's lead is painted: `plain` gives its width.
    pub(super) fn wrapped_behind(&mut self, plain: &str, first: &str, look: Look, text: &str) {
        let indent = columns(plain);
        let text = if self.options.unicode { text.to_owned() } else { ascii(text) };
        for (index, line) in wrap(&text, self.width.saturating_sub(indent)).iter().enumerate() {
            let lead = if index == 0 { first.to_owned() } else { " ".repeat(indent) };
            let painted = self.paint(look, line);
            self.line(&format!("{lead}{painted}"));
        }
    }

    /// A bar of `share` (0 to 1) of `width` columns; anything above nothing is visible.
    pub(super) fn bar(&self, share: f64, width: usize) -> String {
        let eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
        let eighths = if share > 0.0 { eighths.max(1) } else { 0 };
        let bar = if self.options.unicode {
            let part = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
            "█".repeat(eighths / 8) + part
        } else {
            "#".repeat(eighths.div_ceil(8))
        };
        let rest = " ".repeat(width.saturating_sub(columns(&bar)));
        self.paint(Look::Bar, &bar) + &rest
    }
}

/// `text` with the characters that views use beyond ASCII replaced. Names of files keep theirs.
fn ascii(text: &str) -> String {
    text.replace('µ', "u").replace('×', "x").replace(['–', '−'], "-").replace('…', "...")
}

/// Columns that a text takes; every character counts as one.
pub(super) fn columns(text: &str) -> usize {
    text.chars().count()
}

/// `text` cut in its middle to `width` columns, and filled up to it.
pub(super) fn fitted(text: &str, width: usize, unicode: bool) -> String {
    let length = columns(text);
    if length <= width {
        return format!("{text}{}", " ".repeat(width - length));
    }
    let gap = if unicode { "…" } else { ".." };
    let kept = width.saturating_sub(columns(gap));
    let head: String = text.chars().take(kept - kept / 3).collect();
    let tail: String = text.chars().skip(length - kept / 3).collect();
    format!("{head}{gap}{tail}")
}

/// Text of a file name, an argument or a reason, without characters that move the cursor.
pub(super) fn printable(text: &str) -> String {
    let keep = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    text.chars().map(keep).collect()
}

/// Lines of at most `width` columns; a longer word is broken.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(10);
    let mut lines = vec![String::new()];
    for word in words(&printable(text)) {
        let mut rest: Vec<char> = word.chars().collect();
        let used = lines.last().map_or(0, |line| columns(line));
        if used > 0 && used + 1 + rest.len() > width {
            lines.push(String::new());
        }
        while rest.len() > width {
            // The last line is empty here: a word this long begins one.
            let tail = rest.split_off(width);
            if let Some(line) = lines.last_mut() {
                line.extend(rest);
            }
            lines.push(String::new());
            rest = tail;
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.extend(rest);
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// Words of a sentence; a figure and its unit (`38.1 ms`, `43 %`) are one.
fn words(text: &str) -> Vec<String> {
    const UNITS: [&str; 10] = ["µs", "us", "ms", "s", "%", "B", "KiB", "MiB", "GiB", "×"];
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|c: char| matches!(c, ',' | '.' | ':' | ';' | ')' | '('));
        match words.last_mut() {
            Some(last) if UNITS.contains(&bare) && last.ends_with(|c: char| c.is_ascii_digit()) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_show_the_smallest_share() {
        let page = Page::new(ViewOptions::default());
        assert_eq!(page.bar(0.0, 4), "    ");
        assert_eq!(page.bar(0.0001, 4), "▏   ");
        assert_eq!(page.bar(0.5, 4), "██  ");
        assert_eq!(page.bar(2.0, 4), "████");
        let page = Page::new(ViewOptions { unicode: false, ..ViewOptions::default() });
        assert_eq!(page.bar(0.3, 4), "##  ");
    }

    #[test]
    fn text_is_wrapped_cut_and_made_harmless() {
        assert_eq!(wrap("one two three", 10), ["one two", "three"]);
        assert_eq!(wrap("abcdefghijklmno p", 10), ["abcdefghij", "klmno p"]);
        assert_eq!(wrap("it takes 38.1 ms", 14), ["it takes", "38.1 ms"]);
        assert_eq!(wrap("a\u{1b}[31mb", 20), ["a\u{fffd}[31mb"]);
        assert_eq!(fitted("libinkscape_base.so", 10, true), "libink….so");
        assert_eq!(fitted("libinkscape_base.so", 10, false), "libink..so");
        assert_eq!(fitted("ls", 4, true), "ls  ");
    }
}

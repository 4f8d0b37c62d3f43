//! A page of text under construction: width, color and characters are decided here.

use crate::style::{Style, Tint};
use crate::text::{columns, lines};

/// The page is never drawn narrower than this.
const LEAST_WIDTH: usize = 60;

pub(crate) struct Page {
    /// Modules and processes listed by name; all where `None`.
    pub(crate) rows: Option<usize>,
    pub(crate) style: Style,
    text: String,
}

impl Page {
    pub(crate) fn new(style: &Style, rows: Option<usize>) -> Self {
        let style = Style { width: style.width.max(LEAST_WIDTH), ..*style };
        Page { rows, style, text: String::new() }
    }

    /// The finished text, without spaces at the ends of lines.
    pub(crate) fn finish(self) -> String {
        let lines: Vec<&str> = self.text.lines().map(str::trim_end).collect();
        self.style.spelt(&(lines.join("\n") + "\n"))
    }

    /// One of two texts, by whether more than ASCII may be drawn.
    pub(crate) fn pick<'a>(&self, unicode: &'a str, ascii: &'a str) -> &'a str {
        self.style.or(unicode, ascii)
    }

    pub(crate) fn paint(&self, tint: Tint, text: &str) -> String {
        self.style.paint(tint, text)
    }

    /// A finished line.
    pub(crate) fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    pub(crate) fn blank(&mut self) {
        self.line("");
    }

    /// A heading after an empty line.
    pub(crate) fn heading(&mut self, text: &str) {
        self.blank();
        let heading = self.paint(Tint::Strong, text);
        self.line(&heading);
    }

    /// `text` broken at spaces, the first line behind `first`, the others behind as many spaces.
    pub(crate) fn wrapped(&mut self, first: &str, tint: Tint, text: &str) {
        self.wrapped_behind(first, first, tint, text);
    }

    /// [`Page::wrapped`] where the first line's lead is painted: `plain` gives its width.
    pub(crate) fn wrapped_behind(&mut self, plain: &str, first: &str, tint: Tint, text: &str) {
        let indent = columns(plain);
        let text = self.style.terminal(text);
        if text.trim().is_empty() {
            return;
        }
        for (index, line) in
            lines(&text, self.style.width.saturating_sub(indent)).iter().enumerate()
        {
            let lead = if index == 0 { first.to_owned() } else { " ".repeat(indent) };
            let painted = self.paint(tint, line);
            self.line(&format!("{lead}{painted}"));
        }
    }

    /// A bar of `share` (0 to 1) of `width` columns; anything above nothing is visible.
    pub(crate) fn bar(&self, share: f64, width: usize) -> String {
        let eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
        let eighths = if share > 0.0 { eighths.max(1) } else { 0 };
        let bar = if self.style.unicode {
            let part = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
            "█".repeat(eighths / 8) + part
        } else {
            "#".repeat(eighths.div_ceil(8))
        };
        let rest = " ".repeat(width.saturating_sub(columns(&bar)));
        self.paint(Tint::Bar, &bar) + &rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_show_the_smallest_share() {
        let style = Style { color: false, width: 80, unicode: true };
        let page = Page::new(&style, None);
        assert_eq!(page.bar(0.0, 4), "    ");
        assert_eq!(page.bar(0.0001, 4), "▏   ");
        assert_eq!(page.bar(0.5, 4), "██  ");
        assert_eq!(page.bar(2.0, 4), "████");
        let page = Page::new(&Style { unicode: false, ..style }, None);
        assert_eq!(page.bar(0.3, 4), "##  ");
    }
}

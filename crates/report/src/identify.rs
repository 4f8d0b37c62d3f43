//! What files are, a line for each.

use crate::style::{Style, Tint};
use crate::text::{columns, lines, padding};
use model::Identity;

const GAP: &str = "  ";
/// Names are shortened for details, but not for more columns of them than this, …
const MOST_DETAIL: usize = 34;
/// … and details of fewer columns read badly where they are broken.
const LEAST_DETAIL: usize = 24;
const LEAST_NAME: usize = 12;

/// A table with a head line; empty without files.
pub fn table(files: &[Identity], style: &Style) -> String {
    let Some(widest) = files.iter().map(|file| columns(&style.terminal(&file.path))).max() else {
        return String::new();
    };
    let kinds = files.iter().map(|file| columns(file.kind.word())).max().unwrap_or(0).max(4);
    let details: Vec<String> = files.iter().map(|file| style.terminal(&words(file))).collect();
    let room = style.width.saturating_sub(kinds + 3 * GAP.len());
    let name = widest.min(room.saturating_sub(wanted(&details))).max(LEAST_NAME);
    let detail = room.saturating_sub(name);
    let head = format!("{GAP}{}{GAP}{}{GAP}what", padded("file", name), padded("kind", kinds));
    let mut text = style.paint(Tint::Faint, &head) + "\n";
    for (file, words) in files.iter().zip(&details) {
        let mut begin = format!(
            "{GAP}{}{GAP}{}",
            style.fitted(&file.path, name),
            padded(file.kind.word(), kinds)
        );
        for line in lines(words, detail) {
            text.push_str(format!("{begin}{GAP}{line}").trim_end());
            text.push('\n');
            begin = " ".repeat(2 * GAP.len() + name + kinds);
        }
    }
    text
}

/// Columns in which nine of ten details are one line, within bounds.
fn wanted(details: &[String]) -> usize {
    let mut widths: Vec<usize> = details.iter().map(|detail| columns(detail)).collect();
    widths.sort_unstable();
    let widest = widths.last().copied().unwrap_or(0);
    let most = widths.get(widths.len() * 9 / 10).copied().unwrap_or(0);
    most.clamp(LEAST_DETAIL, MOST_DETAIL).min(widest)
}

fn padded(text: &str, width: usize) -> String {
    text.to_owned() + &padding(text, width)
}

fn words(file: &Identity) -> String {
    match &file.unknown {
        Some(unknown) => format!("{}; not known: {unknown}", file.detail),
        None => file.detail.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::FileKind;

    const STYLE: Style = Style { color: false, width: 80, unicode: true };

    fn file(path: &str, kind: FileKind, detail: &str) -> Identity {
        let (path, detail) = (path.to_owned(), detail.to_owned());
        Identity { path, kind, detail, ..Identity::default() }
    }

    #[test]
    fn lines_stand_below_each_other() {
        let mut large = file("big.exe", FileKind::Pe, "console program, x86_64");
        large.unknown = Some("whether it is of Cygwin: beyond 64 KiB".to_owned());
        let files = [
            file("/usr/bin/true", FileKind::Elf, "PIE, x86_64"),
            large,
            file("a\u{1b}[31m", FileKind::LlvmBitcode, "LLVM bitcode"),
        ];
        let expected = concat!(
            "  file           kind          what\n",
            "  /usr/bin/true  elf           PIE, x86_64\n",
            "  big.exe        pe            console program, x86_64; not known: whether it is\n",
            "                               of Cygwin: beyond 64 KiB\n",
            "  a\\u{1b}[31m    llvm_bitcode  LLVM bitcode\n",
        );
        assert_eq!(table(&files, &STYLE), expected);
        assert_eq!(table(&[], &STYLE), "");
    }

    #[test]
    fn every_line_fits() {
        let long = "/a/path/that/is/long/".repeat(9);
        let words = "word ".repeat(60);
        for width in [40, 60, 80, 110] {
            let style = Style { width, ..STYLE };
            let text = table(&[file(&long, FileKind::Script, &words)], &style);
            assert!(text.lines().all(|line| columns(line) <= width), "{text}");
            assert!(!text.lines().any(|line| line.ends_with(' ')), "{text}");
        }
    }
}

//! PE images beside each other as text: a line for each, then what can be done better.

use super::{end_of, pe};
use crate::style::{Style, Tint};
use crate::text::{columns, lines, printable};
use model::figures::{bytes, count, plural};
use model::{BoundState, Collision, PeFacts, PeSet, SetFinding, StrongNameFacts};
use std::collections::HashSet;
use std::fmt::Write;

/// Files named below a finding; the rest is counted.
const NAMED: usize = 5;
/// Columns of the table in front of a file's name.
const COLUMNS: usize = 57;

/// The set as text in a style's width; ends in a line break.
pub fn set(set: &PeSet, style: Style) -> String {
    let mut text = String::new();
    if set.files.is_empty() {
        return "no PE files\n".to_owned();
    }
    table(&mut text, set, style);
    summary(&mut text, set);
    if set.findings.is_empty() {
        text += "\nNo problems found.\n";
    }
    for (index, finding) in set.findings.iter().enumerate() {
        text.push('\n');
        entry(&mut text, index + 1, finding, set, style);
    }
    style.spelt(&text)
}

fn table(text: &mut String, set: &PeSet, style: Style) {
    let _ = writeln!(
        text,
        "{:>14} {:>9} {:>9} {:>7} {:>5} {:<7} file",
        "base", "size", "relocs", "hints !", "align", "flags"
    );
    let moved: HashSet<&str> = set.collisions.moved.iter().map(|moved| &*moved.path).collect();
    for file in &set.files {
        let moved = moved.contains(&*file.path);
        let base = format!("{:>#14x}", file.base);
        let base = if moved { style.paint(Tint::Bad, &base) } else { base };
        let _ = writeln!(
            text,
            "{base} {:>9} {:>9} {:>7} {:>5} {:<7} {}",
            bytes(file.size_of_image.into()),
            count(file.relocation_count()),
            pe::wrong_hints(file),
            file.file_alignment,
            letters(file, moved),
            shown(&file.path, style.width.saturating_sub(COLUMNS)),
        );
    }
}

/// The end of a path: its file's name, and as much in front of it as there is room for.
fn shown(path: &str, room: usize) -> String {
    end_of(&printable(path), room)
}

/// What holds of a file, a letter each.
fn letters(file: &PeFacts, moved: bool) -> String {
    let bound = !file.bound.is_empty();
    let mut dlls = file.bound.iter().filter(|dll| dll.state != BoundState::Unbound);
    let valid = dlls.all(|dll| dll.valid == Some(true));
    let swap = file.flags.swap_run_net || file.flags.swap_run_removable;
    let all = [
        (moved, 'M'),
        (file.flags.dynamic_base, 'A'),
        (file.flags.high_entropy_va, 'H'),
        (file.flags.guard_cf, 'G'),
        (file.flags.nx_compatible, 'N'),
        (swap, 'S'),
        (bound && valid, 'b'),
        (bound && !valid, 'B'),
        (file.certificates > 0, 'C'),
        (file.strong_name == Some(StrongNameFacts::Signed), 'D'),
        (file.overlay_bytes > 0, 'O'),
    ];
    all.iter().filter(|(holds, _)| *holds).map(|(_, letter)| letter).collect()
}

fn summary(text: &mut String, set: &PeSet) {
    let relocations = set.files.iter().map(PeFacts::relocation_count).sum();
    let memory = set.files.iter().map(|file| u64::from(file.size_of_image)).sum();
    let _ = writeln!(
        text,
        "{}, {} in memory, {} relocations",
        plural(set.files.len() as u64, "image", "images"),
        bytes(memory),
        count(relocations)
    );
    *text += "M moved by a collision  A ASLR  H high-entropy ASLR  G Guard CF  N NX  S SWAPRUN\n\
              b bound  B bound, not known to be valid  hints !: wrong hints, ? if unknown\n\
              C signed (Authenticode)  D signed (.NET strong name)  O overlay: appended data\n";
}

fn entry(text: &mut String, number: usize, finding: &SetFinding, set: &PeSet, style: Style) {
    let cause = format!("{} [{}]", finding.cause, finding.id);
    paragraph(text, &format!("{number:>3}  "), Tint::Strong, &cause, style);
    let dot = format!("       {} ", style.or("·", "-"));
    for line in finding.evidence.iter().chain(&named(finding, set, style)) {
        paragraph(text, &dot, Tint::Plain, line, style);
    }
    paragraph(
        text,
        &format!("     {} ", style.or("→", "=>")),
        Tint::Remedy,
        &finding.remedy,
        style,
    );
}

/// The first of the files that a finding is about.
fn named(finding: &SetFinding, set: &PeSet, style: Style) -> Vec<String> {
    let room = style.width.saturating_sub(20) / 2;
    let by = |path: &String| set.collisions.moved.iter().find(|moved| moved.path == *path);
    let describe = |path: &String| match by(path).filter(|_| finding.id == "collisions") {
        Some(Collision { path, by }) => {
            format!("{} with {}", shown(path, room), shown(by, room))
        }
        None => shown(path, 2 * room),
    };
    let mut lines: Vec<String> = finding.files.iter().take(NAMED).map(describe).collect();
    if let Some(more @ 1..) = finding.files.len().checked_sub(NAMED) {
        lines.push(format!("and {} more", count(more as u64)));
    }
    lines
}

/// Text broken into lines, the first behind `lead`, the others behind as many spaces.
fn paragraph(text: &mut String, lead: &str, tint: Tint, content: &str, style: Style) {
    let indent = columns(lead);
    let blank = " ".repeat(indent);
    let mut lead = lead;
    for line in lines(&printable(content), style.width.saturating_sub(indent)) {
        let _ = writeln!(text, "{lead}{}", style.paint(tint, &line));
        lead = &blank;
    }
}

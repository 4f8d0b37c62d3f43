//! Views of the pages that a launch touched.

use crate::figure::{count, percent, plural, time};
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use crate::text::base_name;
use model::{FilePagesReport, PageFigures, PagesReport};
use std::collections::BTreeMap;

/// Files that are shown; the rest is one line.
const ROWS: usize = 15;
/// Of so many the sections are shown, too.
const DIVIDED: usize = 3;
/// Sections of all files that are shown.
const SECTIONS: usize = 10;

/// The terminal view: the sum in a sentence, the files with their sections, and the sections of all
/// files together. With `all`, every file with its sections, and every page.
pub fn view(report: &PagesReport, style: &Style, all: bool) -> String {
    let mut view = style.paint(Tint::Name, &style.shorten(&report.command, style.width)) + "\n\n";
    view += &(style.wrap(&sentence(report, style), 0) + "\n\n");
    view += &files(report, all).render(style);
    let sections = sections(report, all);
    if !sections.is_empty() {
        view += &format!("\n{}\n", style.paint(Tint::Strong, "sections of all files"));
        view += &section_table(&sections).render(style);
    }
    view += &style.notes_below(&report.notes);
    if all {
        view += &format!("\n{}", order(report));
    }
    view
}

fn sentence(report: &PagesReport, style: &Style) -> String {
    let known = report.files.iter().filter_map(|file| file.pages.touched.get());
    let (touched, files) = known.fold((0, 0), |(sum, files), pages| (sum + pages, files + 1));
    let unknown: u64 = report.files.iter().map(|file| unknown(&file.pages)).sum();
    let mut text = format!(
        "{} of {} read by a cold launch, in {} ({} KiB).",
        plural(touched, "page", "pages"),
        plural(files, "file", "files"),
        time(report.total_us, style),
        count(touched * report.page_bytes / 1024),
    );
    if unknown > 0 {
        let pages = plural(unknown, "other page", "other pages");
        text += &format!(" Whether it touched {pages} is not known: see the notes.");
    }
    text
}

/// Pages of which it is not known.
fn unknown(pages: &PageFigures) -> u64 {
    pages.in_memory + pages.by_others
}

fn columns(first: &str) -> Vec<Column> {
    vec![
        Column::left(first),
        Column::right("touched"),
        Column::right("of"),
        Column::right("share").or_drop(1),
        Column::right("not known"),
    ]
}

fn files(report: &PagesReport, all: bool) -> Table {
    let mut table = Table::new(columns("file"));
    // One hidden row would take the line that says so.
    let rows = report.files.len();
    let shown = if all || rows <= ROWS + 1 { rows } else { ROWS };
    let (shown, hidden) = report.files.split_at(shown);
    for (place, file) in shown.iter().enumerate() {
        table.row(row(Tint::Name, base_name(&file.path), &[&file.pages]));
        if all || place < DIVIDED {
            for section in file.sections.iter().filter(|section| all || is_used(&section.pages)) {
                let name = format!("  {}", section.name);
                table.row(row(Tint::Plain, &name, &[&section.pages]));
            }
        }
    }
    let pages = |files: &[FilePagesReport]| files.iter().map(|file| file.pages.clone()).collect();
    let (hidden, every): (Vec<PageFigures>, Vec<PageFigures>) =
        (pages(hidden), pages(&report.files));
    if !hidden.is_empty() {
        let name = format!("{} more", hidden.len());
        table.row(row(Tint::Faint, &name, &hidden.iter().collect::<Vec<_>>()));
    }
    if every.len() > 1 {
        let name = format!("all {}", every.len());
        table.row(row(Tint::Strong, &name, &every.iter().collect::<Vec<_>>()));
    }
    table
}

fn is_used(pages: &PageFigures) -> bool {
    pages.touched.get().unwrap_or_default() > 0 || unknown(pages) > 0
}

/// Sums, where one of them is known at least.
fn row(tint: Tint, name: &str, pages: &[&PageFigures]) -> Vec<Cell> {
    let known = pages.iter().filter_map(|pages| Some((pages.touched.get()?, pages.total)));
    let known = known.reduce(|sum, next| (sum.0 + next.0, sum.1 + next.1));
    let total: u64 = pages.iter().map(|pages| pages.total).sum();
    let share = |(touched, of): (u64, u64)| match of {
        0 => String::new(),
        of => percent(touched as f64 / of as f64),
    };
    let figures = [
        known.map_or("?".to_owned(), |(touched, _)| count(touched)),
        count(total),
        known.map_or(String::new(), share),
        match pages.iter().map(|pages| unknown(pages)).sum() {
            0 => String::new(),
            unknown => count(unknown),
        },
    ];
    let figures = figures.map(|figure| Cell::new(Tint::Plain, figure));
    [Cell::new(tint, name)].into_iter().chain(figures).collect()
}

/// The sections of all files by name, the one with the most touched pages first.
fn sections(report: &PagesReport, all: bool) -> Vec<(&str, Vec<&PageFigures>)> {
    let mut by_name: BTreeMap<&str, Vec<&PageFigures>> = BTreeMap::new();
    for section in report.files.iter().flat_map(|file| &file.sections) {
        by_name.entry(&section.name).or_default().push(&section.pages);
    }
    let touched =
        |pages: &[&PageFigures]| pages.iter().filter_map(|pages| pages.touched.get()).sum::<u64>();
    let mut sections: Vec<_> = by_name.into_iter().collect();
    sections.retain(|(_, pages)| all || touched(pages) > 0);
    sections.sort_by_key(|(_, pages)| std::cmp::Reverse(touched(pages)));
    sections.truncate(if all { usize::MAX } else { SECTIONS });
    sections
}

fn section_table(sections: &[(&str, Vec<&PageFigures>)]) -> Table {
    let mut table = Table::new(columns("section"));
    for (name, pages) in sections {
        table.row(row(Tint::Name, name, pages));
    }
    table
}

/// A line for each page: its place in the order, its number in the file, the section, the file.
pub fn order(report: &PagesReport) -> String {
    let mut text = String::new();
    for (place, page) in (1..).zip(report.order.iter().flatten()) {
        let file = report.files.get(page.file as usize);
        let section = page.section.zip(file);
        let section = section.and_then(|(at, file)| file.sections.get(at as usize));
        let section = section.map_or("-", |section| &section.name);
        let path = file.map_or("?", |file| &file.path);
        text += &format!("{place} {} {section} {path}\n", page.page);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Ending, PageInOrder, Reading, SectionPages};

    fn pages(total: u64, touched: u64, in_memory: u64) -> PageFigures {
        let touched = Reading::Value(touched);
        PageFigures { total, touched, in_memory, by_others: 0 }
    }

    fn report() -> PagesReport {
        let section = |name: &str, pages| SectionPages { name: name.to_owned(), pages };
        let file = |path: &str, pages, sections| FilePagesReport {
            path: path.to_owned(),
            pages,
            exact: true,
            sections,
        };
        let in_memory = Reading::unavailable("it is in memory", "");
        PagesReport {
            schema: 1,
            headstart: "0".to_owned(),
            command: "program --version".to_owned(),
            ending: Ending::Code(0),
            total_us: 2500.0,
            page_bytes: 4096,
            files_from: "a test".to_owned(),
            files: vec![
                file(
                    "/bin/program",
                    pages(40, 10, 0),
                    vec![section(".rela.dyn", pages(10, 8, 0)), section(".text", pages(30, 2, 0))],
                ),
                file("/lib/libc.so", pages(20, 1, 5), vec![section(".text", pages(20, 1, 5))]),
                file("/tmp/x", PageFigures { touched: in_memory, ..pages(3, 0, 0) }, vec![]),
            ],
            order: Some(vec![
                PageInOrder { file: 1, page: 7, section: Some(0), at_us: 1.0 },
                PageInOrder { file: 2, page: 0, section: None, at_us: 2.0 },
            ]),
            notes: vec!["a note".to_owned()],
        }
    }

    #[test]
    fn files_sections_and_what_is_not_known_are_shown() {
        let style = Style { color: false, width: 80, unicode: true };
        let shown = view(&report(), &style, false);
        for part in [
            "11 pages of 2 files read by a cold launch, in 2.500 ms (44 KiB).",
            "touched 5 other pages is not known",
            "  program           10  40  25.0 %\n",
            "    .rela.dyn        8  10  80.0 %\n",
            "  libc.so            1  20   5.0 %          5\n",
            "  x                  ?   3\n",
            "  all 3             11  63",
            "\nsections of all files\n",
            "a note",
        ] {
            assert!(shown.contains(part), "{part:?} is not in\n{shown}");
        }
        assert!(!shown.contains("1 7 .text"));
        assert!(view(&report(), &style, true).ends_with("1 7 .text /lib/libc.so\n2 0 - /tmp/x\n"));
    }
}

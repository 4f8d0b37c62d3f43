//! The published tables, on their own: no figure of ours is in them.

use crate::figure::count;
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use model::published::{PublishedMemory, PublishedSection};

/// The tables of OpenOffice's document.
pub fn published(style: &Style) -> String {
    let published = PublishedMemory::openoffice();
    let wrap = |text: &str| style.wrap(text, 0) + "\n";
    let addresses = published.addresses.iter().map(|address| {
        let how = if address.same { "at the same address" } else { "at different addresses" };
        wrap(&format!("In four processes {how}: {}.", address.modules.join(", ")))
    });
    let addresses: String = addresses.collect();
    let head = format!("Published: {}", published.source);
    let module = format!("{}, section by section, KB:", published.module);
    format!(
        "\n{}{}\n{}\n{}{}\n{addresses}",
        style.paint(Tint::Name, &wrap(&head)),
        wrap(&format!("{}.", published.machine)),
        sums(&published).render(style),
        wrap(&module),
        sections(&published).render(style),
    )
}

fn sums(published: &PublishedMemory) -> Table {
    let mut table = Table::new(vec![
        Column::left("whole process"),
        Column::right("based"),
        Column::right("not based"),
    ]);
    for sum in &published.sums {
        let figure = |value: f64| match value.fract() == 0.0 {
            true => count(value as u64),
            false => format!("{value:.3}"),
        };
        table.row(vec![
            Cell::new(Tint::Plain, &*sum.name),
            Cell::new(Tint::Plain, figure(sum.based)),
            Cell::new(Tint::Plain, figure(sum.not_based)),
        ]);
    }
    table
}

fn sections(published: &PublishedMemory) -> Table {
    let mut table = Table::new(vec![
        Column::left("section"),
        Column::right("size"),
        Column::right("in memory"),
        Column::right("private"),
        Column::right("shareable"),
    ]);
    for based in [false, true] {
        let words = if based { "based" } else { "not based" };
        let mut title = vec![Cell::new(Tint::Name, words)];
        title.resize(5, Cell::default());
        table.row(title);
        for section in published.sections.iter().filter(|section| section.based == based) {
            table.row(row(section));
        }
    }
    table
}

fn row(section: &PublishedSection) -> Vec<Cell> {
    let figures = [
        count(section.size),
        count(section.working_set),
        section.private.map_or("-".to_owned(), count),
        count(section.shareable),
    ];
    let name = Cell::new(Tint::Plain, format!("  {}", section.name));
    let figures = figures.map(|figure| Cell::new(Tint::Plain, figure));
    std::iter::once(name).chain(figures).collect()
}

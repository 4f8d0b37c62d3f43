//! LoadDlls' figures beside those of the same procedure here.

use crate::figure::{TimeFormat, bytes, count, factor, plural, time};
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use crate::words;
use model::published::PublishedPrefetch;
use model::{PrefetchExperiment, PrefetchForm, Reading, Rules};

/// The terminal view: our forms, then the published figures, then what both say.
pub fn prefetching(
    found: &PrefetchExperiment,
    published: &PublishedPrefetch,
    style: &Style,
) -> String {
    let mut view = style.paint(Tint::Name, &style.shorten(&found.list, style.width)) + "\n\n";
    view += &(style.wrap(&style.terminal(&setting(found)), 0) + "\n\n");
    view += &ours(found, style).render(style);
    for (name, reason) in &found.failed {
        let text = format!("not loaded: {}: {}", style.terminal(name), style.terminal(reason));
        view += &format!("  {}\n", style.wrap(&text, 6));
    }
    view += &style.notes_below(&found.notes);
    let head = format!("Published: {}; {}", published.source, published.machine);
    view += &format!("\n{}\n", style.paint(Tint::Name, &style.wrap(&head, 0)));
    view +=
        &format!("{}\n\n{}\n", style.wrap(&published.method, 0), theirs(published).render(style));
    view + &style.wrap(&style.terminal(&sentence(found, published, style)), 0) + "\n"
}

/// The same as Markdown.
pub fn prefetching_markdown(found: &PrefetchExperiment, published: &PublishedPrefetch) -> String {
    let style = Style { color: false, width: usize::MAX, unicode: true };
    format!(
        "# Libraries with and without reading ahead: {}\n\n{}\n\n{}\n## Published: {}; {}\n\n{}\n\n{}\n{}\n",
        found.list,
        setting(found),
        ours(found, &style).markdown(),
        published.source,
        published.machine,
        published.method,
        theirs(published).markdown(),
        sentence(found, published, &style)
    )
}

fn setting(found: &PrefetchExperiment) -> String {
    let loaded = found.libraries as usize - found.failed.len();
    let stayed = match &found.resident_pages {
        Reading::Value(pages) => {
            format!(
                "{} of their {} pages stayed in memory",
                count(*pages),
                count(found.total_pages)
            )
        }
        Reading::Unavailable { reason, .. } => {
            format!("how much of them stayed in memory is not known: {reason}")
        }
    };
    format!(
        "{}, which take {} of {}. {}; in each, every form was loaded once, in random order. Before \
         cold loads the files were evicted; {stayed}. Read ahead: {}.",
        plural(loaded as u64, "library", "libraries"),
        plural(found.files.into(), "file", "files"),
        bytes(found.file_bytes),
        plural(found.rounds.into(), "round", "rounds"),
        found.what,
    )
}

fn ours(found: &PrefetchExperiment, style: &Style) -> Table {
    let slowest = found.forms.iter().map(|form| form.summary.median_us).fold(1.0, f64::max);
    let unit = TimeFormat::of(slowest, style);
    let mut table = Table::new(vec![
        Column::left("loads here"),
        Column::right(format!("median {}", unit.name())),
        Column::right("asking").or_drop(2),
        Column::right("major faults").or_drop(1),
        Column::right("read").or_drop(3),
        Column::left("against cold"),
    ]);
    for form in &found.forms {
        let name = form.form.words();
        let effect = found.effects.iter().find(|effect| effect.variant == name);
        let against = effect.map_or(Cell::default(), |effect| {
            let text = words::brief_interval(effect, &Rules::default(), style);
            Cell::new(words::tint(effect.verdict), text)
        });
        let plain = |text: String| Cell::new(Tint::Plain, text);
        table.row(vec![
            Cell::new(Tint::Name, name),
            plain(unit.bare(form.summary.median_us)),
            plain(form.ahead_us.map_or(String::new(), |us| time(us, style))),
            plain(count(form.major_faults as u64)),
            plain(bytes(form.read_bytes as u64)),
            against,
        ]);
    }
    table
}

fn theirs(published: &PublishedPrefetch) -> Table {
    let head = format!("{} DLLs on Windows", published.libraries);
    let mut table = Table::new(vec![Column::left(head), Column::right("mean ms")]);
    for (name, ms) in [
        ("without the prefetch file", published.without_ms),
        ("with the prefetch file", published.with_ms),
    ] {
        table.row(vec![Cell::new(Tint::Name, name), Cell::new(Tint::Plain, format!("{ms:.0}"))]);
    }
    table
}

/// The effect there and here.
fn sentence(found: &PrefetchExperiment, published: &PublishedPrefetch, style: &Style) -> String {
    let median = |form: PrefetchForm| {
        let found = found.forms.iter().find(|times| times.form == form);
        found.map(|times| times.summary.median_us)
    };
    let there = format!(
        "There, loading took {} times as long without the prefetch file as with it.",
        factor(published.ratio())
    );
    let [without, with, meanwhile] =
        [PrefetchForm::Without, PrefetchForm::With, PrefetchForm::Meanwhile].map(median);
    let (Some(without), Some(with), Some(meanwhile)) = (without, with, meanwhile) else {
        return there;
    };
    format!(
        "{there} Here, it took {} without reading ahead: {} times as long as with files read ahead \
         before, {} times as long as with files read ahead meanwhile (medians; the table says what \
         is certain).",
        time(without, style),
        factor(without / with),
        factor(without / meanwhile)
    )
}

//! What looking at a program does to its next launch, beside the figures of the Cygwin post.

use crate::figure::{TimeFormat, bytes, count, plural, time};
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use crate::words;
use model::published::PublishedProbes;
use model::{
    Effect, ProbeExperiment, ProbeFigures, ProbeKind, ProbedState, Reading, Rules, Verdict,
};

const STATES: [(ProbedState, &str); 2] = [
    (ProbedState::Warm, "all in memory before"),
    (ProbedState::ProgramEvicted, "program evicted before"),
];

/// The terminal view: a table for each state, the answer, and the published figures.
pub fn probes(found: &ProbeExperiment, published: &PublishedProbes, style: &Style) -> String {
    let mut view = style.paint(Tint::Name, &style.shorten(&found.command, style.width)) + "\n\n";
    view += &(style.wrap(&style.terminal(&setting(found)), 0) + "\n");
    for (state, head) in STATES.into_iter().filter(|(state, _)| has(found, *state)) {
        view += &format!("\n{}", table(found, state, head, style).render(style));
    }
    view += &format!("\n{}\n", style.wrap(&style.terminal(&answer(found, style)), 0));
    view += &style.notes_below(&notes(found));
    let head = format!("Published: {}; {}", published.source, published.machine);
    view += &format!("\n{}\n", style.paint(Tint::Name, &style.wrap(&head, 0)));
    view + &format!("{}\n\n{}", published.command, theirs(published).render(style))
}

/// The same as Markdown.
pub fn probes_markdown(found: &ProbeExperiment, published: &PublishedProbes) -> String {
    let style = Style { color: false, width: usize::MAX, unicode: true };
    let tables = STATES.into_iter().filter(|(state, _)| has(found, *state));
    let tables = tables.map(|(state, head)| table(found, state, head, &style).markdown() + "\n");
    let notes: String = notes(found).iter().map(|note| format!("{note}\n\n")).collect();
    format!(
        "# Looking at a program: {}\n\n{}\n\n{}{}\n\n{notes}## Published: {}; {}\n\n{}\n\n{}",
        found.command,
        setting(found),
        tables.collect::<String>(),
        answer(found, &style),
        published.source,
        published.machine,
        published.command,
        theirs(published).markdown()
    )
}

fn has(found: &ProbeExperiment, state: ProbedState) -> bool {
    found.rows.iter().any(|row| row.state == state)
}

fn setting(found: &ProbeExperiment) -> String {
    format!(
        "Somebody looks at {} ({}), then it is launched. {}; in each, every row was made once, in \
         random order, and the program was launched before each, uncounted.",
        found.program,
        plural(found.pages, "page", "pages"),
        plural(found.rounds.into(), "round", "rounds"),
    )
}

fn table(found: &ProbeExperiment, state: ProbedState, head: &str, style: &Style) -> Table {
    let rows: Vec<_> = found.rows.iter().filter(|row| row.state == state).collect();
    let figures = rows.iter().filter_map(|row| row.found.value());
    let slowest = figures.map(|figures| figures.summary.median_us).fold(1.0, f64::max);
    let unit = TimeFormat::of(slowest, style);
    let mut table = Table::new(vec![
        Column::left(head),
        Column::right("probe").or_drop(3),
        Column::right("pages after"),
        Column::right("read").or_drop(2),
        Column::right(format!("launch {}", unit.name())),
        Column::left("against nothing"),
    ]);
    for row in rows {
        let name = Cell::new(Tint::Name, row.probe.words());
        let plain = |text: String| Cell::new(Tint::Plain, text);
        let mut cells = vec![name];
        match &row.found {
            Reading::Unavailable { .. } => {
                let none = Cell::new(Tint::Faint, style.or("–", "-"));
                cells.extend([Cell::default(), none, Cell::default(), Cell::default()]);
                cells.push(Cell::new(Tint::Faint, "not possible here"));
            }
            Reading::Value(figures) => cells.extend([
                plain(probe_time(row.probe, figures, style)),
                plain(figures.pages_after.get().map_or("?".to_owned(), count)),
                plain(figures.read_bytes.get().map_or("?".to_owned(), |read| bytes(read as u64))),
                plain(unit.bare(figures.summary.median_us)),
                against(figures.effect.as_ref(), style),
            ]),
        }
        table.row(cells);
    }
    table
}

fn probe_time(probe: ProbeKind, figures: &ProbeFigures, style: &Style) -> String {
    if probe == ProbeKind::Nothing { String::new() } else { time(figures.probe_us, style) }
}

fn against(effect: Option<&Effect>, style: &Style) -> Cell {
    effect.map_or(Cell::default(), |effect| {
        let text = words::brief_interval(effect, &Rules::default(), style);
        Cell::new(words::tint(effect.verdict), text)
    })
}

/// Which of the probes hurt, and which may.
fn answer(found: &ProbeExperiment, style: &Style) -> String {
    let mut sentences = Vec::new();
    for (state, _) in STATES.into_iter().filter(|(state, _)| has(found, *state)) {
        let with = |verdict: Verdict| -> Vec<String> {
            let rows = found.rows.iter().filter(|row| row.state == state);
            let effects = rows.filter_map(|row| row.found.value()?.effect.as_ref());
            let effects = effects.filter(|effect| effect.verdict == verdict);
            effects.map(|effect| of(effect, style)).collect()
        };
        let before = match state {
            ProbedState::Warm => "Of a program that is in memory",
            ProbedState::ProgramEvicted => "Of a program that is not in memory",
        };
        let [slower, faster, unclear] =
            [Verdict::Slower, Verdict::Faster, Verdict::Inconclusive].map(with);
        let mut text = match slower.is_empty() {
            true => format!("{before}, no probe is known to make the next launch slower"),
            false => format!("{before}, these make the next launch slower: {}", slower.join(", ")),
        };
        if !faster.is_empty() {
            text += &format!("; these make it faster: {}", faster.join(", "));
        }
        if !unclear.is_empty() {
            let rows = plural(unclear.len() as u64, "probe", "probes");
            text += &format!("; of {rows} it is unclear: more rounds are needed");
        }
        sentences.push(text + ".");
    }
    sentences.join(" ")
}

/// `file(1) (1.20 times, 1.15 to 1.25)`.
fn of(effect: &Effect, style: &Style) -> String {
    format!(
        "{} ({:.2}{} the time, {:.2} to {:.2})",
        effect.variant,
        effect.ratio,
        style.or(" ×", " x"),
        effect.low,
        effect.high
    )
}

/// Why probes were not made, and what else is to be known.
fn notes(found: &ProbeExperiment) -> Vec<String> {
    let warm = found.rows.iter().filter(|row| row.state == ProbedState::Warm);
    let reasons = warm.filter_map(|row| {
        row.found
            .reason()
            .map(|reason| format!("{}: not possible here: {reason}", row.probe.words()))
    });
    reasons.chain(found.notes.iter().cloned()).collect()
}

fn theirs(published: &PublishedProbes) -> Table {
    let mut table = Table::new(vec![Column::left("launch"), Column::left("before it")]);
    for (what, time) in &published.rows {
        table.row(vec![Cell::new(Tint::Plain, &**time), Cell::new(Tint::Name, &**what)]);
    }
    table
}

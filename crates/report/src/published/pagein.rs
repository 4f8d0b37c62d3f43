//! What reading ahead does to cold launches here, beside what OpenOffice's document says of `pagein`.

use super::openoffice::starts;
use crate::figure::{TimeFormat, bytes, count, factor, plural, whole_percent, why};
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use crate::words;
use model::published::PublishedOrder;
use model::{
    AheadForm, CacheState, Effect, PageinExperiment, ReadSum, Reading, RecordingMode, Rules,
    Verdict,
};

/// The terminal view: our forms, what the document has, and what pays here.
pub fn pagein(found: &PageinExperiment, published: &PublishedOrder, style: &Style) -> String {
    let wrap = |text: &str| style.wrap(&style.terminal(text), 0);
    let head = format!("Published: {}", published.source);
    [
        style.paint(Tint::Name, &style.shorten(&found.command, style.width)),
        wrap(&setting(found)),
        ours(found, style).render(style) + &style.notes_below(&notes(found)),
        style.paint(Tint::Name, &wrap(&head)) + "\n" + &wrap(&there(published)),
        starts(published, style).render(style),
        wrap(&answer(found, style)),
    ]
    .map(|part| part.trim_end().to_owned())
    .join("\n\n")
        + "\n"
}

/// The same as Markdown.
pub fn pagein_markdown(found: &PageinExperiment, published: &PublishedOrder) -> String {
    let style = Style { color: false, width: usize::MAX, unicode: true };
    let notes: String = notes(found).iter().map(|note| format!("{note}\n\n")).collect();
    format!(
        "# Reading ahead: {}\n\n{}\n\n{}\n{notes}## Published: {}\n\n{}\n\n{}\n## Here\n\n{}\n",
        found.command,
        setting(found),
        ours(found, &style).markdown(),
        published.source,
        there(published),
        starts(published, &style).markdown(),
        answer(found, &style),
    )
}

fn setting(found: &PageinExperiment) -> String {
    let (emptied, also) = match found.cold.state {
        CacheState::ColdDropped => ("the page cache was dropped", ""),
        _ => ("its files were evicted", "; names and inodes stay, too"),
    };
    let stayed = match &found.cold.resident_pages {
        Reading::Value(pages) => format!(
            "{} of the {} pages of its files stay in memory then{}",
            count(*pages),
            count(found.cold.total_pages),
            if *pages == 0 { also.replace("stay, too", "do") } else { also.to_owned() }
        ),
        unknown => format!("how much of them stays is not known: {}", why(unknown)),
    };
    let recording = &found.recording;
    let how = match recording.mode {
        RecordingMode::Exact => "recorded exactly",
        RecordingMode::Tracepoints => "recorded with what the kernel read ahead",
        RecordingMode::PageFaults => "recorded approximately, by page faults",
    };
    format!(
        "{}; in each, every form was launched once, in random order. Before a cold launch {emptied}; \
         {stayed}. A launch needs {} of {} that have {} ({how}).{}",
        plural(found.rounds.into(), "round", "rounds"),
        bytes(recording.recorded_bytes),
        plural(recording.files.into(), "file", "files"),
        bytes(recording.file_bytes),
        disk(found),
    )
}

/// What is known of the disk.
fn disk(found: &PageinExperiment) -> String {
    match (found.disk.file_system.value(), found.disk.read_ahead_kib.value()) {
        (Some(kind), Some(kib)) => {
            format!(" The program is on {kind}, where the kernel reads {kib} KiB ahead by itself.")
        }
        (Some(kind), None) => format!(" The program is on {kind}."),
        _ => String::new(),
    }
}

fn ours(found: &PageinExperiment, style: &Style) -> Table {
    let slowest = found.forms.iter().map(|form| form.summary.median_us).fold(1.0, f64::max);
    let unit = TimeFormat::of(slowest, style);
    let mut table = Table::new(vec![
        Column::left("launches here"),
        Column::right(format!("median {}", unit.name())),
        Column::right("interval").or_drop(2),
        Column::right("asked for").or_drop(4),
        Column::right("read").or_drop(1),
        Column::right("reads").or_drop(3),
        Column::left("speed-up"),
    ]);
    for form in &found.forms {
        let summary = &form.summary;
        let interval = format!(
            "{} to {}",
            unit.bare(summary.median_low_us),
            unit.bare(summary.median_high_us)
        );
        let asked = form.asked.map_or(String::new(), |asked| bytes(asked.bytes));
        let read = |of: fn(&ReadSum) -> String| form.read.value().map_or("?".to_owned(), of);
        let plain = |text: String| Cell::new(Tint::Plain, text);
        let effect = effect_of(found, form.form);
        table.row(vec![
            Cell::new(Tint::Name, form.form.words()),
            plain(unit.bare(summary.median_us)),
            plain(interval),
            plain(asked),
            plain(read(|sum| bytes(sum.bytes))),
            plain(read(|sum| count(sum.reads))),
            effect.map_or(Cell::default(), |effect| speed_up(effect, style)),
        ]);
    }
    table
}

fn effect_of(found: &PageinExperiment, form: AheadForm) -> Option<&Effect> {
    found.effects.iter().find(|effect| effect.variant == form.words())
}

/// `2.13 ×`.
fn times(value: f64, style: &Style) -> String {
    format!("{} {}", factor(value), style.or("×", "x"))
}

/// `2.13 × (1.98–2.30)`; without an interval where there are too few rounds for one.
fn speed_up(effect: &Effect, style: &Style) -> Cell {
    let mut text = times(1.0 / effect.ratio, style);
    if !words::brief_interval(effect, &Rules::default(), style).is_empty() {
        let (low, high) = (factor(1.0 / effect.high), factor(1.0 / effect.low));
        text += &format!(" ({low}{}{high})", style.or("–", "-"));
    }
    Cell::new(words::tint(effect.verdict), text)
}

/// Why figures are missing, and what else is to be known.
fn notes(found: &PageinExperiment) -> Vec<String> {
    let unread = found.forms.iter().find(|form| form.read.value().is_none());
    let unread = unread.map(|form| format!("What was read is not known: {}", why(&form.read)));
    unread.into_iter().chain(found.notes.iter().cloned()).collect()
}

/// What the document says, and of which starts it has figures.
fn there(published: &PublishedOrder) -> String {
    format!(
        "{}. Its figures are of cold starts on another system and without pagein: {}.",
        published.pagein, published.start_machine
    )
}

/// Which of the two pays.
fn answer(found: &PageinExperiment, style: &Style) -> String {
    let least = Rules::default().least_rounds;
    if found.rounds < least {
        return format!("Which pays on this disk can be said from {least} rounds on.");
    }
    let (files, ranges) =
        (effect_of(found, AheadForm::WholeFiles), effect_of(found, AheadForm::Ranges));
    let is_faster =
        |effect: Option<&Effect>| effect.is_some_and(|it| it.verdict == Verdict::Faster);
    match (is_faster(files), is_faster(ranges)) {
        (true, true) => both(found, style),
        (false, true) => format!(
            "On this disk only the recorded ranges {}: {}{}.",
            pay(files),
            gain(ranges, style),
            otherwise("whole files", files, style)
        ),
        (true, false) => format!(
            "On this disk only whole files {}: {}{}.",
            pay(ranges),
            gain(files, style),
            otherwise("the recorded ranges", ranges, style)
        ),
        (false, false) => format!(
            "On this disk neither is known to pay{}{}.",
            otherwise("whole files", files, style),
            otherwise("the recorded ranges", ranges, style)
        ),
    }
}

/// What one form does, if the other is not known to be faster.
fn pay(other: Option<&Effect>) -> &'static str {
    match other.map(|effect| effect.verdict) {
        Some(Verdict::Slower | Verdict::Same) => "pay",
        _ => "are known to pay",
    }
}

/// Both are faster than without: which of them more?
fn both(found: &PageinExperiment, style: &Style) -> String {
    let [files, ranges] = [AheadForm::WholeFiles, AheadForm::Ranges]
        .map(|form| effect_of(found, form).map_or(1.0, |effect| 1.0 / effect.ratio));
    let [files, ranges] = [files, ranges].map(|value| times(value, style));
    let with =
        format!("{ranges} as fast as cold with the recorded ranges, {files} with whole files");
    let between = found.ranges_against_files.as_ref();
    match between.map_or(Verdict::Inconclusive, |effect| effect.verdict) {
        Verdict::Faster => format!("On this disk both pay, and the recorded ranges more: {with}."),
        Verdict::Slower => format!("On this disk both pay, and whole files more: {with}."),
        Verdict::Same => format!("On this disk both pay, and equally: {with}."),
        Verdict::Inconclusive => format!(
            "On this disk both pay: {with}; which of them pays more is unclear without more rounds."
        ),
    }
}

/// `2.13 × as fast as cold (99 % interval 1.98 to 2.30)`.
fn gain(effect: Option<&Effect>, style: &Style) -> String {
    effect.map_or(String::new(), |effect| {
        format!(
            "{} as fast as cold ({} interval {} to {})",
            times(1.0 / effect.ratio, style),
            whole_percent(effect.confidence),
            factor(1.0 / effect.high),
            factor(1.0 / effect.low)
        )
    })
}

/// What is so of a form that is not faster than without.
fn otherwise(name: &str, effect: Option<&Effect>, style: &Style) -> String {
    match effect.map(|effect| (effect.verdict, effect)) {
        None => format!("; {name} were not tried"),
        Some((Verdict::Slower, effect)) => {
            format!("; with {name} it takes {} the time", times(effect.ratio, style))
        }
        Some((Verdict::Same, _)) => format!("; with {name} it takes the same time"),
        Some(_) => format!("; with {name} a difference is unclear without more rounds"),
    }
}

#[cfg(test)]
mod tests;

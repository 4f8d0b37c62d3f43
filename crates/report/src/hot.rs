//! The terminal view of sampled functions: the hottest with their shares, and the instructions
//! of one of them with the samples on each.

use crate::explain::page::Page;
use crate::style::{Style, Tint};
use crate::text::{base_name, columns};
use model::figures::{count, plural};
use model::{Hot, HotFunction, HotInstruction, Hottest, Reading};

/// Columns of a bar.
const BAR: usize = 12;
/// Columns before the name of a function and before an instruction's address.
const LEAD: usize = 2 + 7 + 9 + 2 + BAR + 2;
/// Columns of an address.
const ADDRESS: usize = 8;
/// A function that is not longer is shown whole.
const WHOLE: usize = 24;
/// Instructions that decide which part of a long function is shown, and how many around each.
const HOT_INSTRUCTIONS: usize = 16;
const AROUND: usize = 2;
/// Of a function's samples: what has less is not shown for its own sake.
const LEAST_SHARE: f64 = 0.01;

/// The view, which is printed behind that of the explanation; `style` and `rows` (of functions)
/// as in [`crate::explain::view`].
pub fn view(hot: &Reading<Hot>, style: &Style, rows: Option<usize>) -> String {
    let mut page = Page::new(style, rows);
    match hot {
        Reading::Value(hot) => {
            functions(&mut page, hot);
            match &hot.hottest {
                Reading::Value(hottest) => instructions(&mut page, hot, hottest),
                Reading::Unavailable { reason, .. } => {
                    page.heading("Hottest instructions");
                    page.wrapped("  ", Tint::Doubt, &format!("unavailable: {reason}"));
                }
            }
        }
        Reading::Unavailable { reason, remedy } => {
            page.heading("Hot functions");
            page.wrapped("  ", Tint::Doubt, &format!("unavailable: {reason}"));
            page.wrapped("  ", Tint::Remedy, remedy);
        }
    }
    page.finish()
}

fn functions(page: &mut Page, hot: &Hot) {
    page.heading("Hot functions");
    let how = format!(
        "{} from {}, {} per second of CPU time; a function's share excludes the functions that it \
         calls",
        plural(hot.samples, "sample", "samples"),
        plural(hot.launches.into(), "launch", "launches"),
        count(hot.frequency_hz.into()),
    );
    page.wrapped("  ", Tint::Faint, &how);
    for note in &hot.notes {
        page.wrapped("  ", Tint::Doubt, note);
    }
    if hot.functions.is_empty() {
        return;
    }
    let all = hot.functions.len();
    let shown = page.rows.unwrap_or(all).min(all);
    // One hidden row would take the line that says so.
    let shown = if shown + 1 == all { all } else { shown };
    let room = page.style.width - LEAD;
    let widest =
        hot.functions[..shown].iter().map(|function| columns(base_name(&function.module))).max();
    let module = widest.unwrap_or(0).clamp(6, room * 9 / 20);
    let name = room - module - 2;
    let gap = " ".repeat(BAR + 4);
    let titles = format!("  {:>7}{:>9}{gap}{:<name$}  module", "samples", "share", "function");
    let titles = page.paint(Tint::Faint, &titles);
    page.line(&titles);
    for function in &hot.functions[..shown] {
        let lead = lead(page, function.samples, hot.samples);
        let title = page.style.fitted(&function.function, name);
        let file = page.style.shorten(base_name(&function.module), module);
        let file = page.paint(Tint::Faint, &file);
        page.line(&format!("{lead}{title}  {file}"));
    }
    if shown < all {
        let rest = hot.functions[shown..].iter().map(|function| function.samples).sum();
        let lead = lead(page, rest, hot.samples);
        let text = page.paint(Tint::Faint, &format!("{} more", all - shown));
        page.line(&format!("{lead}{text}"));
    }
}

fn instructions(page: &mut Page, hot: &Hot, hottest: &Hottest) {
    let same = |function: &&HotFunction| {
        (&function.function, &function.module) == (&hottest.function, &hottest.module)
    };
    let samples: u64 = hottest.instructions.iter().map(|instruction| instruction.samples).sum();
    let place = hot.functions.iter().position(|function| same(&function));
    let title = match place {
        Some(0) | None => "Hottest",
        Some(_) => "Hottest function whose code can be read",
    };
    page.blank();
    page.wrapped("", Tint::Strong, &format!("{title}: {}", hottest.function));
    let how = format!(
        "{} in {}; each is on the instruction that was next, often the one after the slow one",
        plural(samples, "sample", "samples"),
        hottest.module,
    );
    page.wrapped("  ", Tint::Faint, &how);
    let gap = " ".repeat(BAR + 4);
    let titles =
        format!("  {:>7}{:>9}{gap}{:>ADDRESS$}  instruction", "samples", "share", "address");
    let titles = page.paint(Tint::Faint, &titles);
    page.line(&titles);
    let shown = shown(&hottest.instructions, samples, page.rows.is_none());
    let (mut next, mut source) = (None, None);
    for instruction in shown.iter().map(|&at| &hottest.instructions[at]) {
        if next.is_some_and(|next| next != instruction.address) {
            let indent = " ".repeat(LEAD + ADDRESS + 2);
            page.line(&format!("{indent}{}", page.pick("…", "...")));
        }
        next = Some(instruction.address.saturating_add(instruction.length.into()));
        let lead = lead(page, instruction.samples, samples);
        let text = page.style.shorten(&instruction.text, page.style.width - LEAD - ADDRESS - 2);
        // A line is told once.
        let told = instruction.source.as_deref().filter(|_| source != instruction.source);
        let behind = told.map_or_else(String::new, |told| behind(page, &text, told));
        source.clone_from(&instruction.source);
        let address = format!("{:>ADDRESS$x}", instruction.address);
        let address = page.paint(Tint::Faint, &address);
        page.line(&format!("{lead}{address}  {text}{behind}"));
    }
}

/// The source line of an instruction at the end of its line, where that has room for it.
fn behind(page: &Page, text: &str, source: &str) -> String {
    let room = page.style.width - LEAD - ADDRESS - 2;
    let space = room.saturating_sub(columns(text) + columns(source));
    if space < 2 {
        return String::new();
    }
    " ".repeat(space) + &page.paint(Tint::Faint, source)
}

/// Places of the instructions to show: all of a short function, else those around the hottest.
fn shown(instructions: &[HotInstruction], samples: u64, all: bool) -> Vec<usize> {
    let places = 0..instructions.len();
    if all || instructions.len() <= WHOLE {
        return places.collect();
    }
    let mut hottest: Vec<usize> = places.clone().collect();
    hottest.sort_by_key(|&at| (u64::MAX - instructions[at].samples, at));
    hottest.truncate(HOT_INSTRUCTIONS);
    hottest.retain(|&at| instructions[at].samples as f64 >= samples as f64 * LEAST_SHARE);
    let near = |at: &usize| hottest.iter().any(|hot| hot.abs_diff(*at) <= AROUND);
    places.filter(near).collect()
}

/// Samples, share and bar; nothing where there are no samples.
fn lead(page: &Page, samples: u64, of: u64) -> String {
    if samples == 0 {
        return " ".repeat(LEAD);
    }
    let share = samples as f64 / of.max(1) as f64;
    let percent = format!("{:.1} %", share * 100.0);
    format!("  {:>7}{percent:>9}  {}  ", count(samples), page.bar(share, BAR))
}

#[cfg(test)]
mod tests;

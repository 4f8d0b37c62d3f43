//! Results as a Markdown table.

use crate::figure::{TimeFormat, percent};
use crate::style::Style;
use crate::words::{brief, brief_interval};
use model::{Effect, Results, Rules, VariantResult};

/// A Markdown table, as for a README or a pull request.
pub fn markdown(results: &Results) -> String {
    let style = Style { color: false, width: usize::MAX, unicode: true };
    let medians = results.variants.iter().map(|variant| variant.summary.median_us);
    let unit = TimeFormat::asked(results.unit, medians.fold(f64::INFINITY, f64::min), &style);
    let name = unit.name();
    let compared = results.variants.len() > 1;
    let mut text =
        format!("| Command | Fastest [{name}] | p10 [{name}] | Median [{name}] | Spread |");
    text += if compared { " Change |\n" } else { "\n" };
    text += "|:---|---:|---:|---:|---:|";
    text += if compared { ":---|\n" } else { "\n" };
    for (place, variant) in results.variants.iter().enumerate() {
        let s = &variant.summary;
        let times = [s.min_us, s.p10_us, s.median_us].map(|time| unit.bare(time)).join(" | ");
        text += &format!("| {} | {times} | {} |", command(variant), percent(s.spread));
        if compared {
            let effect = results.effects.iter().find(|effect| effect.variant == variant.name);
            text += &format!(" {} |", change(effect, place == 0, (&results.rules, &style)));
        }
        text.push('\n');
    }
    text
}

fn change(effect: Option<&Effect>, first: bool, (rules, style): (&Rules, &Style)) -> String {
    match effect {
        Some(effect) => match (brief(effect, style), brief_interval(effect, rules, style)) {
            (brief, none) if none.is_empty() => brief,
            (brief, interval) => format!("{brief} ({interval})"),
        },
        None if first => "baseline".to_owned(),
        None => "no complete round".to_owned(),
    }
}

/// The command, after its variant's name where that says something else.
fn command(variant: &VariantResult) -> String {
    let command = code(&variant.command);
    if variant.name == variant.command {
        return command;
    }
    let name = variant.name.replace(['\n', '\r'], " ").replace('|', r"\|");
    format!("{name}: {command}")
}

/// Inline code that survives a table: bars are escaped, back-ticks fenced, lines joined.
fn code(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ").replace('|', r"\|");
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

//! Results as CSV (RFC 4180).

use model::{Effect, Reading, Results, VariantResult};

const HEAD: &str = "name,command,runs,min_us,p10_us,median_us,median_low_us,median_high_us,p90_us,\
max_us,spread,cpu_us,private_kib,peak_rss_kib,minor_faults,major_faults,read_bytes,ratio,low,high,verdict\n";

/// One line a variant below a head line (RFC 4180). A figure that is unavailable, and the effect
/// of the baseline, are empty fields.
pub fn csv(results: &Results) -> String {
    let effect = |name: &str| results.effects.iter().find(|effect| effect.variant == name);
    let lines = results.variants.iter().map(|variant| line(variant, effect(&variant.name)));
    HEAD.to_owned() + &lines.collect::<String>()
}

fn line(variant: &VariantResult, effect: Option<&Effect>) -> String {
    let s = &variant.summary;
    let mut fields = vec![quoted(&variant.name), quoted(&variant.command), s.runs.to_string()];
    let times =
        [s.min_us, s.p10_us, s.median_us, s.median_low_us, s.median_high_us, s.p90_us, s.max_us];
    fields.extend(times.iter().map(|time| format!("{time:.3}")));
    fields.push(format!("{:.6}", s.spread));
    fields.push(variant.cpu_us.get().map_or_else(String::new, |us| format!("{us:.3}")));
    let counters = [
        &variant.private_kib,
        &variant.peak_rss_kib,
        &variant.minor_faults,
        &variant.major_faults,
        &variant.read_bytes,
    ];
    fields.extend(counters.map(|counter| match counter {
        Reading::Value(value) => value.to_string(),
        Reading::Unavailable { .. } => String::new(),
    }));
    match effect {
        Some(effect) => {
            let figures = [effect.ratio, effect.low, effect.high];
            fields.extend(figures.map(|figure| format!("{figure:.6}")));
            fields.push(format!("{:?}", effect.verdict).to_lowercase());
        }
        None => fields.extend(vec![String::new(); 4]),
    }
    fields.join(",") + "\n"
}

/// In quotation marks where RFC 4180 wants them.
pub(crate) fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

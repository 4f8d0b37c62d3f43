//! Effects in words.

use crate::CommandWords;
use crate::figure::{factor, percent_decimals, plural, whole_percent};
use crate::style::{Style, Tint};
use crate::text::lines;
use model::{Effect, Rules, Verdict};

/// From this ratio on a variant "takes 2.00 times as long" rather than being 100 % slower.
const TIMES_SLOWER: f64 = 2.0;
/// Down from this ratio it is "4.00 times as fast": beyond 75 % percentages crowd towards 100.
const TIMES_FASTER: f64 = 0.25;

/// An effect in one sentence.
pub fn sentence(effect: &Effect, rules: &Rules, words: &CommandWords, style: &Style) -> String {
    let variant = style.paint(Tint::Name, &style.shorten(&effect.variant, 40));
    let baseline = style.paint(Tint::Name, &style.shorten(&effect.baseline, 40));
    let confidence = whole_percent(effect.confidence);
    match effect.verdict {
        Verdict::Faster | Verdict::Slower => {
            let strength = style.paint(tint(effect.verdict), &strength(effect));
            let interval = interval(effect, style);
            let (verb, than) = match scale(effect) {
                Scale::Longer => ("takes", "as"),
                Scale::Faster => ("is", "as"),
                Scale::Percent => ("is", "than"),
            };
            format!(
                "{variant} {verb} {strength} {than} {baseline} ({confidence} interval {interval})."
            )
        }
        Verdict::Same => {
            let largest = percent_up(effect.within);
            let same = style.paint(tint(effect.verdict), "no difference");
            format!(
                "{variant} and {baseline}: {same} larger than {largest} ({confidence} confidence)."
            )
        }
        Verdict::Inconclusive => {
            let doubt = style.paint(tint(effect.verdict), "Inconclusive");
            let (rounds, least) = (u64::from(effect.rounds), rules.least_rounds);
            if effect.rounds < least {
                let rounds = plural(rounds, "round is", "rounds are");
                return format!(
                    "{doubt}: {rounds} too few to compare {variant} with {baseline}; at least \
                     {least} are needed."
                );
            }
            let possible = possible(effect, style);
            format!(
                "{doubt}: {variant} is {possible} than {baseline}; more rounds ({}) could decide.",
                words.more_rounds
            )
        }
    }
}

/// How the launches of variants were made.
pub fn in_rounds(rounds: u32, style: &Style) -> String {
    let rounds = plural(rounds.into(), "round", "rounds");
    let text = format!("{rounds}, each variant once per round, in random order");
    let line = |line: &String| style.paint(Tint::Faint, line) + "\n";
    lines(&text, style.width).iter().map(line).collect()
}

/// How an effect is expressed.
#[derive(Clone, Copy, PartialEq)]
enum Scale {
    /// `3.40 times as long`.
    Longer,
    /// `25.1 times as fast`.
    Faster,
    /// `13.6 % faster`.
    Percent,
}

/// Factors only for what is surely beyond 1, so that no interval mixes the two.
fn scale(effect: &Effect) -> Scale {
    if effect.ratio >= TIMES_SLOWER && effect.low > 1.0 {
        Scale::Longer
    } else if effect.ratio <= TIMES_FASTER && effect.high < 1.0 && effect.low > 0.0 {
        Scale::Faster
    } else {
        Scale::Percent
    }
}

/// The look of a verdict.
pub fn tint(verdict: Verdict) -> Tint {
    match verdict {
        Verdict::Faster => Tint::Good,
        Verdict::Slower => Tint::Bad,
        Verdict::Same => Tint::Strong,
        Verdict::Inconclusive => Tint::Doubt,
    }
}

/// The verdict in a few words, for a table.
pub fn brief(effect: &Effect, style: &Style) -> String {
    let times = style.or("×", "x");
    match effect.verdict {
        Verdict::Faster | Verdict::Slower => strength(effect).replace("times", times),
        Verdict::Same => "same".to_owned(),
        Verdict::Inconclusive => "inconclusive".to_owned(),
    }
}

/// The interval, for a table: with signs where no verdict gives the direction. Empty where there
/// are too few rounds for a verdict, or for any interval of that confidence.
pub fn brief_interval(effect: &Effect, rules: &Rules, style: &Style) -> String {
    // With fewer rounds even the span of all of them has less confidence (a sign test).
    if effect.rounds < rules.least_rounds
        || 2.0 * 0.5_f64.powf(f64::from(effect.rounds)) > 1.0 - effect.confidence
    {
        return String::new();
    }
    match effect.verdict {
        Verdict::Faster | Verdict::Slower => {
            interval(effect, style).replace("times", style.or("×", "x"))
        }
        Verdict::Same | Verdict::Inconclusive => signed(effect.low, effect.high, style),
    }
}

/// Two ratios as changes of the baseline's time: `−3.0 to +2.1 %`.
fn signed(low: f64, high: f64, style: &Style) -> String {
    let (one, two) = (low - 1.0, high - 1.0);
    let decimals = percent_decimals(one.abs().max(two.abs()));
    let text = |change: f64| {
        let sign = if change < 0.0 { style.or("−", "-") } else { "+" };
        format!("{sign}{:.decimals$}", change.abs() * 100.0)
    };
    format!("{} to {} %", text(one), text(two))
}

/// The ends of the interval in the words of the sentence: `12.9–14.2 %`, `−3.0 to +2.1 %`.
pub fn interval(effect: &Effect, style: &Style) -> String {
    let dash = style.or("–", "-");
    match scale(effect) {
        Scale::Longer => {
            return format!("{}{dash}{} times", factor(effect.low), factor(effect.high));
        }
        Scale::Faster => {
            let (low, high) = (factor(1.0 / effect.high), factor(1.0 / effect.low));
            return format!("{low}{dash}{high} times");
        }
        Scale::Percent => {}
    }
    let (mut one, mut two) = (effect.low - 1.0, effect.high - 1.0);
    let decimals = percent_decimals(one.abs().max(two.abs()));
    if one < 0.0 && two > 0.0 {
        return signed(effect.low, effect.high, style);
    }
    if two <= 0.0 {
        (one, two) = (-two, -one);
    }
    // Adding zero turns −0.0 into 0.0.
    format!("{:.decimals$}{dash}{:.decimals$} %", one * 100.0 + 0.0, two * 100.0 + 0.0)
}

/// The estimate: `13.6 % faster`, `3.40 times as long`.
fn strength(effect: &Effect) -> String {
    match scale(effect) {
        Scale::Longer => format!("{} times as long", factor(effect.ratio)),
        Scale::Faster => format!("{} times as fast", factor(1.0 / effect.ratio)),
        Scale::Percent => side(effect.ratio, percent_decimals(effect.ratio - 1.0)),
    }
}

/// `3.0 % faster` or `2.1 % slower`: percentages of the baseline's time.
fn side(ratio: f64, decimals: usize) -> String {
    let word = if ratio < 1.0 { "faster" } else { "slower" };
    format!("{:.decimals$} % {word}", (ratio - 1.0).abs() * 100.0)
}

/// What the interval leaves possible: `between 3.0 % faster and 2.1 % slower`.
fn possible(effect: &Effect, style: &Style) -> String {
    if effect.low < 1.0 && effect.high > 1.0 {
        let decimals = percent_decimals((1.0 - effect.low).max(effect.high - 1.0));
        return format!(
            "between {} and {}",
            side(effect.low, decimals),
            side(effect.high, decimals)
        );
    }
    let word = if effect.high <= 1.0 { "faster" } else { "slower" };
    format!("{} {word}", interval(effect, style))
}

/// A bound as a percentage, rounded up: "no larger than" must stay true.
fn percent_up(fraction: f64) -> String {
    let decimals = percent_decimals(fraction);
    let scale = 10_f64.powi(decimals as i32 + 2);
    // A hair less, so that 0.012 (which is 0.01200000…1) stays 1.2 %.
    let up = (fraction * scale - 1e-9).ceil() / scale * 100.0;
    // Adding zero turns −0.0 into 0.0.
    format!("{:.decimals$} %", up + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STYLE: Style = Style { color: false, width: 80, unicode: true };
    const WORDS: CommandWords = CommandWords {
        say_when_ready: "",
        check_machine: "",
        checked: "",
        more_rounds: "--runs or --precision",
        keep_best: "",
        install: "",
        install_fixed: "",
        bundle: "",
        install_library_path: "",
        rerandomize: "",
        warm: "",
    };

    fn effect(low: f64, ratio: f64, high: f64, verdict: Verdict) -> Effect {
        let within = (high.max(1.0 / low) - 1.0).max(0.0);
        let (baseline, variant) = ("A".to_owned(), "B".to_owned());
        Effect {
            baseline,
            variant,
            ratio,
            low,
            high,
            confidence: 0.99,
            rounds: 100,
            verdict,
            within,
        }
    }

    #[test]
    fn sentences_say_what_is_known() {
        use Verdict::{Faster, Inconclusive, Same, Slower};
        for (low, ratio, high, verdict, wanted) in [
            (0.858, 0.864, 0.871, Faster, "B is 13.6 % faster than A (99 % interval 12.9–14.2 %)."),
            (0.30, 0.31, 0.33, Faster, "B is 69.0 % faster than A (99 % interval 67.0–70.0 %)."),
            (
                0.038,
                0.04,
                0.042,
                Faster,
                "B is 25.0 times as fast as A (99 % interval 23.8–26.3 times).",
            ),
            (1.02, 1.031, 1.04, Slower, "B is 3.1 % slower than A (99 % interval 2.0–4.0 %)."),
            (
                3.35,
                3.4,
                3.46,
                Slower,
                "B takes 3.40 times as long as A (99 % interval 3.35–3.46 times).",
            ),
            (0.99, 1.0, 1.012, Same, "B and A: no difference larger than 1.2 % (99 % confidence)."),
            (
                0.9971,
                1.0,
                1.001,
                Same,
                "B and A: no difference larger than 0.30 % (99 % confidence).",
            ),
            (1.0, 1.0, 1.0, Same, "B and A: no difference larger than 0.0 % (99 % confidence)."),
            (
                0.97,
                1.0,
                1.021,
                Inconclusive,
                "Inconclusive: B is between 3.0 % faster and 2.1 % slower than A; more rounds (--runs or --precision) could decide.",
            ),
            (
                1.001,
                1.008,
                1.025,
                Inconclusive,
                "Inconclusive: B is 0.1–2.5 % slower than A; more rounds (--runs or --precision) could decide.",
            ),
        ] {
            assert_eq!(
                sentence(&effect(low, ratio, high, verdict), &Rules::default(), &WORDS, &STYLE),
                wanted
            );
        }
        let few = Effect { rounds: 5, ..effect(0.5, 0.6, 0.7, Inconclusive) };
        let wanted =
            "Inconclusive: 5 rounds are too few to compare B with A; at least 10 are needed.";
        assert_eq!(sentence(&few, &Rules::default(), &WORDS, &STYLE), wanted);
    }

    #[test]
    fn intervals_keep_their_signs_apart() {
        let ends = |low, high| interval(&effect(low, 1.0, high, Verdict::Same), &STYLE);
        assert_eq!(ends(0.97, 1.021), "−3.0 to +2.1 %");
        assert_eq!(ends(0.998, 1.0), "0.00–0.20 %");
        assert_eq!(ends(1.0, 1.0), "0.0–0.0 %");
        let brief = |effect: &Effect| brief_interval(effect, &Rules::default(), &STYLE);
        assert_eq!(brief(&effect(1.001, 1.008, 1.025, Verdict::Inconclusive)), "+0.1 to +2.5 %");
        assert_eq!(brief(&effect(0.82, 0.86, 0.93, Verdict::Inconclusive)), "−18.0 to −7.0 %");
        assert_eq!(brief(&effect(0.82, 0.86, 0.93, Verdict::Faster)), "7.0–18.0 %");
        assert_eq!(brief(&effect(0.02, 0.025, 0.04, Verdict::Faster)), "25.0–50.0 ×");
    }

    #[test]
    fn no_interval_contradicts_that_the_rounds_are_too_few() {
        let few = |rounds, least_rounds| {
            let effect = Effect { rounds, ..effect(0.82, 0.86, 0.93, Verdict::Inconclusive) };
            let rules = Rules { least_rounds, ..Rules::default() };
            assert!(
                rounds >= least_rounds
                    || sentence(&effect, &rules, &WORDS, &STYLE).contains("too few")
            );
            brief_interval(&effect, &rules, &STYLE)
        };
        assert_eq!((few(8, 10), few(9, 10)), (String::new(), String::new()));
        // Not even all rounds make an interval of 99 %.
        assert_eq!(few(7, 5), "");
        assert_eq!(few(10, 10), "−18.0 to −7.0 %");
    }
}

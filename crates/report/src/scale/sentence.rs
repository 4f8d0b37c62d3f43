//! What a sweep says, in one sentence.

use crate::figure::{count, factor, time, why};
use crate::style::Style;
use model::Reading;
use model::growth::{Fit, Law, Scale, Unit};

/// What the sweep says, in a sentence without an end: `84 % of the time at n = 2048 is
/// quadratic; doubling n to 4096 would take 3.60 times as long (1.900 s)`.
pub fn sentence(scale: &Scale, style: &Style) -> String {
    match &scale.fit {
        Reading::Value(fit) => law_sentence(fit, scale.unit, style),
        missing => format!("no growth law: {}", why(missing)),
    }
}

fn law_sentence(fit: &Fit, unit: Unit, style: &Style) -> String {
    if fit.law == Law::Unclear {
        let reason = fit.reason.as_deref().unwrap_or("the points follow none");
        return format!("the growth law is unclear: {reason}");
    }
    let (what, is, do_not) = match unit {
        Unit::Us => ("time", "is", "does not"),
        Unit::Instructions => ("instructions", "are", "do not"),
        Unit::Syscalls => ("system calls", "are", "do not"),
        Unit::Faults => ("page faults", "are", "do not"),
    };
    // Counts are exact; times are not.
    if fit.law == Law::Constant && unit == Unit::Us {
        return format!("no growth with n can be told from the noise, up to n = {}", fit.at_n);
    }
    if fit.law == Law::Constant {
        return format!("the {what} {do_not} grow with n, up to n = {}", fit.at_n);
    }
    let share = fit.share.map_or(String::new(), |share| format!("{} of the ", whole(share)));
    let head = format!("{share}{what} at n = {} {is} {}", fit.at_n, adjective(fit.law));
    match (fit.doubling, fit.value(2.0 * fit.at_n as f64)) {
        (Some(ratio), Some(then)) => {
            let (many, then) = match unit {
                Unit::Us => ("long", time(then, style)),
                _ => ("many", count(then.round() as u64)),
            };
            let double = u128::from(fit.at_n) * 2;
            let ratio = factor(ratio);
            format!("{head}; doubling n to {double} would take {ratio} times as {many} ({then})")
        }
        _ => head,
    }
}

/// A share without decimals; one that is not all is never called so.
fn whole(share: f64) -> String {
    match share * 100.0 {
        percent if percent >= 99.5 && share < 1.0 => "more than 99 %".to_owned(),
        percent if percent < 0.5 => "less than 1 %".to_owned(),
        percent => format!("{percent:.0} %"),
    }
}

/// The law after "is".
fn adjective(law: Law) -> &'static str {
    match law {
        Law::Constant => "constant",
        Law::Logarithmic => "logarithmic",
        Law::Linear => "linear",
        Law::Linearithmic => "n log n",
        Law::Quadratic => "quadratic",
        Law::Cubic => "cubic",
        Law::Unclear => "unclear",
    }
}

/// The sentence as one stands: with a capital and a full stop.
pub fn full_sentence(scale: &Scale, style: &Style) -> String {
    let text = sentence(scale, style);
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", letters.as_str())
}

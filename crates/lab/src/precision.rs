//! How precisely a run is known so far, and after which rounds that is looked at.

use model::{Experiment, Rules, Sample};
use stats::{results, summary_width, width};

/// The widest interval of a run, as a fraction: of the effects where variants are compared, else
/// of the median. Infinite while there are too few launches.
pub fn widest(experiment: &Experiment, samples: &[Sample]) -> f64 {
    let results = results(experiment, samples, &Rules::default());
    let complete = results.variants.len() == experiment.variants.len();
    let widths: Vec<f64> = match results.variants.as_slice() {
        [only] => vec![summary_width(&only.summary)],
        _ => results.effects.iter().map(width).collect(),
    };
    if !complete || widths.is_empty() {
        return f64::INFINITY;
    }
    widths.into_iter().fold(0.0, f64::max)
}

/// The rounds after which the width is computed: it costs time that launches could use, so not
/// after every round but each time there are a tenth more.
pub fn is_checkpoint(rounds: u32) -> bool {
    let step = (rounds / 10).max(10);
    rounds.is_multiple_of(step.next_power_of_two() / 2)
}

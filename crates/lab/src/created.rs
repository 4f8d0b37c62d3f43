//! How much of a launch is the creation of its process, where the host tells it apart.

use model::{Experiment, Sample, Until, VariantId, figures};

/// A sentence for each variant of whose launches it is known.
pub(crate) fn notes(experiment: &Experiment, samples: &[Sample]) -> Vec<String> {
    let end = match experiment.options.until {
        Until::Exit => "to its end",
        _ => "until it was ready",
    };
    let sentence = |(index, variant): (usize, &model::Variant)| {
        let own = |sample: &&Sample| sample.variant == VariantId::at(index) && !sample.is_warm_up();
        let parts = samples.iter().filter(own).filter_map(|sample| {
            let created_us = sample.launch.created_us?;
            Some((created_us, sample.launch.total_us - created_us))
        });
        let (created, run): (Vec<f64>, Vec<f64>) = parts.unzip();
        let [created, run] = [median(created)?, median(run)?].map(figures::duration);
        let name = &variant.name;
        Some(format!("{name}: {created} to create the process, {run} from there {end} (medians)."))
    };
    experiment.variants.iter().enumerate().filter_map(sentence).collect()
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = *values.get((values.len() - 1) / 2)?;
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(Vec::new()), None);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 3.0, 2.0]), Some(2.5));
    }
}

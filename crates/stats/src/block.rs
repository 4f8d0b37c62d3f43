//! How many neighboring launches the bootstrap of a median keeps together.

/// Length of the blocks of the bootstrap of a median: at least n^(1/3), longer where neighbors
/// are alike.
///
/// The automatic choice of Politis & White (2004, corrected 2009) for the circular bootstrap,
/// applied to the signs of `x − median`, because only these decide where a median falls.
pub fn block_length(series: &[f64], median: f64) -> usize {
    let n = series.len();
    let least = (n as f64).cbrt().ceil() as usize;
    let most = (3.0 * (n as f64).sqrt()).min(n as f64 / 3.0).ceil() as usize;
    let signs: Vec<f64> = series.iter().map(|x| sign(x - median)).collect();
    let chosen = politis_white(&signs).unwrap_or(1.0).ceil() as usize;
    chosen.clamp(least, most.max(least)).max(1)
}

/// −1, 0 or 1; unlike `f64::signum`, 0 for 0.
fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        0.0
    }
}

/// `None` for a series too short or without variance.
fn politis_white(series: &[f64]) -> Option<f64> {
    let n = series.len() as f64;
    let patience = 5.max(n.log10().sqrt().ceil() as usize);
    let furthest = (n.sqrt().ceil() as usize + patience).min(series.len().checked_sub(2)?);
    let covariance: Vec<f64> = (0..=furthest).map(|lag| autocovariance(series, lag)).collect();
    let variance = covariance.first().copied().filter(|&v| v > 0.0)?;
    let negligible = 2.0 * (n.log10() / n).sqrt() * variance;
    // The lag after which `patience` lags in a row are negligible.
    let quiet =
        |lag: usize| covariance[lag + 1..].iter().take(patience).all(|c| c.abs() < negligible);
    let last = (0..furthest).find(|&lag| quiet(lag)).unwrap_or(furthest);
    let window = (2 * last).clamp(1, furthest);
    let mut spectrum = variance;
    let mut slope = 0.0;
    for (lag, &c) in covariance.iter().enumerate().take(window + 1).skip(1) {
        // The flat-top window: 1 up to a half, then down to 0.
        let weight = (2.0 * (1.0 - lag as f64 / window as f64)).min(1.0);
        spectrum += 2.0 * weight * c;
        slope += 2.0 * weight * lag as f64 * c;
    }
    let denominator = 4.0 / 3.0 * spectrum * spectrum;
    (denominator > 0.0).then(|| (2.0 * slope * slope / denominator * n).cbrt())
}

fn autocovariance(series: &[f64], lag: usize) -> f64 {
    let n = series.len() as f64;
    let mean = series.iter().sum::<f64>() / n;
    let pairs = series.iter().zip(&series[lag..]);
    pairs.map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>() / n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn independent_values_need_the_least_block() {
        // Signs of a shuffled sequence: 0, 1, … 999 times a unit modulo a prime.
        let series: Vec<f64> = (0..1000_u64).map(|i| (i * i * 7919 % 1009) as f64).collect();
        let found = block_length(&series, 504.0);
        assert!((10..=14).contains(&found), "{found}");
    }

    #[test]
    fn long_waves_need_long_blocks() {
        let series: Vec<f64> = (0..1000).map(|i| (f64::from(i) / 30.0).sin()).collect();
        assert!(block_length(&series, 0.0) >= 60);
    }

    #[test]
    fn short_and_constant_series_are_no_trouble() {
        for n in [0, 1, 2, 3, 10] {
            assert!((1..=n.max(1)).contains(&block_length(&vec![1.0; n], 1.0)), "n = {n}");
        }
    }
}

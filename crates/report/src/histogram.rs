//! The shape of a variant's launches, one line high.

use crate::style::Style;

const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const ASCII: [char; 9] = [' ', '.', ':', '-', '=', '+', '*', '#', '@'];

/// The shape of a variant's launch times in one line.
pub struct Histogram {
    /// One character a bin.
    pub bars: String,
    /// Lower edge of the first bin.
    pub from_us: f64,
    /// Upper edge of the last bin.
    pub to_us: f64,
    /// Launches beyond it.
    pub slower: usize,
}

/// A histogram of ascending times, at most `width` bins. Rare slow launches are counted rather
/// than drawn, so that they do not press the others into one bin. `None` for equal times.
pub fn histogram(sorted: &[f64], width: usize, style: &Style) -> Option<Histogram> {
    let (&from, &slowest) = (sorted.first()?, sorted.last()?);
    let body = stats::percentile(sorted, 0.9)?;
    let to = slowest.min(from + 2.0 * (body - from));
    if to <= from {
        return None;
    }
    let bins = ((3.0 * (sorted.len() as f64).sqrt()) as usize).clamp(12, 48).min(width.max(1));
    let mut counts = vec![0_usize; bins];
    let drawn = sorted.iter().take_while(|time| **time <= to);
    for time in drawn {
        let bin = ((time - from) / (to - from) * bins as f64) as usize;
        counts[bin.min(bins - 1)] += 1;
    }
    let tallest = counts.iter().copied().max().unwrap_or(0).max(1);
    let marks = if style.unicode { BLOCKS } else { ASCII };
    // Anything seen at all gets the lowest bar.
    let bar = |count: &usize| marks[(count * 8).div_ceil(tallest)];
    let slower = sorted.len() - counts.iter().sum::<usize>();
    Some(Histogram { bars: counts.iter().map(bar).collect(), from_us: from, to_us: to, slower })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STYLE: Style = Style { color: false, width: 80, unicode: false };

    #[test]
    fn every_launch_is_drawn_or_counted() {
        let mut times: Vec<f64> = (0..90).map(|i| 100.0 + f64::from(i % 10)).collect();
        times.extend([500.0, 900.0]);
        times.sort_by(f64::total_cmp);
        let found = histogram(&times, 40, &STYLE).unwrap();
        assert_eq!((found.slower, found.from_us, found.bars.len()), (2, 100.0, 28));
        assert!(found.to_us < 130.0);
        assert!(found.bars.starts_with('@') && found.bars.ends_with(' '), "{:?}", found.bars);
    }

    #[test]
    fn equal_times_have_no_shape() {
        assert!(histogram(&[5.0; 10], 40, &STYLE).is_none());
        assert!(histogram(&[], 40, &STYLE).is_none());
    }
}

//! Lists of sizes, as they are written: 0,64,128 or 0..1024:8 or 16..1024*2.

/// More would be a mistake in the step.
const MOST_SIZES: usize = 1000;

/// What is wrong with a list of sizes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SizesError {
    /// Neither a number nor a range.
    #[error(
        "'{0}' is not a size; write numbers and ranges separated by commas: 0,64,128 or 0..1024:8 \
         (8 equal steps) or 16..1024*2 (each twice the previous one)"
    )]
    Word(String),
    /// A range that goes nowhere.
    #[error("'{range}' is empty: {why}")]
    Range {
        /// As it was written.
        range: String,
        /// What would be right.
        why: &'static str,
    },
    /// A range with far too many sizes.
    #[error("'{0}' has more than {MOST_SIZES} sizes; take larger steps")]
    TooMany(String),
}

/// Reads `0,64,128`, `0..1024:8` (8 equal steps, both ends included), `16..1024*2` (each twice
/// the one before, and the end), and lists of these. Sorted, each size once.
///
/// # Errors
/// Where a word is neither; the message shows what would be right.
pub fn parse_sizes(text: &str) -> Result<Vec<u64>, SizesError> {
    let mut sizes = Vec::new();
    for word in text.split(',').map(str::trim) {
        match word.split_once("..") {
            None => sizes.push(number(word, word)?),
            Some((first, rest)) => range(word, number(first, word)?, rest, &mut sizes)?,
        }
        if sizes.len() > MOST_SIZES {
            return Err(SizesError::TooMany(word.to_owned()));
        }
    }
    sizes.sort_unstable();
    sizes.dedup();
    Ok(sizes)
}

fn number(text: &str, word: &str) -> Result<u64, SizesError> {
    text.trim().replace('_', "").parse().map_err(|_| SizesError::Word(word.to_owned()))
}

fn range(word: &str, first: u64, rest: &str, sizes: &mut Vec<u64>) -> Result<(), SizesError> {
    let wrong = |why| SizesError::Range { range: word.to_owned(), why };
    let upwards =
        |last| if first < last { Ok(last) } else { Err(wrong("write the smaller first")) };
    if let Some((last, factor)) = rest.split_once('*') {
        let last = upwards(number(last, word)?)?;
        let factor = factor.trim().parse::<f64>().ok().filter(|f| f.is_finite() && *f >= 1.01);
        let factor = factor.ok_or_else(|| wrong("the factor after * must be 1.01 or more"))?;
        return geometric(word, first.max(1), last, factor).map(|list| {
            sizes.extend((first == 0).then_some(0));
            sizes.extend(list);
        });
    }
    let (last, steps) = rest.split_once(':').ok_or_else(|| SizesError::Word(word.to_owned()))?;
    let (last, steps) = (upwards(number(last, word)?)?, number(steps, word)?);
    match steps {
        0 => Err(wrong("the number of steps after : must be 1 or more")),
        _ if steps >= MOST_SIZES as u64 => Err(SizesError::TooMany(word.to_owned())),
        _ => {
            let at = |step: u64| first + scaled(last - first, step, steps);
            sizes.extend((0..=steps).map(at));
            Ok(())
        }
    }
}

/// `span` · `step` ÷ `steps`, rounded, without overflow.
fn scaled(span: u64, step: u64, steps: u64) -> u64 {
    let (span, step, steps) = (u128::from(span), u128::from(step), u128::from(steps));
    ((span * step + steps / 2) / steps) as u64
}

fn geometric(word: &str, first: u64, last: u64, factor: f64) -> Result<Vec<u64>, SizesError> {
    let mut sizes = vec![first];
    let mut at = first as f64;
    loop {
        at *= factor;
        if at >= last as f64 * (1.0 - 1e-9) {
            break;
        }
        sizes.push(at.round() as u64);
        if sizes.len() > MOST_SIZES {
            return Err(SizesError::TooMany(word.to_owned()));
        }
    }
    sizes.push(last);
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges() {
        for (text, wanted) in [
            ("0,64,128", vec![0, 64, 128]),
            (" 128, 0,64 ,64", vec![0, 64, 128]),
            ("0..1024:8", vec![0, 128, 256, 384, 512, 640, 768, 896, 1024]),
            ("1..10:4", vec![1, 3, 6, 8, 10]),
            ("16..256*2", vec![16, 32, 64, 128, 256]),
            ("16..100*2,0", vec![0, 16, 32, 64, 100]),
            ("0..4*2", vec![0, 1, 2, 4]),
            ("1..3:8", vec![1, 2, 3]),
            ("1_000", vec![1000]),
            ("0..18446744073709551615:2", vec![0, 1 << 63, u64::MAX]),
        ] {
            assert_eq!(parse_sizes(text).as_deref(), Ok(&wanted[..]), "{text}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("", "is not a size"),
            ("1,,2", "is not a size"),
            ("-1", "'-1' is not a size"),
            ("1.5", "is not a size"),
            ("0..8", "is not a size"),
            ("8..0:4", "smaller first"),
            ("8..8*2", "smaller first"),
            ("0..8:0", "1 or more"),
            ("1..8*1", "1.01 or more"),
            ("1..8*x", "1.01 or more"),
            ("0..99999:99999", "larger steps"),
            ("1..18446744073709551615*1.01", "larger steps"),
            ("99999999999999999999", "is not a size"),
        ] {
            let error = parse_sizes(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}

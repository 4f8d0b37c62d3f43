//! Which variant is the best, from what was measured.

use model::{Effect, Verdict};

/// Name of the unmodified program among the variants.
pub const DEFAULT: &str = "default";

/// The name of the best: the fastest of those that are proved to be faster than the original.
/// Where one that keeps address-space layout randomization is not proved to be slower than the
/// fastest without (their intervals overlap), it is the better. [`DEFAULT`] where none is faster.
///
/// `keeps_aslr` tells it of a variant by its name.
pub fn best<'a>(effects: &'a [Effect], keeps_aslr: &dyn Fn(&str) -> bool) -> &'a str {
    let faster = || effects.iter().filter(|effect| effect.verdict == Verdict::Faster);
    let fastest = |with: bool| {
        let some = faster().filter(|effect| !with || keeps_aslr(&effect.variant));
        some.min_by(|a, b| a.ratio.total_cmp(&b.ratio))
    };
    let Some(any) = fastest(false) else { return DEFAULT };
    match fastest(true) {
        Some(safe) if safe.low <= any.high => &safe.variant,
        _ => &any.variant,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(variant: &str, [low, ratio, high]: [f64; 3], verdict: Verdict) -> Effect {
        Effect {
            baseline: DEFAULT.to_owned(),
            variant: variant.to_owned(),
            ratio,
            low,
            high,
            confidence: 0.99,
            rounds: 30,
            verdict,
            within: 1.0,
        }
    }

    #[test]
    fn the_fastest_that_is_proved_and_safe_before_fixed() {
        use Verdict::{Faster, Inconclusive, Same, Slower};
        let keeps = |name: &str| !name.ends_with("fixed");
        assert_eq!(best(&[], &keeps), DEFAULT);
        let mut effects = vec![
            effect("relr", [0.98, 1.0, 1.01], Same),
            effect("noisy", [0.2, 0.3, 1.2], Inconclusive),
            effect("worse", [1.1, 1.2, 1.3], Slower),
        ];
        assert_eq!(best(&effects, &keeps), DEFAULT);
        effects.push(effect("order", [0.8, 0.82, 0.84], Faster));
        effects.push(effect("bundle", [0.24, 0.26, 0.28], Faster));
        assert_eq!(best(&effects, &keeps), "bundle");
        effects.push(effect("as good, fixed", [0.24, 0.25, 0.27], Faster));
        assert_eq!(best(&effects, &keeps), "bundle");
        effects.push(effect("fixed", [0.1, 0.11, 0.12], Faster));
        assert_eq!(best(&effects, &keeps), "fixed");
        let fixed_alone = [effect("fixed", [0.1, 0.11, 0.12], Faster)];
        assert_eq!(best(&fixed_alone, &keeps), "fixed");
    }
}

//! What must hold for any launch times.

use model::Verdict;
use proptest::prelude::*;
use stats::{Rules, effect, summarize, width};

fn times() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(1.0_f64..1e7, 1..60)
}

fn pairs() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    let pair = (100.0_f64..1e6, 0.5_f64..2.0).prop_map(|(a, ratio)| (a, a * ratio));
    prop::collection::vec(pair, 1..60).prop_map(|pairs| pairs.into_iter().unzip())
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn order_statistics_are_in_order(times in times(), seed: u64) {
        let s = summarize(&times, seed).unwrap();
        prop_assert_eq!(s.runs as usize, times.len());
        let ascending = [s.min_us, s.p10_us, s.median_us, s.p90_us, s.max_us];
        prop_assert!(ascending.is_sorted(), "{:?}", s);
        prop_assert!([s.min_us, s.median_low_us, s.median_us, s.median_high_us, s.max_us].is_sorted(), "{:?}", s);
        prop_assert!(times.contains(&s.min_us) && times.contains(&s.max_us));
    }

    #[test]
    fn another_unit_scales_everything(times in times(), factor in 0.001_f64..1000.0) {
        let scaled: Vec<f64> = times.iter().map(|time| time * factor).collect();
        let (a, b) = (summarize(&times, 1).unwrap(), summarize(&scaled, 1).unwrap());
        prop_assert!(close(a.median_us * factor, b.median_us));
        prop_assert!(close(a.p10_us * factor, b.p10_us) && close(a.p90_us * factor, b.p90_us));
        prop_assert!(close(a.median_low_us * factor, b.median_low_us));
        prop_assert!(close(a.median_high_us * factor, b.median_high_us));
        prop_assert!((a.spread - b.spread).abs() < 1e-9);
    }

    /// A machine that is twice as slow in every round changes no ratio.
    #[test]
    fn a_slower_machine_changes_no_ratio((a, b) in pairs(), factor in 0.01_f64..100.0) {
        let scale = |times: &[f64]| -> Vec<f64> { times.iter().map(|time| time * factor).collect() };
        let one = effect(("a", &a), ("b", &b), &Rules::default(), 7).unwrap();
        let two = effect(("a", &scale(&a)), ("b", &scale(&b)), &Rules::default(), 7).unwrap();
        prop_assert!(close(one.ratio, two.ratio) && close(one.low, two.low) && close(one.high, two.high));
    }

    #[test]
    fn identical_times_are_the_same(a in times()) {
        let e = effect(("a", &a), ("b", &a), &Rules::default(), 3).unwrap();
        prop_assert_eq!((e.ratio, e.low, e.high, e.within), (1.0, 1.0, 1.0, 0.0));
        let wanted = if a.len() < 10 { Verdict::Inconclusive } else { Verdict::Same };
        prop_assert_eq!(e.verdict, wanted);
    }

    #[test]
    fn exchanging_the_two_inverts((a, b) in pairs(), seed: u64) {
        let there = effect(("a", &a), ("b", &b), &Rules::default(), seed).unwrap();
        let back = effect(("b", &b), ("a", &a), &Rules::default(), seed).unwrap();
        prop_assert!(close(there.ratio, 1.0 / back.ratio));
        // Seeds are the same but ranks are reversed, so the resampled ends mirror each other.
        prop_assert!(close(there.low, 1.0 / back.high) && close(there.high, 1.0 / back.low));
        prop_assert!(close(there.within, back.within));
        if width(&there).is_finite() {
            prop_assert!(close(width(&there), width(&back)));
        }
        let turned = match back.verdict {
            Verdict::Faster => Verdict::Slower,
            Verdict::Slower => Verdict::Faster,
            other => other,
        };
        prop_assert_eq!(there.verdict, turned);
    }

    #[test]
    fn a_constant_ratio_is_found_exactly(a in prop::collection::vec(1.0_f64..1e7, 10..60), ratio in 0.3_f64..3.0) {
        let b: Vec<f64> = a.iter().map(|time| time * ratio).collect();
        let e = effect(("a", &a), ("b", &b), &Rules::default(), 3).unwrap();
        prop_assert!(close(e.ratio, ratio) && close(e.low, ratio) && close(e.high, ratio));
        let wanted = match ratio {
            r if r > 1.0101 => Verdict::Slower,
            r if r < 0.99 => Verdict::Faster,
            _ => Verdict::Same,
        };
        if (ratio.ln().abs() - 1.01_f64.ln()).abs() > 1e-3 {
            prop_assert_eq!(e.verdict, wanted);
        }
    }

    #[test]
    fn nothing_panics(a in prop::collection::vec(prop::num::f64::ANY, 0..40), b in prop::collection::vec(prop::num::f64::ANY, 0..40)) {
        summarize(&a, 1);
        if let Some(e) = effect(("a", &a), ("b", &b), &Rules::default(), 1) {
            prop_assert!(e.rounds as usize <= a.len().min(b.len()));
        }
    }
}

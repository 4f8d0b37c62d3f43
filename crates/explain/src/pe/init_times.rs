//! How long the initializers of DLLs take themselves.

use model::DebuggedDll;

/// Of each DLL, from the call of its initializer until that returned, without those of others that were called and
/// returned meanwhile; `None` where the call or the return was not seen. `at_us` translates times.
pub(super) fn own_times(dlls: &[DebuggedDll], at_us: impl Fn(f64) -> f64) -> Vec<Option<f64>> {
    let span = |dll: &DebuggedDll| Some((dll.initialized_us?, dll.returned_us?));
    let mut spans: Vec<(usize, (f64, f64))> =
        dlls.iter().enumerate().filter_map(|(place, dll)| Some((place, span(dll)?))).collect();
    // Who contains another begins before it, or at the same time and ends after it.
    spans.sort_by(|(_, a), (_, b)| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let mut own = vec![None; dlls.len()];
    let mut around: Vec<(usize, f64)> = Vec::new();
    for (place, (begun_us, returned_us)) in spans {
        while around.last().is_some_and(|(_, end_us)| *end_us < returned_us) {
            around.pop();
        }
        let took_us = at_us(returned_us) - at_us(begun_us);
        if let Some((outer, _)) = around.last() {
            own[*outer] = own[*outer].map(|outer: f64| outer - took_us);
        }
        own[place] = Some(took_us);
        around.push((place, returned_us));
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initializers_that_run_within_another_are_taken_out() {
        let dll = |initialized_us, returned_us| DebuggedDll {
            path: String::new(),
            base: 0,
            loaded_us: 0.0,
            initialized_us,
            returned_us,
        };
        let dlls = [
            dll(Some(10.0), Some(100.0)),
            // Within the first, and in it a third.
            dll(Some(20.0), Some(60.0)),
            dll(Some(30.0), Some(40.0)),
            dll(Some(70.0), Some(75.0)),
            // Behind them; one that did not return, and one without an initializer.
            dll(Some(110.0), Some(111.0)),
            dll(Some(120.0), None),
            dll(None, None),
        ];
        let expected = [Some(45.0), Some(30.0), Some(10.0), Some(5.0), Some(1.0), None, None];
        assert_eq!(own_times(&dlls, |at_us| at_us), expected);
        assert_eq!(own_times(&dlls, |at_us| at_us * 2.0)[0], Some(90.0));
    }
}

//! From the launches of a run to its results.

use crate::counters::{endings, lower_median, reading, time_reading};
use crate::{effect, summarize};
use model::{
    ColdSummary, Effect, Experiment, Launch, RESULTS_SCHEMA, Reading, Results, Rules, Sample,
    Variant, VariantId, VariantResult,
};
use std::collections::BTreeMap;

/// What a run's launches say: summaries per variant and effects against the first variant.
///
/// Warm-up rounds are left out. Effects use complete rounds only, those in which every variant
/// was launched; summaries use every counted launch. `Results::run` is left to the caller.
pub fn results(experiment: &Experiment, samples: &[Sample], rules: &Rules) -> Results {
    let mut notes = Vec::new();
    let by_variant = by_variant(experiment, samples);
    let mut variants = Vec::new();
    for (index, (variant, launches)) in experiment.variants.iter().zip(&by_variant).enumerate() {
        let all = samples.iter().filter(|sample| sample.variant == VariantId::at(index));
        let private_kib = private_kib(all);
        match variant_result(variant, launches, private_kib, experiment.schedule.seed) {
            Some(result) => {
                notes.extend(missing_counters(&result));
                variants.push(result);
            }
            None => notes.push(format!("{}: there was no counted launch.", variant.name)),
        }
    }
    let (effects, incomplete) = effects(experiment, &by_variant, rules);
    if incomplete > 0 {
        let rounds = if incomplete == 1 { "1 round" } else { &format!("{incomplete} rounds") };
        notes.push(format!(
            "{rounds} without a launch of every variant: excluded from \
             comparisons."
        ));
    }
    Results {
        schema: RESULTS_SCHEMA,
        headstart: experiment.headstart.clone(),
        run: None,
        seed: experiment.schedule.seed,
        rules: *rules,
        variants,
        effects,
        notes,
        unit: None,
    }
}

/// Times of the counted launches of every variant, in order of rounds.
pub fn times(experiment: &Experiment, samples: &[Sample]) -> Vec<Vec<f64>> {
    let times = |launches: &Vec<Sample>| launches.iter().map(|s| s.launch.total_us).collect();
    by_variant(experiment, samples).iter().map(times).collect()
}

/// Counted launches of every variant, in order of rounds. A round that was launched again, after
/// a run was resumed, counts once: the later one.
fn by_variant(experiment: &Experiment, samples: &[Sample]) -> Vec<Vec<Sample>> {
    let mut rounds = vec![BTreeMap::new(); experiment.variants.len()];
    for sample in samples.iter().filter(|sample| !sample.is_warm_up()) {
        rounds[sample.variant.index()].insert(sample.round, sample.clone());
    }
    rounds.into_iter().map(|rounds| rounds.into_values().collect()).collect()
}

fn variant_result(
    variant: &Variant,
    launches: &[Sample],
    private_kib: Reading<u64>,
    seed: u64,
) -> Option<VariantResult> {
    let times_us: Vec<f64> = launches.iter().map(|sample| sample.launch.total_us).collect();
    let launched = || launches.iter().map(|sample| &sample.launch);
    let left = launches.iter().filter(|sample| sample.launch.left_running > 0).count();
    Some(VariantResult {
        name: variant.name.clone(),
        command: variant.command.line(),
        title: variant.title.clone(),
        parameters: variant.parameters.clone(),
        unused: variant.unused.clone(),
        summary: summarize(&times_us, seed)?,
        private_kib,
        peak_rss_kib: reading(launched().map(|launch| &launch.peak_rss_kib)),
        minor_faults: reading(launched().map(|launch| &launch.minor_faults)),
        major_faults: reading(launched().map(|launch| &launch.major_faults)),
        read_bytes: reading(launched().map(|launch| &launch.read_bytes)),
        user_us: time_reading(launched().map(|launch| launch.user_us.clone())),
        system_us: time_reading(launched().map(|launch| launch.system_us.clone())),
        cpu_us: time_reading(launched().map(Launch::cpu_us)),
        endings: endings(launched().map(|launch| launch.ending)),
        left_running: u32::try_from(left).unwrap_or(u32::MAX),
        cold: cold(launches),
        times_us,
        samples: launches.to_vec(),
    })
}

/// What the launches tell that were looked at, counted ones if there are any: where a program is
/// measured to its end, that is one warm-up launch.
fn private_kib<'a>(samples: impl Iterator<Item = &'a Sample>) -> Reading<u64> {
    let looked = samples.filter(|sample| sample.launch.private_kib.is_some());
    let (warm_up, counted): (Vec<&Sample>, Vec<&Sample>) =
        looked.partition(|sample| sample.is_warm_up());
    let best = if counted.is_empty() { warm_up } else { counted };
    if best.is_empty() {
        return Reading::unavailable(
            "no launch was made in which it could be read",
            "measure anew, with a warm-up round",
        );
    }
    reading(best.into_iter().filter_map(|sample| sample.launch.private_kib.as_ref()))
}

fn cold(launches: &[Sample]) -> Option<ColdSummary> {
    let checks: Vec<_> = launches.iter().filter_map(|sample| sample.cold.as_ref()).collect();
    let first = checks.first()?;
    Some(ColdSummary {
        state: first.state,
        launches: u32::try_from(checks.len()).unwrap_or(u32::MAX),
        files: lower_median(checks.iter().map(|check| check.files).collect())?,
        total_pages: lower_median(checks.iter().map(|check| check.total_pages).collect())?,
        resident_pages: reading(checks.iter().map(|check| &check.resident_pages)),
    })
}

/// Whether one counter of a launch is known.
type Known = fn(&Launch) -> bool;

/// A sentence for every counter that some launches have and others lack.
fn missing_counters(result: &VariantResult) -> Vec<String> {
    let counters: [(&str, Known); 5] = [
        ("peak memory", |launch| launch.peak_rss_kib.value().is_some()),
        ("CPU time", |launch| launch.cpu_us().value().is_some()),
        ("minor faults", |launch| launch.minor_faults.value().is_some()),
        ("major faults", |launch| launch.major_faults.value().is_some()),
        ("bytes read", |launch| launch.read_bytes.value().is_some()),
    ];
    let all = result.samples.len();
    let count = |known: Known| result.samples.iter().filter(|sample| known(&sample.launch)).count();
    let partly = counters.into_iter().map(|(name, known)| (name, count(known)));
    partly
        .filter(|&(_, known)| known > 0 && known < all)
        .map(|(name, known)| {
            format!("{}: {name} known for {known} of {all} launches.", result.name)
        })
        .collect()
}

/// Effects against the first variant, and how many rounds were incomplete.
fn effects(
    experiment: &Experiment,
    by_variant: &[Vec<Sample>],
    rules: &Rules,
) -> (Vec<Effect>, usize) {
    let mut rounds: BTreeMap<i32, BTreeMap<VariantId, f64>> = BTreeMap::new();
    for sample in by_variant.iter().flatten() {
        rounds.entry(sample.round).or_default().insert(sample.variant, sample.launch.total_us);
    }
    let all = rounds.len();
    rounds.retain(|_, times| times.len() == by_variant.len());
    let incomplete = if by_variant.len() > 1 { all - rounds.len() } else { 0 };
    let times = |index: usize| -> Vec<f64> {
        rounds.values().filter_map(|times| times.get(&VariantId::at(index)).copied()).collect()
    };
    let name = |index: usize| experiment.variants[index].name.as_str();
    let seed = experiment.schedule.seed;
    let against_first = (1..by_variant.len()).filter_map(|index| {
        effect((name(0), &times(0)), (name(index), &times(index)), rules, seed)
    });
    (against_first.collect(), incomplete)
}

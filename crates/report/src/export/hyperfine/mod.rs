//! The formats of hyperfine 1.20, so that scripts made for it go on working.
//!
//! Means and standard deviations exist here only, because those scripts need them: headstart itself
//! draws no conclusion from a mean.

mod markup;

use super::csv::quoted;
pub use markup::{Markup, markup};
use model::{Launch, Reading, Results, Sample, VariantResult};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The JSON of `hyperfine --export-json` (1.15 to 1.20). Times are in seconds.
///
/// # Errors
/// Where the text cannot be written, which plain figures and strings do not cause.
pub fn json(results: &Results) -> Result<String, serde_json::Error> {
    let results = results.variants.iter().map(entry).collect();
    Ok(serde_json::to_string_pretty(&File { results })? + "\n")
}

/// The table of `hyperfine --export-csv`. Times are in seconds.
pub fn csv(results: &Results) -> String {
    let entries: Vec<Entry<'_>> = results.variants.iter().map(entry).collect();
    let mut head: Vec<String> =
        ["command", "mean", "stddev", "median", "user", "system", "min", "max"]
            .map(str::to_owned)
            .to_vec();
    // A reference has none.
    let parameters: BTreeSet<&String> =
        entries.iter().flat_map(|entry| entry.parameters.keys()).collect();
    head.extend(parameters.iter().map(|name| quoted(&format!("parameter_{name}"))));
    let row = |entry: &Entry<'_>| {
        let mut fields = vec![quoted(entry.command)];
        let deviation = entry.stddev.unwrap_or(0.0);
        let times = [entry.mean, deviation, entry.median].map(Some);
        let times = times.into_iter().chain([entry.user, entry.system]);
        let times = times.chain([entry.min, entry.max].map(Some));
        let shown = |time: Option<f64>| time.map_or_else(String::new, |time| time.to_string());
        fields.extend(times.map(shown));
        let value =
            |name: &&String| entry.parameters.get(*name).map_or(String::new(), |it| quoted(it));
        fields.extend(parameters.iter().map(value));
        fields.join(",") + "\n"
    };
    head.join(",") + "\n" + &entries.iter().map(row).collect::<String>()
}

/// The mean time of a variant, by which `--sort mean-time` sorts.
pub fn mean_us(variant: &VariantResult) -> f64 {
    mean(&variant.times_us)
}

#[derive(Serialize)]
struct File<'a> {
    results: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    command: &'a str,
    mean: f64,
    /// `null` for a single launch, as there.
    stddev: Option<f64>,
    median: f64,
    /// `null` where no launch has it.
    user: Option<f64>,
    /// `null` like `user`.
    system: Option<f64>,
    min: f64,
    max: f64,
    times: Vec<f64>,
    /// Left out where any launch lacks it.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_usage_byte: Option<Vec<u64>>,
    /// One a launch: `null` where it did not end by itself or is not known.
    exit_codes: Vec<Option<i32>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    parameters: &'a BTreeMap<String, String>,
}

fn entry(variant: &VariantResult) -> Entry<'_> {
    let seconds = |us: f64| us / 1e6;
    let times: Vec<f64> = variant.times_us.iter().copied().map(seconds).collect();
    let launches = || variant.samples.iter().map(|sample| &sample.launch);
    let of_launches = |time: fn(&Launch) -> &Reading<f64>, median_us: &Reading<f64>| {
        let known = launches().filter_map(|launch| time(launch).get());
        match &known.map(seconds).collect::<Vec<f64>>()[..] {
            // Results that were read from JSON have no samples; the median is the best there is.
            [] => median_us.get().map(seconds),
            known => Some(mean(known)),
        }
    };
    let codes = launches().map(|launch| launch.ending.exit_code()).chain(std::iter::repeat(None));
    Entry {
        command: title(variant),
        mean: mean(&times),
        stddev: deviation(&times),
        median: seconds(variant.summary.median_us),
        user: of_launches(|launch| &launch.user_us, &variant.user_us),
        system: of_launches(|launch| &launch.system_us, &variant.system_us),
        min: seconds(variant.summary.min_us),
        max: seconds(variant.summary.max_us),
        memory_usage_byte: memory(variant),
        exit_codes: codes.take(times.len()).collect(),
        times,
        parameters: &variant.parameters,
    }
}

/// What hyperfine calls it: the name that was given, else the line as it was typed.
fn title(variant: &VariantResult) -> &str {
    variant.title.as_deref().unwrap_or(&variant.command)
}

/// Bytes at the peak of every launch.
fn memory(variant: &VariantResult) -> Option<Vec<u64>> {
    let bytes = |sample: &Sample| Some(sample.launch.peak_rss_kib.get()?.saturating_mul(1024));
    let all: Option<Vec<u64>> = variant.samples.iter().map(bytes).collect();
    all.filter(|all| !all.is_empty())
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// With n − 1 in the denominator, as hyperfine computes it.
fn deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

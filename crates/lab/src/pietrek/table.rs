//! From launches to the columns of the table.

use super::Setting;
use super::forms::{Form, words};
use super::launches::Launched;
use super::places::Place;
use model::load_table::{LOAD_TABLE_SCHEMA, LoadCell, LoadColumn, LoadRow, LoadTable};
use model::{CacheState, Reading, Results, Rules, Sample, Variant, VariantId};

/// A row for each form.
pub fn rows(forms: &[Form]) -> Vec<LoadRow> {
    let row = |form: &Form| LoadRow {
        name: form.name.to_owned(),
        about: form.about.clone(),
        counterpart: form.counterpart.map(str::to_owned),
    };
    forms.iter().map(row).collect()
}

/// The table before anything was launched.
pub fn empty(rows: Vec<LoadRow>, setting: &Setting<'_>) -> LoadTable {
    LoadTable {
        schema: LOAD_TABLE_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        run: Some(setting.folder.display().to_string()),
        workload: format!("{}, {}", words(&setting.request.workload), setting.runner.words()),
        rows,
        columns: Vec::new(),
        notes: Vec::new(),
    }
}

/// Adds a column for each place.
pub fn add(
    table: &mut LoadTable,
    state: CacheState,
    places: &[&Place],
    forms: &[Form],
    launched: &Launched,
) {
    for (index, place) in places.iter().enumerate() {
        let first = index * forms.len();
        let results = of_place(launched, first, forms.len());
        let variants = launched.experiment.variants.iter().skip(first).take(forms.len());
        let cells = variants.map(|variant| cell(&results, variant));
        let cache = results.variants.first().and_then(|variant| variant.cold.as_ref());
        let cache = cache.map_or(state, |cold| cold.state);
        let name = place.name.clone();
        table.columns.push(LoadColumn { name, cache: Some(cache), cells: cells.collect() });
    }
    table.notes.extend(launched.notes.iter().cloned());
}

/// What the launches of one place say: its first form is the baseline.
fn of_place(launched: &Launched, first: usize, count: usize) -> Results {
    let mut experiment = launched.experiment.clone();
    experiment.variants = experiment.variants.into_iter().skip(first).take(count).collect();
    let own = |sample: &Sample| {
        let index = sample.variant.index().checked_sub(first).filter(|index| *index < count)?;
        Some(Sample { variant: VariantId::at(index), ..sample.clone() })
    };
    let samples: Vec<Sample> = launched.samples.iter().filter_map(own).collect();
    stats::results(&experiment, &samples, &Rules::default())
}

fn cell(results: &Results, variant: &Variant) -> Reading<LoadCell> {
    let Some(found) = results.variants.iter().find(|result| result.name == variant.name) else {
        return Reading::unavailable("it was not launched in the time given", "allow more time");
    };
    let effect = results.effects.iter().find(|effect| effect.variant == variant.name);
    Reading::Value(LoadCell {
        fastest_us: found.summary.min_us,
        median_us: Some(found.summary.median_us),
        improvement: effect.map(|effect| 1.0 - effect.ratio),
        effect: effect.cloned(),
    })
}

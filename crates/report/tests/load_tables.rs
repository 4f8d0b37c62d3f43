//! Golden views of load-time tables. Look at the snapshots before accepting a change.

mod data;

use data::{ASCII, PLAIN, RICH};
use insta::assert_snapshot;
use model::load_table::{LOAD_TABLE_SCHEMA, LoadCell, LoadColumn, LoadRow, LoadTable};
use model::{CacheState, Effect, Reading, Verdict};
use report::load_table::{charts, csv, markdown, view};
use report::style::Style;

fn row(name: &str, about: &str, counterpart: Option<&str>) -> LoadRow {
    let counterpart = counterpart.map(str::to_owned);
    LoadRow { name: name.to_owned(), about: about.to_owned(), counterpart }
}

fn effect(ratio: f64, verdict: Verdict) -> Effect {
    Effect {
        baseline: "default".to_owned(),
        variant: "other".to_owned(),
        ratio,
        low: ratio - 0.01,
        high: ratio + 0.01,
        confidence: 0.99,
        rounds: 100,
        verdict,
        within: (ratio - 1.0).abs() + 0.01,
    }
}

/// A first row of `us`, and others by ratio and verdict.
fn cells(us: f64, others: &[(f64, Verdict)]) -> Vec<Reading<LoadCell>> {
    let cell = |ratio: f64, effect: Option<Effect>| {
        Reading::Value(LoadCell {
            fastest_us: us * ratio,
            median_us: Some(us * ratio * 1.05),
            improvement: effect.as_ref().map(|effect| 1.0 - effect.ratio),
            effect,
        })
    };
    let others = others.iter().map(|&(ratio, verdict)| cell(ratio, Some(effect(ratio, verdict))));
    [cell(1.0, None)].into_iter().chain(others).collect()
}

fn column(name: &str, cache: CacheState, cells: Vec<Reading<LoadCell>>) -> LoadColumn {
    LoadColumn { name: name.to_owned(), cache: Some(cache), cells }
}

fn table() -> LoadTable {
    use Verdict::{Faster, Inconclusive, Same, Slower};
    let warm = [(0.9, Faster), (1.003, Same), (0.98, Inconclusive)];
    let cold = [(0.75, Faster), (1.12, Slower), (0.41, Faster)];
    let figures = |fastest_us: f64, improvement| {
        Reading::Value(LoadCell { fastest_us, median_us: None, improvement, effect: None })
    };
    let published = vec![
        figures(120_000.0, None),
        figures(100_000.0, Some(1.0 / 6.0)),
        Reading::unavailable("it has no such row", ""),
        Reading::unavailable("it has no such row", ""),
    ];
    LoadTable {
        schema: LOAD_TABLE_SCHEMA,
        headstart: "0.1.0".to_owned(),
        run: None,
        workload: "10 libraries of 100 functions with 5 globals each, ELF".to_owned(),
        rows: vec![
            row("default", "5000 relocations, 1000 imports bound at start", Some("default")),
            row("no relocations", "what a preferred base would save", Some("based")),
            row("lazy, bound eagerly", "the same program with LD_BIND_NOW=1", None),
            row("no libraries", "the loader alone: no form can be faster", None),
        ],
        columns: vec![
            column("ext4", CacheState::Warm, cells(812.3, &warm)),
            column("overlay", CacheState::Warm, cells(799.1, &warm)),
            column("btrfs /mnt/<compressed> & more", CacheState::Warm, cells(1_016.0, &warm)),
            column("ext4", CacheState::ColdDropped, cells(3_412.0, &cold)),
            LoadColumn { name: "published".to_owned(), cache: None, cells: published },
        ],
        notes: vec!["tmpfs: its files never leave memory, so none is cold.".to_owned()],
    }
}

#[test]
fn views() {
    assert_snapshot!("load_table", view(&table(), &PLAIN));
    assert_snapshot!("load_table_ascii", view(&table(), &ASCII));
    assert_snapshot!("load_table_color", view(&table(), &RICH));
    assert_snapshot!("load_table_40", view(&table(), &Style { width: 40, ..PLAIN }));
    assert_snapshot!("load_table_markdown", markdown(&table()));
    assert_snapshot!("load_table_csv", csv(&table()));
    for line in view(&table(), &PLAIN).lines() {
        assert!(report::text::columns(line) <= 80, "too wide: {line}");
    }
    assert!(view(&table(), &ASCII).is_ascii());
}

#[test]
fn bars() {
    let charts = charts(&table());
    let names: Vec<&str> = charts.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["warm", "cold", "elsewhere"]);
    assert_snapshot!("load_table_bars", charts[0].1);
    for (name, drawn) in &charts {
        for word in ["<script", "href", "url(", "@import", "NaN", "inf"] {
            assert!(!drawn.contains(word), "{word} in {name}: {drawn}");
        }
    }
    let nothing = LoadTable { columns: Vec::new(), ..table() };
    assert!(report::load_table::charts(&nothing).is_empty());
    assert!(view(&nothing, &PLAIN).contains("no libraries"));
}

//! Golden views of optimized programs. Look at the snapshots before accepting a change.

mod data;

use data::{ASCII, PLAIN, RICH, WORDS, fits};
use insta::assert_snapshot;
use model::Verdict;
use model::optimization::{
    OPTIMIZATION_SCHEMA, OptimizationReport, ProgramReport, VariantFigures, VariantReport,
    VariantState,
};
use report::style::Style;

fn view(found: &OptimizationReport, style: &Style) -> String {
    report::optimize::view(found, &WORDS, style)
}

fn figures(ratio: f64, verdict: Verdict) -> VariantFigures {
    VariantFigures {
        min_us: Some(44_000.0 * ratio),
        median_us: Some(46_200.0 * ratio),
        ratio: Some(ratio),
        low: Some(ratio * 0.98),
        high: Some(ratio * 1.015),
        verdict: Some(verdict),
        rounds: Some(30),
        minor_faults: Some((3_007.0 * ratio) as u64),
        private_kib: Some((7_600.0 * ratio) as u64),
        peak_rss_kib: Some((52_300.0 * ratio) as u64),
    }
}

fn variant(name: &str, state: VariantState, reason: Option<&str>) -> VariantReport {
    VariantReport {
        name: name.to_owned(),
        program: None,
        keeps_aslr: !name.contains("no-pie") && !name.contains("fixed"),
        verified: matches!(state, VariantState::Baseline | VariantState::Verified),
        state,
        reason: reason.map(str::to_owned),
        warm: VariantFigures::default(),
        cold: None,
        checked_at_start: None,
        notes: Vec::new(),
    }
}

fn measured(name: &str, ratio: f64, verdict: Verdict) -> VariantReport {
    let state = if name == "default" { VariantState::Baseline } else { VariantState::Verified };
    VariantReport { warm: figures(ratio, verdict), ..variant(name, state, None) }
}

fn found(variants: Vec<VariantReport>, best: &str, out: Option<&str>) -> OptimizationReport {
    OptimizationReport {
        schema: OPTIMIZATION_SCHEMA,
        headstart: "0.1.0".to_owned(),
        command: "inkscape --version".to_owned(),
        program: "/usr/bin/inkscape".to_owned(),
        confidence: 0.99,
        variants,
        best: best.to_owned(),
        out: out.map(str::to_owned),
        programs: Vec::new(),
        notes: Vec::new(),
    }
}

fn inkscape() -> OptimizationReport {
    let mut bundle = measured("bundle", 0.25, Verdict::Faster);
    bundle.notes.push("libgtk-3.so.0 stays outside: it is opened by its path.".to_owned());
    let mut unknown = measured("selfbind + order", 0.67, Verdict::Faster);
    unknown.warm.peak_rss_kib = None;
    let crashed = "it was killed by signal 11, but the original ended with exit code 0; it wrote:\n  \
                   | Gtk-ERROR: a type is registered twice, and this line goes on and on and on";
    let variants = vec![
        measured("default", 1.0, Verdict::Same),
        measured("order", 0.86, Verdict::Faster),
        unknown,
        measured("relr", 1.001, Verdict::Same),
        variant("no-pie + order", VariantState::Failed, Some(crashed)),
        variant(
            "order-needed",
            VariantState::Declined,
            Some("libinkscape_base.so has no SONAME; give it one: patchelf --set-soname"),
        ),
        bundle,
        variant(
            "bundle --fixed",
            VariantState::NotTried,
            Some("every launch would have the same addresses; admit it with --allow no-aslr"),
        ),
    ];
    let mut found = found(variants, "bundle", Some("/home/me/inkscape-fast"));
    found.notes.push("What it writes to stderr differs from launch to launch.".to_owned());
    found
}

#[test]
fn views() {
    assert_snapshot!("optimization", fits(&view(&inkscape(), &PLAIN)));
    assert_snapshot!("optimization_color", view(&inkscape(), &RICH));
    assert_snapshot!("optimization_ascii", fits(&view(&inkscape(), &ASCII)));
    assert_snapshot!("optimization_110", view(&inkscape(), &Style { width: 110, ..PLAIN }));
    assert_snapshot!("optimization_40", view(&inkscape(), &Style { width: 40, ..PLAIN }));
    assert!(view(&inkscape(), &ASCII).is_ascii());
}

#[test]
fn a_copy_of_a_program_at_fixed_addresses_is_at_fixed_addresses() {
    let state = VariantState::Baseline;
    let original =
        VariantReport { keeps_aslr: false, state, ..measured("default", 1.0, Verdict::Same) };
    let found = found(vec![original, measured("relr", 0.9, Verdict::Faster)], "relr", None);
    let text = view(&found, &PLAIN);
    let rows =
        text.lines().filter(|line| line.starts_with("  default ") || line.starts_with("  relr "));
    let told: Vec<&str> = rows.filter_map(|row| row.split_whitespace().last()).collect();
    assert!(told.contains(&"no") && !told.contains(&"yes"), "{text}");
}

#[test]
fn nothing_better() {
    let alone = || vec![measured("default", 1.0, Verdict::Same)];
    assert_snapshot!("optimization_none", fits(&view(&found(alone(), "default", None), &PLAIN)));
    let mut two = alone();
    two.push(measured("relr", 1.001, Verdict::Same));
    let mut few = found(two.clone(), "default", None);
    few.variants.iter_mut().for_each(|variant| variant.warm.rounds = Some(9));
    assert!(view(&few, &PLAIN).contains("as it is: at least 10 rounds are needed"));
    let left = found(two, "default", Some("/tmp/out"));
    assert_snapshot!("optimization_same", fits(&view(&left, &PLAIN)));
}

#[test]
fn cold_figures_have_a_table_of_their_own() {
    let cold = |mut variant: VariantReport, ratio: f64| {
        let mut figures = figures(ratio, Verdict::Faster);
        figures.median_us = figures.median_us.map(|us| us * 12.0);
        figures.min_us = figures.min_us.map(|us| us * 12.0);
        variant.cold = Some(figures);
        variant
    };
    let variants = vec![
        cold(measured("default", 1.0, Verdict::Same), 1.0),
        cold(measured("bundle", 0.25, Verdict::Faster), 0.56),
        variant("relr", VariantState::Declined, Some("there is nothing to pack")),
    ];
    assert_snapshot!("optimization_cold", fits(&view(&found(variants, "bundle", None), &PLAIN)));
}

/// The best may be as fast as the original warm, and faster cold.
#[test]
fn the_best_of_cold_launches_is_not_the_original() {
    let cold =
        |variant, ratio, verdict| VariantReport { cold: Some(figures(ratio, verdict)), ..variant };
    let variants = vec![
        cold(measured("default", 1.0, Verdict::Same), 1.0, Verdict::Same),
        cold(measured("relr", 1.0, Verdict::Same), 0.8, Verdict::Faster),
    ];
    let text = view(&found(variants, "relr", None), &PLAIN);
    assert!(text.starts_with("relr and default: no difference larger than"), "{text}");
    assert!(text.contains("\nCold: relr is 20.0 % faster than default"), "{text}");
    assert!(!text.contains("left as it is"), "{text}");
}

/// A program of a launch, without a best variant.
fn program(path: &str, share: f64, starts: u32, reason: &str) -> ProgramReport {
    ProgramReport {
        path: path.to_owned(),
        share: Some(share),
        loading_share: Some(share / 3.0),
        starts: Some(starts),
        reason: Some(reason.to_owned()),
        ..ProgramReport::default()
    }
}

/// As the best variant of it was found to be.
fn with_best(program: ProgramReport, ratio: f64) -> ProgramReport {
    let figures = figures(ratio, Verdict::Faster);
    let (ratio, low, high) = (figures.ratio, figures.low, figures.high);
    let best = Some("bundle".to_owned());
    ProgramReport { best, ratio, low, high, reason: None, ..program }
}

/// A launch of a script whose last program takes the time.
fn script() -> OptimizationReport {
    let browser = "/usr/lib/chromium/chromium";
    let bundle = measured("bundle (chromium)", 0.55, Verdict::Faster);
    let variants = vec![
        measured("default", 1.0, Verdict::Same),
        VariantReport { program: Some(browser.to_owned()), ..bundle },
    ];
    let mut found = found(variants, "bundle (chromium)", None);
    "/usr/bin/chromium".clone_into(&mut found.program);
    let mut takes_most = with_best(program(browser, 0.655, 1, ""), 0.55);
    takes_most.environment.push(("LD_LIBRARY_PATH".to_owned(), "/usr/lib/chromium".to_owned()));
    let mut looked_up = with_best(program("/usr/bin/findmnt", 0.12, 1, ""), 0.96);
    looked_up.variable = Some("PATH".to_owned());
    found.programs = vec![
        takes_most,
        looked_up,
        program("/usr/bin/grep", 0.05, 12, "not measurably faster"),
        program("/usr/bin/true", 0.004, 100, "its share of the launch is below 2.0 %"),
        program("/usr/bin/rm", 0.003, 2, "its share of the launch is below 2.0 %"),
    ];
    found
}

#[test]
fn programs_of_a_launch() {
    assert_snapshot!("optimization_script", fits(&view(&script(), &PLAIN)));
    assert_snapshot!("optimization_script_40", view(&script(), &Style { width: 40, ..PLAIN }));
    let mut driver = script();
    driver.programs.push(with_best(program("/usr/bin/inkscape", 0.1, 1, ""), 0.9));
    "/usr/bin/inkscape".clone_into(&mut driver.program);
    driver.variants.push(measured("relr", 0.9, Verdict::Faster));
    "relr".clone_into(&mut driver.best);
    assert_snapshot!("optimization_driver", fits(&view(&driver, &PLAIN)));
}

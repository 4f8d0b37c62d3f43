//! Golden views and charts of sweeps. Look at the snapshots before accepting a change.

mod data;

use data::{ASCII, PLAIN, RICH, fits};
use insta::assert_snapshot;
use model::Reading;
use model::growth::{Cost, Creation, Point, Quantile, SCALE_SCHEMA, Scale, Unit};
use report::chart::{Chart, svg};
use report::scale::view;
use report::style::Style;

fn scale(workload: &str, unit: Unit, points: Vec<Point>) -> Scale {
    let fit = match stats::growth::fit(&points) {
        Ok(fit) => Reading::Value(fit),
        Err(error) => Reading::unavailable(error.to_string(), ""),
    };
    Scale {
        schema: SCALE_SCHEMA,
        headstart: "0.1.0".to_owned(),
        workload: workload.to_owned(),
        parameter: "libraries".to_owned(),
        unit,
        quantile: (unit == Unit::Us).then_some(Quantile::Median),
        points,
        fit,
        created: None,
        notes: Vec::new(),
    }
}

fn timed(&(n, us): &(u64, f64)) -> Point {
    let spread = 0.015 + 0.04 * ((n % 7) as f64 / 7.0);
    let cost = Cost::Time {
        median_us: us,
        quantile_us: us,
        min_us: us * (1.0 - 0.9 * spread),
        low_us: us * (1.0 - 0.6 * spread),
        high_us: us * (1.0 + spread),
        samples: 15,
    };
    Point { n, cost }
}

/// Medians of empty libraries on one machine.
fn star() -> Scale {
    let times = [
        (0, 410.0),
        (64, 1_340.0),
        (128, 2_560.0),
        (256, 6_120.0),
        (512, 16_400.0),
        (1024, 54_300.0),
        (2048, 198_000.0),
    ];
    let mut star = scale("shape star", Unit::Us, times.iter().map(timed).collect());
    star.notes.push("The machine was noisy during 3 of 105 launches.".to_owned());
    star
}

/// Instructions of ld.so 2.36 by callgrind.
fn dense() -> Scale {
    let counts =
        [(0, 45733), (64, 14938090), (128, 111404380), (256, 865271390), (512, 6826247041)];
    let points = counts.iter().map(|&(n, count)| Point::counted(n, count)).collect();
    scale("shape dense", Unit::Instructions, points)
}

/// On a machine that changed its speed.
fn unsteady() -> Scale {
    let mut scale = star();
    scale.quantile = Some(Quantile::P25);
    for point in &mut scale.points {
        if let Cost::Time { median_us, .. } = &mut point.cost {
            *median_us *= 1.31;
        }
    }
    scale
}

/// Where the host tells the creation of processes apart.
fn created() -> Scale {
    let scale = constant();
    let times = [(0, 300.0), (8, 380.0), (16, 460.0), (32, 620.0), (64, 940.0)];
    let created = self::scale("", Unit::Us, times.iter().map(timed).collect());
    let Scale { points, fit, .. } = created;
    Scale { created: Some(Creation { quantile: Quantile::P10, points, fit }), ..scale }
}

fn unclear() -> Scale {
    let times = [(0, 900.0), (10, 1800.0), (20, 700.0), (40, 2000.0), (80, 600.0)];
    scale("./program --size {n} <&>\u{1b}[31m", Unit::Us, times.iter().map(timed).collect())
}

fn refused() -> Scale {
    scale("shape star", Unit::Us, [(0, 410.0), (64, 1340.0)].iter().map(timed).collect())
}

fn constant() -> Scale {
    let times = [(0, 800.0), (8, 803.0), (16, 798.0), (32, 801.0), (64, 806.0)];
    scale("shape tls", Unit::Us, times.iter().map(timed).collect())
}

#[test]
fn views() {
    assert_snapshot!("scale", fits(&view(&star(), &PLAIN)));
    assert_snapshot!("scale_ascii", fits(&view(&star(), &ASCII)));
    assert_snapshot!("scale_color", view(&star(), &RICH));
    assert_snapshot!("scale_40", view(&star(), &Style { width: 40, ..PLAIN }));
    assert_snapshot!("scale_counted", fits(&view(&dense(), &PLAIN)));
    assert_snapshot!("scale_unsteady", fits(&view(&unsteady(), &PLAIN)));
    assert_snapshot!("scale_unclear", fits(&view(&unclear(), &PLAIN)));
    assert_snapshot!("scale_refused", fits(&view(&refused(), &PLAIN)));
    assert_snapshot!("scale_constant", fits(&view(&constant(), &PLAIN)));
    assert_snapshot!("scale_created", fits(&view(&created(), &PLAIN)));
    let markdown = report::scale::markdown(&created());
    let at = |text: &str| markdown.find(text).unwrap_or_else(|| panic!("{text}: {markdown}"));
    assert!(
        at("from the noise") < at("## Of that, CreateProcess alone")
            && at("is linear") < at("p10, the")
    );
    for scale in [star(), dense(), unclear(), refused(), constant()] {
        assert!(view(&scale, &ASCII).is_ascii());
    }
}

#[test]
fn charts() {
    assert_snapshot!("chart_star", svg(&star(), &Chart::ALL));
    assert_snapshot!("chart_dense_log", svg(&dense(), &[Chart::Logarithmic]));
}

/// Nothing is loaded, nothing runs, and no number is missing.
#[test]
fn charts_stand_alone() {
    for scale in
        [star(), dense(), unclear(), refused(), constant(), scale("none", Unit::Us, vec![])]
    {
        for chart in Chart::ALL {
            let drawn = svg(&scale, &[chart]);
            assert_eq!(drawn, svg(&scale, &[chart]));
            for word in ["<script", "href", "url(", "@import", "NaN", "inf", "\u{1b}"] {
                assert!(!drawn.contains(word), "{word} in {drawn}");
            }
            let opened = drawn.matches("<g ").count() + drawn.matches("<text ").count();
            assert_eq!(opened, drawn.matches("</g>").count() + drawn.matches("</text>").count());
        }
    }
    assert!(svg(&unclear(), &[Chart::Plain]).contains("--size {n} &lt;&amp;&gt;"));
    assert_eq!(svg(&star(), &Chart::ALL).matches("<circle").count(), 3 * 7 - 1 + 3);
}

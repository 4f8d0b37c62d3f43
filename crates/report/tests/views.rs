//! Golden views: what people see at 80 columns. Look at the snapshots before accepting a change.

mod data;

use data::{ASCII, Made, PLAIN, RICH, WORDS, fits, make_cold, run};
use insta::assert_snapshot;
use model::{Ending, Reading, Results, Throughput, Verdict};
use report::{Style, jobs_view, ticks_lines};

fn measure_view(results: &Results, style: &Style) -> String {
    report::measure_view(results, &WORDS, style)
}

fn compare_view(results: &Results, style: &Style) -> String {
    report::compare_view(results, &WORDS, style)
}

const EMACS: Made = Made {
    name: "emacs",
    argv: &["emacs", "--batch", "-Q", "--eval", "(kill-emacs)"],
    median_us: 43_050.0,
    noise: 0.04,
};

fn two(median_us: f64, noise: f64, rounds: u32) -> Results {
    let a = Made { name: "A", argv: &["./game-old", "--version"], median_us: 835.0, noise };
    let b = Made { name: "B", argv: &["./game", "--version"], median_us, noise };
    run(&[a, b], rounds, |_| {})
}

#[test]
fn one_variant() {
    let results = run(&[EMACS], 30, |_| {});
    assert_snapshot!("measure", fits(&measure_view(&results, &PLAIN)));
    assert_snapshot!("measure_ascii", fits(&measure_view(&results, &ASCII)));
    assert_snapshot!("measure_color", measure_view(&results, &RICH));
    assert!(measure_view(&results, &ASCII).is_ascii());
}

#[test]
fn unavailable_readings_and_troubles() {
    let results = run(&[Made { noise: 0.3, ..EMACS }], 100, |sample| {
        let launch = &mut sample.launch;
        launch.peak_rss_kib =
            Reading::unavailable("the kernel has no VmHWM for a dead process", "");
        launch.major_faults = Reading::unavailable(
            "perf_event_paranoid is 4 and forbids the tracepoint",
            "sysctl kernel.perf_event_paranoid=1",
        );
        launch.read_bytes = Reading::unavailable("no taskstats", "run as root");
        match sample.round {
            3 | 4 => launch.ending = Ending::Code(1),
            5 => launch.ending = Ending::Signal(11),
            6 => launch.left_running = 2,
            _ => {}
        }
    });
    assert_snapshot!("measure_unavailable", fits(&measure_view(&results, &PLAIN)));
    assert_snapshot!("measure_unavailable_color", measure_view(&results, &RICH));
}

#[test]
fn cpu_times_that_are_unavailable() {
    let made = [EMACS, Made { name: "emacs, fewer files", ..EMACS }];
    let missing = |sample: &mut model::Sample| {
        sample.launch.user_us = Reading::unavailable("this system keeps no CPU times", "");
    };
    let view = measure_view(&run(&made[..1], 30, missing), &PLAIN);
    let line = view.lines().find(|line| line.contains("CPU time")).unwrap();
    assert_eq!(line, "  CPU time unavailable   this system keeps no CPU times");
    let view = compare_view(&run(&made, 30, missing), &PLAIN);
    let reason = "\n  CPU time unavailable: this system keeps no CPU times\n";
    assert_eq!(fits(&view).matches(reason).count(), 1, "{view}");
    let rows: Vec<&str> = view.lines().filter(|line| line.contains(" – ")).collect();
    assert_eq!(rows.len(), 2, "{view}");
}

/// Programs of Windows that crash.
#[test]
fn crashes_are_failures_told_by_their_status() {
    let results = run(&[EMACS], 30, |sample| match sample.round {
        3 | 4 => sample.launch.ending = Ending::of_windows(0xc000_0135),
        5 => sample.launch.ending = Ending::of_windows(0xc000_0022),
        _ => {}
    });
    assert_eq!(results.variants[0].failed(), 3);
    let view = measure_view(&results, &Style { width: 200, ..PLAIN });
    let note = "3 of 30 launches failed: 2 with status c0000135 (a DLL was not found), 1 with \
                status c0000022.";
    assert!(view.contains(note), "{view}");
}

#[test]
fn cold_launches() {
    let results = run(&[Made { median_us: 643_050.0, ..EMACS }], 30, make_cold);
    assert_snapshot!("measure_cold", fits(&measure_view(&results, &PLAIN)));
}

#[test]
fn long_commands() {
    let argv: &[&str] = &[
        "/opt/google/chrome-unstable/chrome",
        "--headless=new",
        "--disable-gpu",
        "--user-data-dir=/tmp/profile with spaces",
        "--dump-dom",
        "https://example.org/index.html",
    ];
    let made = Made { name: "chrome", argv, median_us: 1_204_000.0, noise: 0.01 };
    let other = Made {
        name: "chrome of the nightly build with a very long name",
        argv,
        median_us: 1_104_000.0,
        noise: 0.01,
    };
    assert_snapshot!("measure_long", fits(&measure_view(&run(&[made], 30, |_| {}), &PLAIN)));
    let made = Made { name: "chrome", argv, median_us: 1_204_000.0, noise: 0.01 };
    assert_snapshot!("compare_long", fits(&compare_view(&run(&[made, other], 30, |_| {}), &PLAIN)));
}

#[test]
fn two_variants_in_each_verdict() {
    for (name, median_us, noise, rounds, verdict) in [
        ("faster", 721.4, 0.03, 100, Verdict::Faster),
        ("slower", 868.4, 0.03, 100, Verdict::Slower),
        ("much_slower", 2868.4, 0.03, 100, Verdict::Slower),
        ("same", 836.0, 0.05, 400, Verdict::Same),
        ("inconclusive", 840.0, 0.09, 30, Verdict::Inconclusive),
        ("too_few", 721.4, 0.03, 5, Verdict::Inconclusive),
    ] {
        let results = two(median_us, noise, rounds);
        assert_eq!(results.effects[0].verdict, verdict, "{name}: {:?}", results.effects);
        assert_snapshot!(format!("compare_{name}"), fits(&compare_view(&results, &PLAIN)));
        assert_snapshot!(format!("compare_{name}_color"), compare_view(&results, &RICH));
        let ascii = compare_view(&results, &ASCII);
        assert!(ascii.is_ascii(), "{ascii}");
    }
}

fn five() -> Results {
    let made = [
        ("default", 43_050.0),
        ("prelinked", 37_110.0),
        ("order file", 40_020.0),
        ("-O3", 43_100.0),
        ("asan", 143_050.0),
    ];
    let made = made.map(|(name, median_us)| Made { name, median_us, ..EMACS });
    run(&made, 100, |_| {})
}

#[test]
fn five_variants() {
    assert_snapshot!("compare_five", fits(&compare_view(&five(), &PLAIN)));
    assert_snapshot!("compare_five_ascii", fits(&compare_view(&five(), &ASCII)));
    assert_snapshot!("compare_five_color", compare_view(&five(), &RICH));
}

#[test]
fn a_cold_comparison() {
    let variants = [EMACS, Made { name: "emacs, fewer files", median_us: 33_050.0, ..EMACS }];
    assert_snapshot!("compare_cold", fits(&compare_view(&run(&variants, 30, make_cold), &PLAIN)));
}

#[test]
fn many_launchers() {
    let one = Throughput {
        jobs: 1,
        launches: 1200,
        window_us: 1e6,
        per_second: 1204.3,
        min_us: 712.4,
        p50_us: 803.1,
        p90_us: 951.9,
        p99_us: 1403.5,
        max_us: 2210.4,
    };
    let four = Throughput {
        jobs: 4,
        launches: 4000,
        per_second: 3991.2,
        p50_us: 968.3,
        p90_us: 1301.6,
        p99_us: 2951.0,
        max_us: 12_210.4,
        ..one
    };
    assert_snapshot!("jobs", fits(&jobs_view("git --version", Some(&one), &four, &PLAIN)));
    assert_snapshot!("jobs_alone", fits(&jobs_view("git --version", None, &four, &ASCII)));
    assert_snapshot!("jobs_color", jobs_view("git --version", Some(&one), &four, &RICH));
}

#[test]
fn ticks_in_the_words_of_1995() {
    let lines = ticks_lines(812.4, 1_000_000_000);
    assert_eq!(lines, "Fastest time: 812400 ticks, 0.000812 seconds\nTicks/second: 1000000000\n");
}

#[test]
fn one_launch_and_a_few() {
    assert_snapshot!("measure_once", fits(&measure_view(&run(&[EMACS], 1, |_| {}), &PLAIN)));
    let ready = run(&[EMACS], 5, |sample| sample.launch.ending = Ending::Ready);
    assert_snapshot!("measure_few_until_ready", fits(&measure_view(&ready, &PLAIN)));
    let even = run(&[Made { noise: 0.0, ..EMACS }], 10, |_| {});
    assert!(!measure_view(&even, &PLAIN).contains("launches  "), "equal times have no shape");
}

#[test]
fn a_comparison_with_missing_figures() {
    let results = run(&[EMACS, Made { name: "B", ..EMACS }], 12, |sample| {
        let launch = &mut sample.launch;
        launch.read_bytes = Reading::unavailable("this kernel keeps no I/O accounts", "");
        if sample.variant.0 == 1 {
            launch.peak_rss_kib = Reading::unavailable("smaller than the launcher", "allow ptrace");
            launch.ending = Ending::Code(1);
        }
    });
    assert_snapshot!("compare_unavailable", fits(&compare_view(&results, &PLAIN)));
}

/// A round that lacks a variant is no comparison: said, not drawn.
#[test]
fn nothing_to_compare() {
    let mut results = two(721.4, 0.03, 12);
    results.effects.clear();
    assert_snapshot!("compare_nothing", fits(&compare_view(&results, &PLAIN)));
}

#[test]
fn much_faster_is_as_clear_as_much_slower() {
    let results = two(30.2, 0.03, 100);
    assert_eq!(results.effects[0].verdict, Verdict::Faster);
    assert_snapshot!("compare_much_faster", fits(&compare_view(&results, &PLAIN)));
}

#[test]
fn narrow_and_wide_terminals() {
    for width in [40, 200] {
        let style = Style { width, ..PLAIN };
        let view = measure_view(&run(&[EMACS], 30, make_cold), &style);
        assert_snapshot!(format!("measure_{width}"), view);
        assert_snapshot!(format!("compare_{width}"), compare_view(&five(), &style));
    }
}

/// A narrow terminal shortens names and wraps sentences; nothing panics at any width.
#[test]
fn any_width_will_do() {
    let results = five();
    for width in 0..120 {
        for unicode in [false, true] {
            let style = Style { color: false, width, unicode };
            measure_view(&results, &style);
            let view = compare_view(&results, &style);
            let widest = view.lines().map(report::text::columns).max().unwrap_or(0);
            assert!(width < 40 || widest <= width, "{width}: {widest}\n{view}");
        }
    }
}

//! Golden exports, and hyperfine's own output as the measure of ours.

mod data;

use data::{Made, run};
use insta::assert_snapshot;
use model::{Reading, Results};
use report::export::hyperfine::{self, Markup, markup};
use report::export::{csv, json, markdown};
use serde_json::Value;

fn results() -> Results {
    let argv: &[&str] = &["sh", "-c", "echo \"a, b\" | tr a `true`c"];
    let a = Made { name: "odd, name", argv, median_us: 835.0, noise: 0.03 };
    let b = Made { name: "B", argv: &["true"], median_us: 721.4, noise: 0.03 };
    run(&[a, b], 12, |sample| {
        if sample.variant.0 == 1 {
            sample.launch.read_bytes = Reading::unavailable("no taskstats", "run as root");
        }
    })
}

#[test]
fn tables() {
    assert_snapshot!("csv", csv(&results()));
    assert_snapshot!("markdown", markdown(&results()));
    let one = Made { name: "B", argv: &["true"], median_us: 721.4, noise: 0.03 };
    assert_snapshot!("markdown_one", markdown(&run(&[one], 12, |_| {})));
}

#[test]
fn json_of_a_comparison() {
    assert_snapshot!("json", json(&results()).unwrap());
}

/// Keys and types of one result of hyperfine 1.15, which wrote this for `--runs 2 true`.
const THEIRS: &str = r#"{"command": "true", "mean": 0.00110, "stddev": 0.00027, "median": 0.00107,
  "user": 0.000623, "system": 0.000319, "min": 0.00085, "max": 0.00139,
  "times": [0.00139, 0.00107], "exit_codes": [0, 0]}"#;

#[test]
fn hyperfine_scripts_find_their_keys() {
    let ours: Value = serde_json::from_str(&hyperfine::json(&results()).unwrap()).unwrap();
    let theirs: Value = serde_json::from_str(THEIRS).unwrap();
    let kind = |value: &Value| match value {
        Value::Array(items) => format!("array of {}", items[0].is_number()),
        Value::Number(_) => "number".to_owned(),
        other => other.is_string().to_string(),
    };
    for entry in ours["results"].as_array().unwrap() {
        for (key, value) in theirs.as_object().unwrap() {
            assert_eq!(kind(&entry[key]), kind(value), "{key}");
        }
        let times = entry["times"].as_array().unwrap();
        let mean = times.iter().filter_map(Value::as_f64).sum::<f64>() / 12.0;
        assert!((entry["mean"].as_f64().unwrap() - mean).abs() < 1e-12);
        assert_eq!(entry["memory_usage_byte"].as_array().unwrap().len(), 12);
        assert!(entry["median"].as_f64().unwrap() < 0.001);
    }
}

/// Failures, figures that are unavailable, and three variants: every form keeps its columns.
#[test]
fn troubles_keep_their_columns() {
    let made = ["A", "B", "C"].map(|name| Made {
        name,
        argv: &["true", "x|y"],
        median_us: if name == "C" { 3.2e6 } else { 835.0 },
        noise: 0.03,
    });
    let results = run(&made, 12, |sample| {
        let launch = &mut sample.launch;
        if sample.variant.0 == 1 {
            launch.ending = model::Ending::Code(2);
            launch.private_kib = None;
            launch.peak_rss_kib = Reading::unavailable("gone", "");
            launch.minor_faults = Reading::unavailable("gone", "");
            launch.major_faults = Reading::unavailable("gone", "");
            launch.read_bytes = Reading::unavailable("gone", "");
        }
        if sample.variant.0 == 2 && sample.round == 3 {
            launch.ending = model::Ending::Signal(11);
        }
    });
    let fields: Vec<usize> = csv(&results).lines().map(|line| line.split(',').count()).collect();
    assert_eq!(fields, [21; 4]);
    assert_snapshot!("markdown_three", markdown(&results));
    let read: Results = serde_json::from_str(&json(&results).unwrap()).unwrap();
    assert_eq!(read.variants[1].endings, results.variants[1].endings);
    assert_eq!(read.variants[1].peak_rss_kib, Reading::unavailable("gone", ""));
    let ours: Value = serde_json::from_str(&hyperfine::json(&results).unwrap()).unwrap();
    assert_eq!(
        ours["results"][1]["exit_codes"],
        serde_json::json!([2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2])
    );
    assert!(ours["results"][2]["exit_codes"][3].is_null());
    assert_eq!(ours["results"][2]["exit_codes"][4], 0);
    let median = ours["results"][2]["median"].as_f64().unwrap();
    assert!((3.0..3.4).contains(&median), "seconds: {median}");
}

/// hyperfine gives the exit code of a crash on Windows with a sign.
#[test]
fn crashes_on_windows_have_exit_codes() {
    let one = Made { name: "B", argv: &["true"], median_us: 721.4, noise: 0.03 };
    let codes = [0, 3, 0xffff_ffff, 0xc000_0005];
    let results = run(&[one], 4, |sample| {
        sample.launch.ending = model::Ending::of_windows(codes[sample.round as usize]);
    });
    let ours: Value = serde_json::from_str(&hyperfine::json(&results).unwrap()).unwrap();
    assert_eq!(ours["results"][0]["exit_codes"], serde_json::json!([0, 3, -1, -1_073_741_819]));
}

/// Results read from JSON have no samples: what only those know is empty, not 0.
#[test]
fn hyperfine_without_samples() {
    let mut results = results();
    results.variants.iter_mut().for_each(|variant| variant.samples.clear());
    let ours: Value = serde_json::from_str(&hyperfine::json(&results).unwrap()).unwrap();
    let entry = &ours["results"][0];
    assert!(entry.get("memory_usage_byte").is_none());
    assert_eq!(entry["exit_codes"], Value::Array(vec![Value::Null; 12]));
    assert!(
        (entry["user"].as_f64().unwrap() * 1e6 - results.variants[0].user_us.get().unwrap()).abs()
            < 1e-6
    );
}

#[test]
fn what_hyperfine_leaves_empty_stays_empty() {
    let one = Made { name: "B", argv: &["true"], median_us: 721.4, noise: 0.03 };
    let results = run(&[one], 1, |sample| {
        sample.launch.ending = model::Ending::Signal(9);
        sample.launch.peak_rss_kib = Reading::unavailable("gone", "");
    });
    let ours: Value = serde_json::from_str(&hyperfine::json(&results).unwrap()).unwrap();
    let entry = &ours["results"][0];
    assert!(entry["stddev"].is_null() && entry["exit_codes"][0].is_null());
    assert!(entry.get("memory_usage_byte").is_none());
}

/// Without CPU times: empty fields, `null` for hyperfine, and the reason in headstart's own JSON.
#[test]
fn cpu_times_that_are_unavailable_stay_empty() {
    let one = Made { name: "B", argv: &["true"], median_us: 721.4, noise: 0.03 };
    let results = run(&[one], 12, |sample| {
        sample.launch.user_us = Reading::unavailable("no clock", "");
        sample.launch.system_us = Reading::unavailable("no clock", "");
    });
    let field = |table: &str, name: &str| {
        let lines: Vec<&str> = table.lines().collect();
        let at = lines[0].split(',').position(|head| head == name).unwrap();
        lines[1].split(',').nth(at).unwrap().to_owned()
    };
    assert_eq!(field(&csv(&results), "cpu_us"), "");
    let table = hyperfine::csv(&results);
    assert_eq!((field(&table, "user"), field(&table, "system")), Default::default());
    assert!(!field(&table, "max").is_empty(), "{table}");
    for samples in [true, false] {
        let mut results = results.clone();
        if !samples {
            results.variants[0].samples.clear();
        }
        let ours: Value = serde_json::from_str(&hyperfine::json(&results).unwrap()).unwrap();
        let entry = ours["results"][0].as_object().unwrap();
        assert_eq!((&entry["user"], &entry["system"]), (&Value::Null, &Value::Null));
    }
    let read: Results = serde_json::from_str(&json(&results).unwrap()).unwrap();
    assert_eq!(read.variants[0].cpu_us, Reading::unavailable("no clock", ""));
}

/// The columns of `hyperfine 1.20 --export-csv` and of its tables for documents.
#[test]
fn hyperfine_tables() {
    let mut results = results();
    results.variants[0].title = Some("a|b, {x}".to_owned());
    results.variants[0].parameters.insert("x".to_owned(), "1,2".to_owned());
    results.variants[0].unused.push("x".to_owned());
    let table = hyperfine::csv(&results);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "command,mean,stddev,median,user,system,min,max,parameter_x");
    assert!(lines[1].starts_with("\"a|b, {x}\",0.00"), "{table}");
    assert!(lines[1].ends_with(",\"1,2\""), "{table}");
    // A reference that comes first has no parameters.
    results.variants.swap(0, 1);
    let fields = |line: &str| line.matches(',').count();
    let table = hyperfine::csv(&results);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(fields(lines[0]), fields(lines[1]), "{table}");
    assert!(lines[0].ends_with(",parameter_x") && lines[1].ends_with(','), "{table}");
    results.variants.swap(0, 1);
    let all = [Markup::Markdown, Markup::Asciidoc, Markup::Orgmode];
    let text: String = all.iter().map(|&language| markup(&results, language) + "\n").collect();
    assert_snapshot!("hyperfine_tables", text);
    results.unit = Some(model::TimeUnit::Second);
    assert!(markup(&results, Markup::Markdown).contains("| Mean [s] | Min [s] |"));
}

//! Views of an experiment that was made with vim, with few of its reads.

use super::*;

fn found() -> OrderExperiment {
    serde_json::from_str(include_str!("experiment.json")).unwrap()
}

/// Reviewed at both widths: machines and years are named, and no table has figures of both.
#[test]
fn our_tables_stand_beside_the_published_ones() {
    for width in [80, 120] {
        let style = Style { color: false, width, unicode: true };
        let text = view(&found(), &PublishedOrder::openoffice(), Some(2), &style);
        insta::assert_snapshot!(format!("order_experiment_{width}"), text);
    }
}

#[test]
fn what_was_not_measured_is_not_shown_as_a_figure() {
    let mut found = found();
    let none = || Reading::unavailable("only root may see reads", "ask root");
    for row in &mut found.pagein {
        (row.reads, row.bytes) = (none(), none());
    }
    found.read_ahead_kib = Reading::Value(8192);
    found.file_system = Some("tmpfs".to_owned());
    let style = Style { color: false, width: 100, unicode: false };
    let text = view(&found, &PublishedOrder::openoffice(), None, &style);
    assert!(
        text.contains("Reads were not recorded: only root may see reads (ask root)."),
        "{text}"
    );
    assert!(text.contains("a read-ahead of 8,192 KiB"), "{text}");
    assert!(text.contains("nothing here is cold"), "{text}");
    assert!(text.is_ascii(), "{text}");
}

/// Three rounds tell nothing, whatever their medians are.
#[test]
fn an_inconclusive_comparison_has_no_effect() {
    let mut found = found();
    let style = Style { color: false, width: 120, unicode: true };
    let line = |found: &OrderExperiment, name: &str| {
        let text = view(found, &PublishedOrder::openoffice(), None, &style);
        let mut lines = text.lines().filter(|line| line.trim_start().starts_with(name));
        lines.next_back().unwrap().to_owned()
    };
    for name in ["cold start", "cold launch, median"] {
        assert!(line(&found, name).contains("60 %"), "{}", line(&found, name));
    }
    if let Reading::Value(effect) = &mut found.verification.cold {
        effect.verdict = model::Verdict::Inconclusive;
    }
    for name in ["cold start", "cold launch, median"] {
        let line = line(&found, name);
        assert!(line.ends_with("inconclusive") && !line.contains("60 %"), "{line}");
    }
}

#[test]
fn markdown_and_csv_have_all_of_it() {
    let found = found();
    let text = markdown(&found, &PublishedOrder::openoffice());
    for wanted in ["| vim |", "| neither |", "| swmi.dll |", "2009", "Athlon", "| both |"] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let csv = reads_csv(&found);
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 1 + 3 + 3, "{csv}");
    assert!(lines[1].starts_with("before,vim,1,") && lines[1].ends_with(",0,16384,"), "{csv}");
    assert!(lines[2].ends_with(",3256320,131072,3239936"), "{csv}");
}

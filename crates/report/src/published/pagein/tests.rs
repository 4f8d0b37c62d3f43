//! The view at both widths, and what the last sentence says in each case.

use super::*;
use model::{AheadForm, AheadFormFigures, ColdCheck, PageinDisk, PageinRecording, Summary};

const PLAIN: Style = Style { color: false, width: 80, unicode: true };

fn effect(form: AheadForm, ratio: f64, verdict: Verdict) -> Effect {
    Effect {
        baseline: AheadForm::Cold.words().to_owned(),
        variant: form.words().to_owned(),
        ratio,
        low: ratio * 0.95,
        high: ratio * 1.05,
        confidence: 0.99,
        rounds: 15,
        verdict,
        within: 0.1,
    }
}

fn figures(form: AheadForm, median_us: f64, asked: Option<u64>, read: u64) -> AheadFormFigures {
    let sum = |bytes| ReadSum { reads: bytes / 100_000, bytes };
    AheadFormFigures {
        form,
        asked: asked.map(sum),
        read: Reading::Value(sum(read)),
        times_us: vec![median_us; 15],
        summary: Summary {
            runs: 15,
            min_us: median_us,
            p10_us: median_us,
            median_us,
            p90_us: median_us,
            max_us: median_us,
            spread: 0.0,
            median_low_us: median_us * 0.98,
            median_high_us: median_us * 1.02,
        },
    }
}

fn found(files: Verdict, ranges: Verdict, between: Verdict) -> PageinExperiment {
    use AheadForm::{Cold, Ranges, Warm, WholeFiles};
    let ratio = |verdict| match verdict {
        Verdict::Faster => 0.5,
        Verdict::Slower => 1.5,
        Verdict::Same | Verdict::Inconclusive => 1.0,
    };
    PageinExperiment {
        schema: 1,
        headstart: String::new(),
        command: "inkscape --version".to_owned(),
        recording: PageinRecording {
            path: None,
            mode: RecordingMode::Exact,
            files: 155,
            file_bytes: 140_000_000,
            recorded_bytes: 35_000_000,
        },
        disk: PageinDisk {
            file_system: Reading::Value("ext4".to_owned()),
            read_ahead_kib: Reading::Value(128),
        },
        cold: ColdCheck {
            state: CacheState::ColdDropped,
            files: 155,
            total_pages: 34_736,
            resident_pages: Reading::Value(740),
        },
        rounds: 15,
        seed: 1,
        forms: vec![
            figures(Cold, 400_000.0, None, 90_000_000),
            figures(WholeFiles, 320_000.0, Some(140_000_000), 139_000_000),
            figures(Ranges, 180_000.0, Some(36_000_000), 36_500_000),
            figures(Warm, 90_000.0, None, 0),
        ],
        effects: vec![
            effect(WholeFiles, ratio(files), files),
            effect(Ranges, ratio(ranges), ranges),
            effect(Warm, 0.22, Verdict::Faster),
        ],
        ranges_against_files: Some(effect(Ranges, ratio(between), between)),
        notes: vec!["A note.".to_owned()],
    }
}

#[test]
fn ours_and_what_the_document_says() {
    let found = found(Verdict::Faster, Verdict::Faster, Verdict::Faster);
    for width in [80, 120] {
        let style = Style { width, ..PLAIN };
        let text = pagein(&found, &PublishedOrder::openoffice(), &style);
        assert!(text.lines().all(|line| crate::text::columns(line) <= width), "{text}");
        insta::assert_snapshot!(format!("pagein_{width}"), text);
    }
    let text = pagein_markdown(&found, &PublishedOrder::openoffice());
    assert!(text.contains("| whole files first | 320.0 |"), "{text}");
    assert!(text.contains("| standard | 16.05 s |") && text.contains("recorded ranges more"));
}

#[test]
fn the_last_sentence_says_no_more_than_the_verdicts() {
    use Verdict::{Faster, Inconclusive, Same, Slower};
    for (verdicts, says) in [
        (
            (Faster, Faster, Faster),
            "both pay, and the recorded ranges more: 2.00 × as fast as cold",
        ),
        ((Faster, Faster, Slower), "both pay, and whole files more:"),
        ((Faster, Faster, Same), "both pay, and equally:"),
        ((Faster, Faster, Inconclusive), "; which of them pays more is unclear"),
        ((Slower, Faster, Faster), "only the recorded ranges pay: 2.00 × as fast as cold (99 %"),
        ((Slower, Faster, Faster), "; with whole files it takes 1.50 × the time"),
        ((Same, Faster, Faster), "; with whole files it takes the same time"),
        ((Faster, Inconclusive, Slower), "only whole files are known to pay:"),
        ((Same, Inconclusive, Same), "neither is known to pay; with whole files it takes the same"),
        ((Same, Inconclusive, Same), "the recorded ranges a difference is unclear without more"),
    ] {
        let (files, ranges, between) = verdicts;
        let said = answer(&found(files, ranges, between), &PLAIN);
        assert!(said.contains(says), "{verdicts:?}: {said}");
    }
    let mut few = found(Inconclusive, Inconclusive, Inconclusive);
    few.rounds = 3;
    assert!(answer(&few, &PLAIN).contains("can be said from 10 rounds on"));
    let mut without = found(Faster, Faster, Faster);
    without.effects.retain(|effect| effect.variant != AheadForm::WholeFiles.words());
    let said = answer(&without, &PLAIN);
    assert!(
        said.contains("only the recorded ranges are known to pay")
            && said.contains("were not tried")
    );
}

#[test]
fn what_is_not_known_is_said() {
    let mut found = found(Verdict::Faster, Verdict::Faster, Verdict::Faster);
    found.cold.state = CacheState::ColdEvicted;
    found.cold.resident_pages = Reading::unavailable("/a belongs to root", "");
    found.forms.iter_mut().for_each(|form| {
        form.read = Reading::unavailable("the kernel refuses its tracepoints", "");
    });
    let text = pagein(&found, &PublishedOrder::openoffice(), &Style { width: 500, ..PLAIN });
    for part in [
        "its files were evicted; how much of them stays is not known: /a belongs to root",
        "What was read is not known: the kernel refuses its tracepoints",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

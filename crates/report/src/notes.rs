//! What a reader of the figures should know.

use crate::CommandWords;
use crate::figure::{count, percent};
use model::{CacheState, ColdSummary, Ending, Reading, Results, VariantResult, nt_status};

/// From this spread on a reader is told that the machine is noisy.
const NOISY: f64 = 0.3;

/// What a reader of the figures should know, one sentence or two each.
pub fn notes(results: &Results, words: &CommandWords) -> Vec<String> {
    let several = results.variants.len() > 1;
    let mut notes = Vec::new();
    for variant in &results.variants {
        let about = if several { format!("{}: ", variant.name) } else { String::new() };
        let own = [failures(variant), left_running(variant, words), noise(variant, words)];
        notes.extend(own.into_iter().flatten().map(|note| format!("{about}{note}")));
    }
    notes.extend(results.notes.iter().cloned());
    notes
}

fn failures(variant: &VariantResult) -> Option<String> {
    let failed = variant.failed();
    let ways: Vec<String> = variant
        .endings
        .iter()
        .filter_map(|way| Some(format!("{} {}", way.launches, ending(way.ending)?)))
        .collect();
    let runs = variant.summary.runs;
    (failed > 0).then(|| format!("{failed} of {runs} launches failed: {}.", ways.join(", ")))
}

/// A failed ending in words.
fn ending(ending: Ending) -> Option<String> {
    match ending {
        Ending::Code(0) | Ending::Ready => None,
        Ending::Code(code) => Some(format!("with exit code {code}")),
        Ending::Signal(signal) => Some(format!("killed by signal {signal}{}", signal_name(signal))),
        Ending::Status(status) => Some(format!("with {}", nt_status::words(status))),
        Ending::TimedOut => Some("timed out".to_owned()),
    }
}

/// Names of the signals that programs die of, signal(7); numbers as on x86 and ARM.
fn signal_name(signal: i32) -> &'static str {
    match signal {
        1 => " (SIGHUP)",
        2 => " (SIGINT)",
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        13 => " (SIGPIPE)",
        15 => " (SIGTERM)",
        _ => "",
    }
}

fn left_running(variant: &VariantResult, words: &CommandWords) -> Option<String> {
    let (left, runs) = (variant.left_running, variant.summary.runs);
    (left > 0).then(|| {
        format!(
            "{left} of {runs} launches left processes running, which headstart ended; {}.",
            words.say_when_ready
        )
    })
}

fn noise(variant: &VariantResult, words: &CommandWords) -> Option<String> {
    let spread = variant.summary.spread;
    (spread > NOISY && variant.summary.runs >= 10).then(|| {
        format!(
            "The spread of the launch times is {}; {} shows {}.",
            percent(spread),
            words.check_machine,
            words.checked
        )
    })
}

/// How the cache was emptied and what was left in it.
pub fn cold(cold: &ColdSummary) -> String {
    let how = match cold.state {
        CacheState::Warm => return "the page cache was not emptied".to_owned(),
        CacheState::ColdDropped => "the whole page cache was dropped",
        CacheState::ColdEvicted => "the files that the launch maps were evicted",
    };
    let left = match &cold.resident_pages {
        Reading::Value(0) => "none".to_owned(),
        Reading::Value(pages) => count(*pages),
        Reading::Unavailable { reason, .. } => format!("an unknown number ({reason})"),
    };
    let (files, pages) = (count(cold.files.into()), count(cold.total_pages));
    format!("{how}; {left} of {pages} pages in {files} files stayed resident")
}

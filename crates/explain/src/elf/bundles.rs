//! The bundles that a launch executes, and those that did not run.

use crate::elf::inputs::Inputs;
use crate::elf::modules::Bundled;
use crate::phases::Life;
use crate::phases::life::Stretch;
use crate::time::{ns, us};
use model::{BundleReport, MarkKind, Phase, Reading};
use std::collections::BTreeSet;

/// Lives of bundles that started their originals, by their place in the list, each with the
/// original's.
pub(crate) fn stand_ins(inputs: &Inputs, lives: &[Life]) -> Vec<(usize, usize)> {
    let is_bundle = |life: &Life| {
        let path = inputs.program(&life.image.path);
        inputs.bundles.contains_key(&path) || inputs.contents.contains_key(&path)
    };
    let all = lives.iter().enumerate().filter(|(_, life)| is_bundle(life));
    let replaced = all.filter_map(|(index, bundle)| {
        let mut later = lives.iter().enumerate().skip(index + 1);
        let (original, next) = later.find(|(_, life)| life.process == bundle.process)?;
        // What a bundled shell executes as its own last command is not the shell again.
        let same = next.image.argv.get(1..) == bundle.image.argv.get(1..);
        (same && !entered(bundle) && !is_bundle(next)).then_some((index, original))
    });
    replaced.collect()
}

/// Whether an image came to its entry point. Before that a bundle checks what was merged.
pub(crate) fn entered(life: &Life) -> bool {
    life.image.marks.iter().any(|mark| mark.kind >= MarkKind::Entry)
}

/// The time in which a bundle found that it had to start its original is known to be that.
pub(crate) fn tell_checks(inputs: &Inputs, lives: &mut [Life]) {
    for (bundle, _) in stand_ins(inputs, lives) {
        let Some(life) = lives.get_mut(bundle) else { continue };
        let relocated = life.image.marks.iter().any(|mark| mark.kind == MarkKind::Relocated);
        if let Some(Stretch { phase: phase @ Phase::Unattributed, .. }) =
            life.stretches.last_mut().filter(|_| relocated)
        {
            *phase = Phase::Initialize;
            life.notes.retain(|note| note != CHECKED);
        }
    }
}

/// What a life says that was replaced before its entry point.
const CHECKED: &str = "initialize, main could not be told apart";

/// What is known of each bundle, in order of their first starts.
pub(crate) fn reports(inputs: &Inputs, lives: &[Life], bundled: &Bundled) -> Vec<BundleReport> {
    let mut known = BTreeSet::new();
    let stale: BTreeSet<usize> =
        stand_ins(inputs, lives).into_iter().map(|(bundle, _)| bundle).collect();
    let mut by_start: Vec<(usize, &Life)> = lives.iter().enumerate().collect();
    by_start.sort_by_key(|(_, life)| life.started);
    let mut reports = Vec::new();
    for (_, life) in by_start {
        let path = inputs.program(&life.image.path);
        let Some(contents) = inputs.contents.get(&path) else { continue };
        if !known.insert(path.clone()) {
            continue;
        }
        let own = lives.iter().enumerate().filter(|(_, l)| inputs.program(&l.image.path) == path);
        let (indices, own): (Vec<usize>, Vec<&Life>) = own.unzip();
        let started_original = indices.iter().any(|index| stale.contains(index));
        let times: Vec<_> = own.iter().filter_map(|life| bundled.times(inputs, life)).collect();
        let sum = |figure: fn(&crate::elf::start::StartTimes) -> f64| match times.is_empty() {
            true => bundled.missing(&path),
            false => Reading::Value(us(ns(times.iter().map(figure).sum()))),
        };
        let reads_ahead = contents.start.as_ref().is_some_and(|start| start.read_ahead.is_some());
        reports.push(BundleReport {
            original: contents.original.clone(),
            libraries: contents.libraries.len() as u64,
            started_original,
            difference: contents.difference.clone().filter(|_| started_original),
            check_us: sum(|times| times.check),
            read_ahead_us: reads_ahead.then(|| sum(|times| times.read_ahead)),
            path,
            remains: None,
        });
    }
    reports
}

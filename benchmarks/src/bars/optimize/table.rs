//! The table of the sweep: programs, then variants, then reasons by kind.

use super::Outcome;
use crate::report::Row;
use model::optimization::VariantState;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Programs that are named for each reason.
const NAMED: usize = 3;
/// Letters of a reason.
const LONGEST: usize = 100;

/// A reason's kind, and the programs that have it.
pub type Kinds = BTreeMap<String, Vec<String>>;

pub fn rows(outcomes: &[(PathBuf, Outcome)]) -> Vec<Row> {
    let (mut tried, mut optimized, mut silent) = (0, 0, 0);
    let mut broken = Vec::new();
    let mut refused = Kinds::new();
    let mut variants = Variants::default();
    for (path, outcome) in outcomes {
        let name = path.display().to_string();
        match outcome {
            Outcome::Silent => silent += 1,
            Outcome::Refused(why) => refused.entry(kind(why, path)).or_default().push(name),
            Outcome::Tried { found, broken: how } => {
                tried += 1;
                let is_variant = found.variants.first().is_none_or(|one| one.name != found.best);
                optimized += usize::from(is_variant);
                broken.extend(how.iter().map(|how| format!("{name} ({}) {how}", found.best)));
                for variant in found.variants.iter().skip(1) {
                    let reason = variant.reason.as_deref().unwrap_or_default();
                    variants.add(&variant.name, variant.state, (reason, path));
                }
            }
        }
    }
    let good = broken.is_empty() && tried > 0;
    let declined: usize = refused.values().map(Vec::len).sum();
    let mut rows = vec![
        Row::shown("programs", outcomes.len().to_string()),
        Row::shown("answer nothing, or now so and now otherwise", silent.to_string()),
        Row::shown("declined as a whole, with the reason", declined.to_string()),
        Row::shown("tried", tried.to_string()),
        Row::shown("optimized: a variant is faster, and was left", optimized.to_string()),
        Row::bar("broken", broken.len().to_string(), "0", good),
    ];
    rows.extend(broken.into_iter().map(|text| Row::shown(text, "broken".to_owned())));
    rows.extend(kinds("declined", refused));
    rows.extend(variants.rows());
    rows
}

#[derive(Default)]
struct Variants {
    /// In the order of their trials.
    names: Vec<String>,
    counts: BTreeMap<(String, &'static str), usize>,
    reasons: BTreeMap<(String, &'static str), Kinds>,
}

impl Variants {
    fn add(&mut self, name: &str, state: VariantState, (reason, path): (&str, &Path)) {
        if !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_owned());
        }
        let key = (name.to_owned(), word(state));
        *self.counts.entry(key.clone()).or_default() += 1;
        if !reason.is_empty() {
            let kinds = self.reasons.entry(key).or_default();
            kinds.entry(kind(reason, path)).or_default().push(path.display().to_string());
        }
    }

    fn rows(mut self) -> Vec<Row> {
        let mut rows = Vec::new();
        for name in &self.names {
            let of = |state| self.counts.get(&(name.clone(), word(state))).copied().unwrap_or(0);
            let counts = format!(
                "{} verified, {} declined, {} failed",
                of(VariantState::Verified),
                of(VariantState::Declined),
                of(VariantState::Failed)
            );
            rows.push(Row::shown(name, counts));
        }
        for name in &self.names {
            for state in [VariantState::Failed, VariantState::Declined] {
                let reasons = self.reasons.remove(&(name.clone(), word(state)));
                rows.extend(kinds(&format!("{name} {}", word(state)), reasons.unwrap_or_default()));
            }
        }
        rows
    }
}

/// A row for each kind, the most frequent first.
pub fn kinds(what: &str, kinds: Kinds) -> Vec<Row> {
    let mut kinds: Vec<(String, Vec<String>)> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, programs)| std::cmp::Reverse(programs.len()));
    let row = |(kind, programs): (String, Vec<String>)| {
        let named = programs.iter().take(NAMED).cloned().collect::<Vec<String>>().join(", ");
        Row::shown(format!("{what}: {kind} ({named})"), programs.len().to_string())
    };
    kinds.into_iter().map(row).collect()
}

/// A reason without what is of this program alone: names, numbers, what it wrote.
pub fn kind(reason: &str, path: &Path) -> String {
    let reason = reason.replace(&path.display().to_string(), "it");
    let mut said = String::new();
    for word in reason.lines().next().unwrap_or_default().split(' ') {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/');
        let particular = bare.contains('/') || bare.contains(".so") || bare.starts_with("0x");
        let number = bare.chars().all(|c| c.is_ascii_digit() || c == ',') && !bare.is_empty();
        let shown = if particular || number { word.replace(bare, "…") } else { word.to_owned() };
        said.push_str(&shown);
        said.push(' ');
    }
    said.trim_end().chars().take(LONGEST).collect()
}

fn word(state: VariantState) -> &'static str {
    match state {
        VariantState::Baseline => "original",
        VariantState::Verified => "verified",
        VariantState::Failed => "failed",
        VariantState::Declined => "declined",
        VariantState::NotTried => "not tried",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_one_kind_are_the_same() {
        let of = |text: &str, path: &str| kind(text, Path::new(path));
        let one = of("/bin/a needs 12 of '/lib/liba.so': no\nmore", "/bin/a");
        assert_eq!(one, of("/bin/b needs 7 of '/lib/libb.so': no", "/bin/b"));
        assert_eq!(one, "it needs … of '…': no");
    }
}

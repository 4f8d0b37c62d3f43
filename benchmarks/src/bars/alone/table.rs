//! The table of the sweep: changes, then what is broken, then why others were declined.

use super::Verb;
use super::trial::{Became, Outcome};
use crate::bars::optimize::{Kinds, kind, kinds};
use crate::report::Row;
use std::path::{Path, PathBuf};

pub fn rows(outcomes: &[(PathBuf, Outcome)], verbs: &[&Verb]) -> Vec<Row> {
    let silent = outcomes.iter().filter(|(_, one)| matches!(one, Outcome::Silent)).count();
    let untried = outcomes.iter().filter_map(|(path, outcome)| match outcome {
        Outcome::Untried(why) => Some(Row::shown(path.display().to_string(), why.clone())),
        _ => None,
    });
    let mut rows = vec![
        Row::shown("programs", outcomes.len().to_string()),
        Row::shown("answer nothing, or now so and now otherwise", silent.to_string()),
    ];
    rows.extend(untried);
    let mut details = Vec::new();
    for (at, verb) in verbs.iter().enumerate() {
        let became = outcomes.iter().filter_map(|(path, outcome)| match outcome {
            Outcome::Tried(became) => Some((path.as_path(), became.get(at)?)),
            _ => None,
        });
        let became: Vec<(&Path, &Became)> = became.collect();
        let counts = Counts::of(&became);
        rows.push(counts.row(verb));
        details.extend(named(verb, &became));
        details.extend(declined(verb, &became));
    }
    rows.extend(details);
    rows
}

#[derive(Default)]
struct Counts {
    same: usize,
    declined: usize,
    unsteady: usize,
    broken: usize,
}

impl Counts {
    fn of(became: &[(&Path, &Became)]) -> Counts {
        let mut counts = Counts::default();
        for (_, became) in became {
            *match became {
                Became::Same => &mut counts.same,
                Became::Declined(_) => &mut counts.declined,
                Became::Unsteady(_) => &mut counts.unsteady,
                Became::Broken(_) => &mut counts.broken,
            } += 1;
        }
        counts
    }

    fn row(&self, verb: &Verb) -> Row {
        let Counts { same, declined, unsteady, broken } = self;
        let counts =
            format!("{same} same, {declined} declined, {unsteady} unsteady, {broken} broken");
        Row::bar(verb.name, counts, "0 broken", *broken == 0 && *same > 0)
    }
}

/// What is broken, and what the original answers so and otherwise.
fn named(verb: &Verb, became: &[(&Path, &Became)]) -> Vec<Row> {
    let row = |(path, became): &(&Path, &Became)| {
        let (how, word) = match became {
            Became::Broken(how) => (how, "broken"),
            Became::Unsteady(how) => (how, "unsteady"),
            _ => return None,
        };
        let line = how.lines().next().unwrap_or_default();
        let text = format!("{}: {} {line}", verb.name, path.display());
        Some(Row::shown(text, word.to_owned()))
    };
    became.iter().filter_map(row).collect()
}

fn declined(verb: &Verb, became: &[(&Path, &Became)]) -> Vec<Row> {
    let mut reasons = Kinds::new();
    for (path, became) in became {
        if let Became::Declined(why) = became {
            reasons.entry(kind(why, path)).or_default().push(path.display().to_string());
        }
    }
    kinds(&format!("{} declined", verb.name), reasons)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bars::alone::VERBS;

    #[test]
    fn one_that_is_broken_fails_the_check() {
        let of = |became: Vec<Became>| (PathBuf::from("/usr/bin/p"), Outcome::Tried(became));
        let verbs = [&VERBS[0], &VERBS[5]];
        let declined = || Became::Declined("it is static".to_owned());
        let mut outcomes =
            vec![of(vec![Became::Same, declined()]), of(vec![declined(), Became::Same])];
        let good = |outcomes: &[(PathBuf, Outcome)]| {
            crate::report::Report { rows: rows(outcomes, &verbs) }.good()
        };
        assert!(good(&outcomes));
        outcomes.push(of(vec![Became::Unsteady("now".to_owned()), Became::Same]));
        assert!(good(&outcomes));
        outcomes.push(of(vec![Became::Same, Became::Broken("--help: x".to_owned())]));
        assert!(!good(&outcomes));
        // Nothing at all is no proof.
        assert!(!good(&[]));
    }
}

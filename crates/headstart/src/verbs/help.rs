//! What `--help` prints.

use super::{GROUPS, Verb, build};
use crate::{examples, exit};
use clap::Command;

/// The command line with what `--help` prints, which no other run needs.
pub fn documented() -> Command {
    let mut command = build(|_| true).after_help(overview());
    for group in GROUPS {
        for verb in group.verbs {
            let word = group.word.map_or("", |(word, _)| word);
            let with_examples = |command: Command| command.after_help(block(word, verb.name));
            command = match group.word {
                None => command.mut_subcommand(verb.name, with_examples),
                Some((word, _)) => command
                    .mut_subcommand(word, |group| group.mut_subcommand(verb.name, with_examples)),
            };
        }
    }
    command
}

/// The examples of a verb.
fn block(word: &str, verb: &str) -> String {
    let bold = anstyle::Style::new().bold();
    let lines = examples::of_verb(word, verb);
    if lines.is_empty() {
        return String::new();
    }
    let lines = lines.iter().map(|line| format!("\n  {line}"));
    format!("{bold}Examples:{bold:#}{}", lines.collect::<String>())
}

/// The groups, examples and exit codes, as `--help` shows them.
fn overview() -> String {
    let bold = anstyle::Style::new().bold();
    let heading = |text: &str| format!("\n{bold}{text}:{bold:#}\n");
    let mut text = String::new();
    for group in GROUPS {
        let verbs: Vec<&Verb> = group.verbs.iter().filter(|verb| verb.is_here).collect();
        if verbs.is_empty() {
            continue;
        }
        text += &heading(group.heading);
        for verb in verbs {
            let name = match group.word {
                Some((word, _)) => format!("{word} {}", verb.name),
                None => verb.name.to_owned(),
            };
            text += &format!("  {name:<18}{}\n", verb.about);
        }
    }
    text += &heading("Examples");
    for (line, about) in examples::FIRST {
        text += &format!("  headstart {line}\n      {about}\n");
    }
    text += &heading("Exit codes");
    text += exit::TABLE;
    text += "\n";
    text += &heading("Options");
    text.trim().to_owned()
}

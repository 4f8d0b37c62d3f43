//! What `--help` says is true: its examples work, and what it names exists.
#![allow(clippy::unwrap_used)]

mod common;

use common::{run, stderr, stdout};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

/// The groups of the design that exist today; a group with a word is typed with it.
const GROUPS: [(&str, &[&str]); 12] = [
    ("", &["measure", "compare", "explain", "optimize"]),
    ("", &["bundle", "verify", "rerandomize", "warm"]),
    ("", &["install", "renew", "list", "remove"]),
    ("", &["record", "prefetch", "load", "io"]),
    ("cache", &["status", "evict"]),
    ("", &["trace"]),
    ("order", &["write", "verify", "try"]),
    ("", &["sharing"]),
    ("", &["inspect", "identify", "simulate"]),
    ("elf", &["selfbind", "order-needed", "no-pie", "relr"]),
    ("pe", &["rebase", "bind", "unbind", "hints", "ordinal", "realign", "flags", "survey"]),
    ("", &["generate", "scale", "experiment", "doctor"]),
];

/// Every verb as it is typed.
fn verbs() -> Vec<Vec<&'static str>> {
    let typed =
        |word: &'static str, verb| [word, verb].into_iter().filter(|w| !w.is_empty()).collect();
    GROUPS.iter().flat_map(|(word, verbs)| verbs.iter().map(|verb| typed(word, verb))).collect()
}

fn help(words: &[&str]) -> String {
    let output = run(&[words, &["--help"]].concat());
    assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    stdout(&output)
}

/// Help of the verb and of the words that follow it, such as `generate shape`.
fn whole_help(words: &[&str]) -> String {
    let mut text = help(words);
    let below = match words {
        ["generate"] => &["pietrek", "dawson", "shape"][..],
        ["experiment"] => &["pietrek", "dawson", "openoffice", "prefetch", "pagein", "probe"],
        ["prefetch"] => &["list", "show", "rm", "name", "install", "uninstall"],
        _ => &[],
    };
    for word in below {
        text += &help(&[words, &[*word]].concat());
    }
    text
}

/// The lines below `Examples:`.
fn examples(text: &str) -> Vec<String> {
    let below = text.split("Examples:\n").nth(1).unwrap_or("");
    let lines = below.lines().take_while(|line| !line.ends_with(':') || line.starts_with(' '));
    let lines = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    lines.map(|line| line.trim().to_owned()).collect()
}

/// Runs the lines in a folder of their own, one after the other.
fn work(lines: &[String], what: &str) {
    assert!(!lines.is_empty(), "{what}: no example");
    let folder = tempfile::tempdir().unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_headstart")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    for line in lines {
        let as_root = line.strip_prefix("sudo ");
        if let (Some(_), Err(error)) = (as_root, os::file_pages::permitted()) {
            testkit::skip(&format!("{line}: {error}"));
            continue;
        }
        let mut command = Command::new("sh");
        command.args(["-c", as_root.unwrap_or(line)]).current_dir(folder.path()).env("PATH", &path);
        command.env("XDG_CACHE_HOME", folder.path().join(".cache")).stdin(Stdio::null());
        command.env("HOME", folder.path()).env_remove("XDG_DATA_HOME");
        // Cargo sets it.
        command.env_remove("LD_LIBRARY_PATH");
        let mut attempts = 0;
        let (output, said) = loop {
            let output = command.output().unwrap();
            let said = format!("{}{}", stdout(&output), stderr(&output));
            attempts += 1;
            // On a busy machine a measurement does not always show what a bundle of a small program saves.
            if attempts == 5 || !said.contains("is not measurably faster") {
                break (output, said);
            }
        };
        assert!(output.status.success(), "{what}: {line}: {:?}\n{said}", output.status.code());
    }
}

#[test]
fn the_examples_of_every_verb_work() {
    let slow = ["optimize"];
    for words in verbs().iter().filter(|words| !slow.contains(&words[0])) {
        let lines = examples(&help(words));
        let typed = format!("headstart {} ", words.join(" "));
        let is_typed = |line: &String| format!("{line} ").starts_with(&typed);
        assert!(lines.iter().any(is_typed), "{words:?}: no example types it: {lines:?}");
        work(&lines, &words.join(" "));
    }
}

/// The same lines stand in the first help and in that of `optimize`.
#[test]
fn the_first_examples_work() {
    let lines = examples(&help(&[]));
    assert_eq!(lines.len(), 4, "{lines:?}");
    work(&lines, "headstart");
    assert!(examples(&help(&["optimize"])).contains(&lines[3]));
}

#[test]
fn the_groups_are_those_of_the_design() {
    let text = help(&[]);
    for (word, verbs) in GROUPS {
        let lines = text.lines().map(|line| line.trim_start());
        let shown: Vec<&str> = lines
            .filter_map(|line| {
                let typed = line.split("  ").next()?;
                let typed = if word.is_empty() { typed } else { typed.strip_prefix(word)?.trim() };
                verbs.contains(&typed).then_some(typed)
            })
            .collect();
        assert_eq!(shown, verbs, "{text}");
    }
}

/// `headstart X` and `headstart elf X` in a text, up to where they are no words of commands.
fn commands_named(text: &str) -> Vec<Vec<String>> {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let name = |word: &str| -> String {
        word.chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect()
    };
    flat.match_indices("headstart ")
        .map(|(at, found)| flat[at + found.len()..].split(' ').take(2).map(name).collect())
        .collect()
}

#[test]
fn every_command_and_option_that_is_named_exists() {
    let all = verbs();
    let mut options: BTreeSet<String> = ["--help", "--version"].map(str::to_owned).into();
    let texts: Vec<String> = all.iter().map(|words| whole_help(words)).collect();
    let option = |word: &str| -> String {
        word.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect()
    };
    for text in &texts {
        let lines = text.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
        let words = lines.flat_map(|line| line.split([' ', ',', '=', '[']));
        options.extend(words.filter(|word| word.starts_with("--")).map(option));
    }
    let aliases = texts.iter().flat_map(|text| text.split("[alias: ").skip(1));
    options.extend(aliases.map(option));
    // Options of other programs that are spoken of.
    options.extend(
        ["--call", "--version", "--norc", "--symbol-ordering-file", "--"].map(str::to_owned),
    );
    for (words, text) in all.iter().zip(&texts) {
        for named in commands_named(text) {
            let one = all.iter().any(|verb| verb.len() == 1 && verb[0] == named[0]);
            let two = all.iter().any(|verb| *verb == named);
            let no_verb = named[0].is_empty() || named[0].starts_with('-');
            let prose = ["has", "made", "does", "itself", "runs"].contains(&&*named[0]);
            assert!(
                one || two || no_verb || prose,
                "{words:?} names 'headstart {}'",
                named.join(" ")
            );
        }
        let prose = text.split(|c: char| c.is_whitespace() || "[]()<>|'\"`,;:=".contains(c));
        for word in prose.filter(|word| word.starts_with("--")).map(option) {
            assert!(options.contains(&word), "{words:?} names {word}");
        }
    }
}

#[test]
fn old_names_answer_with_the_new_ones() {
    // `pe survey` was an option, and nothing of `order` and `cache` had another name.
    let had_another =
        |words: &Vec<&str>| words.len() == 2 && !["cache", "order"].contains(&words[0]);
    let moved = verbs().into_iter().filter(|words| had_another(words) && words[1] != "survey");
    for words in moved {
        let old = if words[1] == "no-pie" { "exec" } else { words[1] };
        let new = words.join(" ");
        let output = run(&[old, "--out", "x", "y"]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(&format!("'headstart {old}' is now 'headstart {new}'")), "{said}");
    }
    for words in [
        &["measure", "--run", "x", "true"][..],
        &["compare", "--run", "x", "true", "false"],
        &["scale", "--run", "x", "shape", "star"],
        &["experiment", "pietrek", "--run", "x"],
        &["experiment", "dawson", "--run", "x"],
    ] {
        let output = run(words);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("'--run' is now '--save'"), "{said}");
    }
}

/// Both ways in which the command line is built say the same.
#[test]
fn the_version_and_mistakes_are_told_whatever_stands_first() {
    for words in [&["--version"][..], &["-V"]] {
        assert_eq!(stdout(&run(words)), concat!("headstart ", env!("CARGO_PKG_VERSION"), "\n"));
    }
    for words in [
        &["measrue", "true"][..],
        &["pe", "rebsae"],
        &["--verison"],
        &["measure", "--runz", "1", "x"],
    ] {
        let output = run(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(stderr(&output).contains("similar"), "{words:?}: {}", stderr(&output));
    }
}

//! Several commands, each one line, with what hyperfine lets one say about them.

use super::around::AroundArgs;
use super::parameters::{ParameterArgs, Values, replaced, unused};
use super::shell::{DEFAULT, Shell, ShellArgs, first_word};
use crate::exit::Usage;
use anyhow::Result;
use model::Variant;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// What is said about commands that are lines.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Commands")]
pub struct LineArgs {
    /// Name of a command in the output; repeat it for the others, in their order
    #[arg(short, long = "name", visible_alias = "command-name", value_name = "NAME")]
    pub names: Vec<String>,
    /// One more command, which the others are compared with
    #[arg(long, value_name = "CMD")]
    pub reference: Option<OsString>,
    /// Name of the --reference command
    #[arg(long, value_name = "NAME", requires = "reference")]
    reference_name: Option<String>,
    #[command(flatten)]
    pub parameters: ParameterArgs,
    #[command(flatten)]
    pub shell: ShellArgs,
}

impl LineArgs {
    /// Whether an option was given that makes sense for lines alone.
    pub fn is_given(&self) -> bool {
        let several = self.names.len() > 1 || self.reference.is_some();
        several || self.parameters.any() || self.shell.is_given()
    }
}

/// Variants, and what a user should know about how they are made.
pub struct Lines {
    /// What is launched.
    pub variants: Vec<Variant>,
    /// Sentences for stderr.
    pub notes: Vec<String>,
}

/// One line before it is a variant.
struct Line<'a> {
    text: &'a OsStr,
    values: Values,
    name: Option<String>,
}

/// The variants that the lines and the options stand for.
pub fn variants(lines: &[OsString], asked: &LineArgs, around: &AroundArgs) -> Result<Lines> {
    let shell = asked.shell.shell()?;
    let expanded = expanded(lines, asked)?;
    let hooks = around.hooks(expanded.len())?;
    let (mut variants, mut by_shell) = (Vec::new(), Vec::new());
    for (index, line) in expanded.iter().enumerate() {
        let text = replaced(line.text, &line.values);
        let (command, shell_runs) = shell.command(&text)?;
        if shell_runs {
            by_shell.push(text.to_string_lossy().into_owned());
        }
        let mut variant = Variant::new(String::new(), command);
        let title = line.name.clone().unwrap_or_else(|| text.to_string_lossy().into_owned());
        variant.title = Some(title);
        variant.unused = unused(line.text, &line.values);
        variant.hooks = hooks.hooks(index, &line.values, &shell)?;
        variant.streams = hooks.streams(index);
        variant.parameters = line.values.clone();
        variants.push(variant);
    }
    for (variant, name) in variants.iter_mut().zip(names(&expanded)?) {
        variant.name = name;
    }
    let mut notes = shell_notes(&by_shell, variants.len(), shell);
    notes.extend(around.notes(variants.len()));
    Ok(Lines { variants, notes })
}

/// A command of words with what the options say about it.
pub fn words(mut variant: Variant, asked: &LineArgs, around: &AroundArgs) -> Result<Variant> {
    let hooks = around.hooks(1)?;
    variant.hooks = hooks.hooks(0, &Values::new(), &asked.shell.shell()?)?;
    variant.streams = hooks.streams(0);
    if let Some(name) = asked.names.first() {
        variant.title = Some(name.clone());
        variant.name = name.clone();
    }
    Ok(variant)
}

/// The lines with their parameters and names; the reference first.
fn expanded<'a>(lines: &'a [OsString], asked: &'a LineArgs) -> Result<Vec<Line<'a>>> {
    let combinations = asked.parameters.combinations()?;
    let count = lines.len().saturating_mul(combinations.len());
    let names = &asked.names;
    let too_many = names.len() > count;
    if too_many || asked.parameters.any() && names.len() > 1 && names.len() != count {
        let names = names.len();
        let commands = if count == 1 { "is 1 command" } else { &format!("are {count} commands") };
        let hint =
            if too_many { "give each command one name" } else { "give one, or one for each" };
        return Err(Usage(format!("{names} names are given, but there {commands}; {hint}")).into());
    }
    let reference = asked.reference.iter().map(|text| Line {
        text,
        values: Values::new(),
        name: asked.reference_name.clone(),
    });
    let mut expanded: Vec<Line<'a>> = reference.collect();
    for values in &combinations {
        for text in lines {
            let place = expanded.len() - usize::from(asked.reference.is_some());
            let shared = if asked.parameters.any() { names.first() } else { None };
            let name = names.get(place).or(shared);
            let name = name.map(|name| replaced(OsStr::new(name), values));
            let name = name.map(|name| name.to_string_lossy().into_owned());
            expanded.push(Line { text, values: values.clone(), name });
        }
    }
    Ok(expanded)
}

/// A name for each, all different: those given; else the programs' names with the parameters,
/// where these differ; else letters.
fn names(lines: &[Line<'_>]) -> Result<Vec<String>> {
    let with_values = |name: &str, line: &Line<'_>| {
        let values = line.values.iter().map(|(name, value)| format!(" {name}={value}"));
        format!("{name}{}", values.collect::<String>())
    };
    let own = |line: &Line<'_>| {
        let word = first_word(&replaced(line.text, &line.values));
        let name = Path::new(&word).file_name();
        with_values(&name.map_or(word.clone(), |name| name.to_string_lossy().into_owned()), line)
    };
    let mut defaults: Vec<String> = lines.iter().map(own).collect();
    if (1..defaults.len()).any(|index| defaults[..index].contains(&defaults[index])) {
        defaults = (0..lines.len()).map(letter).collect();
    }
    let found =
        lines.iter().zip(defaults).enumerate().map(|(index, (line, default))| match &line.name {
            Some(name) if unique(lines, index) => name.clone(),
            Some(name) => with_values(name, line),
            None => default,
        });
    let found: Vec<String> = found.collect();
    for (index, name) in found.iter().enumerate() {
        if found[..index].contains(name) {
            return Err(Usage(format!(
                "two commands are named '{name}'; name one of them differently"
            ))
            .into());
        }
    }
    Ok(found)
}

/// Whether no other line has the name that was given to this one.
fn unique(lines: &[Line<'_>], index: usize) -> bool {
    let own = &lines[index].name;
    lines.iter().enumerate().all(|(other, line)| other == index || line.name != *own)
}

/// A … Z, then variant 27 and so on.
fn letter(index: usize) -> String {
    match u8::try_from(index) {
        Ok(index @ 0..26) => char::from(b'A' + index).to_string(),
        _ => format!("variant {}", index + 1),
    }
}

/// What is different where shells run lines.
fn shell_notes(by_shell: &[String], all: usize, shell: Shell) -> Vec<String> {
    let Some(first) = by_shell.first() else { return Vec::new() };
    let (who, what) = match (shell, by_shell.len()) {
        (Shell::Given(words), _) => {
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            (words.join(" "), "every command".to_owned())
        }
        (_, 1) => (DEFAULT.to_owned(), format!("'{first}'")),
        (_, count) if count == all => (DEFAULT.to_owned(), "every command".to_owned()),
        (_, count) => (DEFAULT.to_owned(), format!("{count} of {all} commands")),
    };
    let mut note = format!(
        "{who} runs {what}, and its own start is part of the times; hyperfine subtracts an estimate \
         of it"
    );
    if by_shell.len() < all {
        note += &format!(". To compare like with like, add: -S {DEFAULT}");
    }
    vec![note]
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    fn lines(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    fn made(words: &[&str], names: &[&str]) -> Result<Vec<Variant>> {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let asked = LineArgs { names, ..LineArgs::default() };
        Ok(variants(&lines(words), &asked, &AroundArgs::default())?.variants)
    }

    #[test]
    fn names_are_given_or_found() {
        let named_as = |lines: &[&str], names: &[&str]| -> Vec<String> {
            made(lines, names).unwrap().into_iter().map(|variant| variant.name).collect()
        };
        assert_eq!(named_as(&["sh -c :", "/bin/ls"], &[]), ["sh", "ls"]);
        assert_eq!(named_as(&["sh -c :", "sh"], &[]), ["A", "B"]);
        assert_eq!(named_as(&["sh -c :", "sh"], &["old"]), ["old", "B"]);
        assert_eq!(named_as(&["sh -c :", "sh", "sh x"], &["old"]), ["old", "B", "C"]);
        assert_eq!(named_as(&["ls | sort", "cat x | sort"], &[]), ["ls", "cat"]);
    }

    #[test]
    fn mistakes_are_usage_errors() {
        for (lines, names) in [
            (vec!["sh -c 'x"], vec![]),
            (vec![""], vec![]),
            (vec!["A=1"], vec![]),
            (vec!["sh", "ls"], vec!["a", "a"]),
            (vec!["sh"], vec!["a", "b"]),
        ] {
            let error = made(&lines, &names).unwrap_err();
            assert!(error.is::<Usage>(), "{lines:?}: {error}");
        }
    }

    #[test]
    fn a_shell_runs_what_needs_one_and_that_is_said() {
        let asked = LineArgs::default();
        let found = variants(&lines(&["ls | sort", "ls"]), &asked, &AroundArgs::default()).unwrap();
        assert_eq!(found.variants[0].command.line(), "sh -c 'ls | sort'");
        assert_eq!(found.variants[0].title.as_deref(), Some("ls | sort"));
        assert_eq!(found.variants[1].command.line(), "ls");
        assert!(found.notes[0].contains("sh runs 'ls | sort'"), "{:?}", found.notes);
        assert!(found.notes[0].contains("-S sh"), "{:?}", found.notes);
    }

    #[test]
    fn words_need_not_be_utf8() {
        let two = [OsStr::from_bytes(b"sh \xe9").to_owned(), "sh".into()];
        let found = variants(&two, &LineArgs::default(), &AroundArgs::default()).unwrap();
        assert_eq!(found.variants[0].command.argv[1], OsStr::from_bytes(b"\xe9"));
    }
}

//! From words on the command line to commands that can be launched.

use crate::exit::Usage;
use anyhow::Result;
use model::{Command, Variant};
use std::path::Path;

/// The one command that is launched.
#[derive(Debug, clap::Args)]
pub struct CommandArgs {
    /// The program and its arguments
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "CMD",
        required = true
    )]
    command: Vec<String>,
}

impl CommandArgs {
    /// The command, its program found.
    pub fn command(&self) -> Result<Command> {
        one_command(&self.command)
    }
}

/// The command of `measure` and `explain`: words as they stand. A single word with spaces that is
/// no file is split as a shell would.
pub fn one_command(words: &[String]) -> Result<Command> {
    if let Some(option) = words.first().filter(|word| word.starts_with('-')) {
        return Err(Usage(format!(
            "there is no option '{option}' (see --help); \
             if it is the program's name, write: ./{option}"
        ))
        .into());
    }
    match words {
        [line] if line.contains(char::is_whitespace) && !Path::new(line).exists() => {
            from_line(line)
        }
        words => from_words(words.to_vec()),
    }
}

/// The commands of `compare`, each one line of shell words, with their names: those given, else
/// the programs' names where these differ, else letters.
pub fn named(lines: &[String], names: &[String]) -> Result<Vec<Variant>> {
    if names.len() > lines.len() {
        let (names, lines) = (names.len(), lines.len());
        return Err(Usage(format!("there are {names} names for {lines} commands")).into());
    }
    let mut commands = Vec::new();
    for line in lines {
        let is_path = Path::new(line).is_file();
        commands.push(if is_path { from_words(vec![line.clone()])? } else { from_line(line)? });
    }
    let defaults = default_names(&commands);
    let variants: Vec<Variant> = commands
        .into_iter()
        .zip(defaults)
        .enumerate()
        .map(|(index, (command, default))| Variant {
            name: names.get(index).cloned().unwrap_or(default),
            command,
        })
        .collect();
    for (index, variant) in variants.iter().enumerate() {
        if variants[..index].iter().any(|earlier| earlier.name == variant.name) {
            return Err(Usage(format!("two commands are named '{}'", variant.name)).into());
        }
    }
    Ok(variants)
}

fn default_names(commands: &[Command]) -> Vec<String> {
    let base = |command: &Command| {
        let name = Path::new(&command.argv[0]).file_name();
        name.map_or_else(|| command.argv[0].clone(), |name| name.to_string_lossy().into_owned())
    };
    let names: Vec<String> = commands.iter().map(base).collect();
    let mut distinct = names.clone();
    distinct.sort();
    distinct.dedup();
    if distinct.len() == names.len() {
        return names;
    }
    (0..names.len()).map(letter).collect()
}

/// A … Z, then variant 27 and so on.
fn letter(index: usize) -> String {
    match u8::try_from(index) {
        Ok(index @ 0..26) => char::from(b'A' + index).to_string(),
        _ => format!("variant {}", index + 1),
    }
}

/// One line of shell words. There is no shell: `NAME=value` words in front set variables, and
/// everything else is passed on as it stands.
fn from_line(line: &str) -> Result<Command> {
    let Some(words) = shlex::split(line) else {
        return Err(Usage(format!("a quotation mark is missing in: {line}")).into());
    };
    let unquoted = ["|", "||", "&&", "&", ";", ">", ">>", "<", "2>&1"];
    if let Some(word) = words.iter().find(|word| unquoted.contains(&word.as_str())) {
        let quoted = shlex::try_quote(line).unwrap_or_default();
        return Err(Usage(format!(
            "'{word}' needs a shell, and programs are launched without one; \
             if it is meant, write: sh -c {quoted}"
        ))
        .into());
    }
    from_words(words)
}

fn from_words(words: Vec<String>) -> Result<Command> {
    let is_assignment = |word: &&String| {
        let name = word.split_once('=').map_or("", |(name, _)| name);
        let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
        !name.is_empty() && name.chars().all(letters) && !name.starts_with(|c: char| c.is_numeric())
    };
    let assignments = words.iter().take_while(is_assignment).count();
    let argv = &words[assignments..];
    if argv.is_empty() {
        return Err(Usage("a command is empty; name a program".to_owned()).into());
    }
    let mut command = os::program::resolve(argv)?;
    command.environment = words[..assignments]
        .iter()
        .filter_map(|word| word.split_once('='))
        .map(|(name, value)| (name.to_owned(), Some(value.to_owned())))
        .collect();
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn lines_are_split_and_variables_set() {
        let command = one_command(&words(&["A=1 B_2='x y' sh -c 'exit 0'"])).unwrap();
        assert_eq!(command.argv, ["sh", "-c", "exit 0"]);
        let pair = |name: &str, value: &str| (name.to_owned(), Some(value.to_owned()));
        assert_eq!(command.environment, [pair("A", "1"), pair("B_2", "x y")]);
        let command = one_command(&words(&["sh", "-c", "a b", "C=d"])).unwrap();
        assert_eq!(command.argv, ["sh", "-c", "a b", "C=d"]);
        assert!(command.environment.is_empty());
    }

    #[test]
    fn names_are_given_or_found() {
        let named_as = |lines: &[&str], names: &[&str]| -> Vec<String> {
            let variants = named(&words(lines), &words(names)).unwrap();
            variants.into_iter().map(|variant| variant.name).collect()
        };
        assert_eq!(named_as(&["sh -c :", "/bin/ls"], &[]), ["sh", "ls"]);
        assert_eq!(named_as(&["sh -c :", "sh"], &[]), ["A", "B"]);
        assert_eq!(named_as(&["sh -c :", "sh"], &["old"]), ["old", "B"]);
    }

    #[test]
    fn a_mistyped_option_is_no_program() {
        let error = one_command(&words(&["--rusn", "5", "sh"])).unwrap_err();
        assert!(error.is::<Usage>() && error.to_string().contains("--rusn"), "{error}");
    }

    #[test]
    fn mistakes_are_usage_errors() {
        for (lines, names) in [
            (vec!["sh -c 'x"], vec![]),
            (vec!["ls | sort"], vec![]),
            (vec![""], vec![]),
            (vec!["A=1"], vec![]),
            (vec!["sh", "ls"], vec!["a", "a"]),
            (vec!["sh"], vec!["a", "b"]),
        ] {
            let error = named(&words(&lines), &words(&names)).unwrap_err();
            assert!(error.is::<Usage>(), "{lines:?}: {error}");
        }
    }
}

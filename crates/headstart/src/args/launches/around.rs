//! What happens around launches, and where their streams lead.

use super::parameters::{Values, replaced};
use super::shell::Shell;
use crate::exit::Usage;
use crate::output::is_named_pipe;
use anyhow::Result;
use clap::builder::{OsStringValueParser, TypedValueParser};
use model::{Hooks, OutputTo, Streams};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Commands around launches and streams, as hyperfine has them.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Around launches")]
pub struct AroundArgs {
    /// Run CMD once, before the first launch
    #[arg(short, long, value_name = "CMD")]
    setup: Option<OsString>,
    /// Run CMD, untimed, before each launch; once for all commands, or once for each
    #[arg(short, long, value_name = "CMD")]
    prepare: Vec<OsString>,
    /// Run CMD, untimed, after each launch; once for all commands, or once for each
    #[arg(short = 'C', long, value_name = "CMD")]
    conclude: Vec<OsString>,
    /// Run CMD once, after the last launch
    #[arg(short, long, value_name = "CMD")]
    cleanup: Option<OsString>,
    /// What the programs read: null or a file
    #[arg(long, value_name = "WHERE", value_parser = OsStringValueParser::new().try_map(input))]
    input: Option<Input>,
    /// Where their output goes: null, pipe, inherit or a file such as ./FILE; once for all
    /// commands, or once for each
    #[arg(long, value_name = "WHERE", value_parser = OsStringValueParser::new().try_map(output))]
    output: Vec<OutputTo>,
    /// Let the programs write to the terminal: --output inherit
    #[arg(long, conflicts_with_all = ["output", "style"])]
    show_output: bool,
}

/// Where standard input comes from.
#[derive(Clone, Debug)]
struct Input(Option<PathBuf>);

fn input(name: OsString) -> Result<Input, String> {
    match PathBuf::from(&name) {
        _ if name == "null" => Ok(Input(None)),
        path if is_named_pipe(&path) => Err(pipe(&path)),
        path if path.exists() => Ok(Input(Some(path))),
        path => {
            Err(format!("there is no file '{}'; name an existing one, or null", path.display()))
        }
    }
}

fn output(name: OsString) -> Result<OutputTo, String> {
    match name.to_str() {
        Some("null") => Ok(OutputTo::Null),
        Some("pipe") => Ok(OutputTo::Pipe),
        Some("inherit") => Ok(OutputTo::Inherit),
        Some(word) if !word.contains(std::path::is_separator) => {
            Err(format!("give null, pipe, inherit, or a file with its folder, such as ./{word}"))
        }
        _ if is_named_pipe(Path::new(&name)) => Err(pipe(Path::new(&name))),
        _ => Ok(OutputTo::File(name.into())),
    }
}

fn pipe(path: &Path) -> String {
    format!("'{}' is a named pipe, which waits for its other end; name a file", path.display())
}

/// The commands around the launches of so many variants.
pub struct AroundVariants<'a> {
    asked: &'a AroundArgs,
}

impl AroundArgs {
    /// What was asked for, where it fits the number of commands.
    pub fn hooks(&self, commands: usize) -> Result<AroundVariants<'_>> {
        let counts = [
            ("--prepare", self.prepare.len()),
            ("--conclude", self.conclude.len()),
            ("--output", self.output.len()),
        ];
        match counts.iter().find(|(_, count)| *count > 1 && *count != commands) {
            Some((option, count)) => Err(Usage(format!(
                "{option} is given {count} times for {commands} commands; give it once, or once \
                 for each command (a --reference counts as the first)"
            ))
            .into()),
            None => Ok(AroundVariants { asked: self }),
        }
    }

    /// What differs from hyperfine.
    pub fn notes(&self, commands: usize) -> Vec<String> {
        let once = self.setup.is_some() || self.cleanup.is_some();
        let note = "commands are launched in turns, so every --setup comes before the first launch \
                    of all and every --cleanup after the last; what one command needs just before \
                    it belongs in --prepare";
        if once && commands > 1 { vec![note.to_owned()] } else { Vec::new() }
    }
}

impl AroundVariants<'_> {
    /// The commands around the launches of one variant.
    pub fn hooks(&self, index: usize, values: &Values, shell: &Shell) -> Result<Hooks> {
        let command = |line: Option<&OsString>| {
            let line = line.map(|line| replaced(line, values));
            line.map(|line| shell.command(OsStr::new(&line)).map(|(command, _)| command))
                .transpose()
        };
        Ok(Hooks {
            setup: command(self.asked.setup.as_ref())?,
            prepare: command(for_command(&self.asked.prepare, index))?,
            conclude: command(for_command(&self.asked.conclude, index))?,
            cleanup: command(self.asked.cleanup.as_ref())?,
        })
    }

    /// The streams of one variant.
    pub fn streams(&self, index: usize) -> Streams {
        let output = match for_command(&self.asked.output, index) {
            _ if self.asked.show_output => OutputTo::Inherit,
            output => output.cloned().unwrap_or_default(),
        };
        let input = self.asked.input.as_ref().and_then(|input| input.0.clone());
        Streams { input, output }
    }
}

/// The value of one command: its own, or the one of all.
fn for_command<T>(values: &[T], index: usize) -> Option<&T> {
    match values {
        [all] => Some(all),
        each => each.get(index),
    }
}

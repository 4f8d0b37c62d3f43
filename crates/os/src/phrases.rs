//! Phrases that name what is typed on a command line: their words are those of the program that
//! links this crate, as its signal handlers are.
//!
//! They become parts of errors that the launcher process sends as text, and of figures and records
//! that are kept, so they are not added afterwards.

use std::path::Path;
use std::sync::OnceLock;

/// What can only be said with names of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phrase<'a> {
    /// The name of what asks for real-time scheduling.
    Realtime,
    /// The name of what asks for cold launches.
    Cold,
    /// The name of what says which output makes a program ready.
    UntilOutput,
    /// Measure to the end of the program.
    MeasureToExit,
    /// Have the file removed before each launch.
    RemoveBeforeLaunch,
    /// Choose another CPU to launch on, or any.
    ChooseCpu,
    /// Launch on any CPU.
    AnyCpu,
    /// The command that checks what is permitted on this machine.
    CheckMachine,
    /// The command that shows what is in a file.
    Inspect(&'a Path),
}

static WORDS: OnceLock<fn(Phrase<'_>) -> String> = OnceLock::new();

/// Sets the words of this process, and of the launchers that it starts from now on; once. Without
/// them phrases are told by their own names.
pub fn set_words(words: fn(Phrase<'_>) -> String) {
    WORDS.get_or_init(|| words);
}

impl Phrase<'_> {
    /// In the words of the program.
    pub fn words(self) -> String {
        WORDS.get().map_or_else(|| format!("{self:?}"), |words| words(self))
    }
}

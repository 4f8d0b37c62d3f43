//! What is typed, where launches, checks, their errors and views speak of it.

use os::phrases::Phrase;
use report::CommandWords;

/// How to say when a program is ready: the end of a sentence.
pub const SAY_WHEN_READY: &str = "use --until to say when such a program is ready";
/// What shows which programs are busy.
const CHECK_MACHINE: &str = if cfg!(windows) { "Task Manager" } else { "headstart doctor" };

/// What that shows.
const CHECKED: &str =
    if cfg!(windows) { "which programs are busy" } else { "what makes this machine noisy" };

/// What views say of the command line.
pub const VIEW_WORDS: CommandWords = CommandWords {
    say_when_ready: SAY_WHEN_READY,
    check_machine: CHECK_MACHINE,
    checked: CHECKED,
    more_rounds: "--runs or --precision",
    keep_best: "the same command with --out DIR",
    install: "headstart install",
    install_fixed: "headstart install --fixed",
    bundle: "headstart bundle --out DIR",
    install_library_path: "--library-path",
    rerandomize: "headstart rerandomize",
    warm: "headstart warm",
};

/// A phrase in the words of the command line.
pub fn words(phrase: Phrase<'_>) -> String {
    let words = match phrase {
        Phrase::Realtime => "--realtime",
        Phrase::Cold => "--cold",
        Phrase::UntilOutput => "--until output",
        Phrase::MeasureToExit => "measure with --until exit",
        Phrase::RemoveBeforeLaunch => "let --prepare remove it before each launch",
        Phrase::ChooseCpu if cfg!(windows) => {
            "choose one that 'Set affinity' in Task Manager offers, or use --no-pin"
        }
        Phrase::ChooseCpu => "choose a CPU that taskset -cp $$ lists, or use --no-pin",
        Phrase::AnyCpu => "use --no-pin",
        Phrase::CheckMachine => CHECK_MACHINE,
        Phrase::Inspect(path) => return format!("headstart inspect '{}'", path.display()),
    };
    words.to_owned()
}

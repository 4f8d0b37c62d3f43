//! Errors of the laboratory in the words of the command line: which option asked for what failed,
//! and which one helps.

use crate::exit::{
    FILES, HEADSTART_FAILED, Known, NOT_PERMITTED, PROGRAM_FAILED, TIMED_OUT, USAGE,
};
use lab::command_line::CommandLineError;
use lab::{FolderRemedy, HookKind, LabError, Series, StreamKind};
use model::{Until, quoted_path};
use std::path::Path;

/// What makes a line for the shell of this host succeed.
const IGNORING: &str = if cfg!(windows) { "& exit 0" } else { "|| true" };

impl Known for LabError {
    fn code(&self) -> u8 {
        match self {
            LabError::Launch(error) => error.code(),
            #[cfg(target_os = "linux")]
            LabError::Wine(error) => error.code(),
            LabError::CommandLine(CommandLineError::Launch(error)) => error.code(),
            LabError::CommandLine(_) | LabError::NoDefaultFolder | LabError::Unsuitable(_) => USAGE,
            LabError::Workload(error) => error.code(),
            LabError::Failed { .. }
            | LabError::NotCounted { .. }
            | LabError::NeverReady { .. }
            | LabError::Hook { .. } => PROGRAM_FAILED,
            LabError::TimedOut { .. } => TIMED_OUT,
            LabError::Folder { .. } | LabError::Stream { .. } => FILES,
            LabError::Cold(_) => NOT_PERMITTED,
            _ => HEADSTART_FAILED,
        }
    }

    fn words(&self) -> String {
        match self {
            LabError::Workload(error) => error.words(),
            LabError::NoDefaultFolder => format!("{self}; name a folder with --save"),
            LabError::Failed { .. } => {
                format!("{self}\nTo measure it anyway, start a new run with --ignore-failure.")
            }
            LabError::NotCounted { .. } => {
                format!("{self}\nTo count it anyway, use --ignore-failure.")
            }
            LabError::TimedOut { .. } => format!(
                "{self}; allow more time with --timeout, or measure until it is ready with --until"
            ),
            LabError::NeverReady { command, ending, until, output } => format!(
                "{command}: it {} before it was ready (--until {}){output}",
                ending.words(),
                until_words(until)
            ),
            LabError::Hook { hook, output, .. } => {
                let correct = if output.is_empty() { "; correct" } else { "\nCorrect" };
                format!(
                    "{} {self}{correct} it; where its failure does not matter, append '{IGNORING}' \
                     (not with -N)",
                    hook_option(*hook)
                )
            }
            LabError::Folder { path, problem, remedy } => {
                let remedy = folder_remedy(remedy, path);
                format!("run folder '{}': {problem}; {remedy}", path.display())
            }
            LabError::Stream { stream: StreamKind::Input, .. } => format!("--input {self}"),
            LabError::Stream { stream: StreamKind::Output, .. } => format!("--output {self}"),
            LabError::Cold(problem) => format!("--cold: {problem}"),
            _ => self.to_string(),
        }
    }
}

fn hook_option(hook: HookKind) -> &'static str {
    match hook {
        HookKind::Setup => "--setup",
        HookKind::Prepare => "--prepare",
        HookKind::Conclude => "--conclude",
        HookKind::Cleanup => "--cleanup",
    }
}

/// When a launch is complete, as it is typed after `--until`.
pub fn until_words(until: &Until) -> String {
    match until {
        Until::Exit => "exit".to_owned(),
        Until::Entry => "entry".to_owned(),
        Until::Output(pattern) => format!("output:{pattern}"),
        Until::Port(port) => format!("port:{port}"),
        Until::File(path) => format!("file:{path}"),
    }
}

fn folder_remedy(remedy: &FolderRemedy, path: &Path) -> String {
    const ANOTHER: &str = "choose another folder with --save";
    match remedy {
        FolderRemedy::Another => ANOTHER.to_owned(),
        FolderRemedy::ContinueOrAnother(series) => {
            let (verb, path) = (verb(*series), quoted_path(path));
            format!("continue that run with headstart {verb} --resume {path} or {ANOTHER}")
        }
        FolderRemedy::WritableOrAnother => "make it writable or choose another --save".to_owned(),
        FolderRemedy::FreeSpace => "free some space, then continue with --resume; the launches \
                                    before this one are kept"
            .to_owned(),
        FolderRemedy::Other(remedy) => remedy.clone(),
    }
}

/// The command that goes on with a run.
pub fn verb(series: Series) -> &'static str {
    match series {
        Series::OfOne => "measure",
        Series::OfSeveral => "compare",
        Series::OfSizes => "scale",
    }
}

/// A note that a run is not kept though that was not asked for.
pub fn unkept(error: &LabError) -> String {
    let why = match error {
        LabError::NoDefaultFolder => format!("{error}; use --save"),
        _ => error.words(),
    };
    format!("The launches are not kept on disk: {why}.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Ending;

    #[test]
    fn the_next_step_is_no_part_of_what_a_command_wrote() {
        let hook = |output: &str| {
            let (command, output) = ("false".to_owned(), output.to_owned());
            LabError::Hook { hook: HookKind::Prepare, command, ending: Ending::Code(1), output }
        };
        let remedy = format!(
            "orrect it; where its failure does not matter, append '{IGNORING}' (not with -N)"
        );
        let text = hook("").words();
        assert_eq!(text, format!("--prepare false: it ended with exit code 1; c{remedy}"));
        let text = hook("; it wrote:\n  | no").words();
        assert!(text.ends_with(&format!("  | no\nC{remedy}")), "{text}");
    }

    #[test]
    fn a_crash_on_windows_is_a_program_that_failed() {
        let (command, output) = ("a.exe".to_owned(), String::new());
        let error = LabError::Failed { command, ending: Ending::of_windows(0xc000_0135), output };
        assert_eq!(error.code(), PROGRAM_FAILED);
        let told = "a.exe: it ended with status c0000135 (a DLL was not found)";
        assert!(error.words().starts_with(told), "{}", error.words());
    }

    #[test]
    fn a_folder_that_holds_a_run_can_be_continued() {
        let path = Path::new("/a b");
        let words = folder_remedy(&FolderRemedy::ContinueOrAnother(Series::OfSizes), path);
        let quoted = quoted_path(path);
        assert_eq!(
            words,
            format!(
                "continue that run with headstart scale --resume {quoted} or choose another folder \
                 with --save"
            )
        );
        assert!(folder_remedy(&FolderRemedy::FreeSpace, path).contains("--resume"));
    }
}

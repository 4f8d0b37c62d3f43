//! Why PE files are not rewritten, told with the options that help.

use crate::exit::{self, FileError, Usage, WithCode};
use dlls::rebase::LayoutError;
use dlls::signature::Signatures;
use dlls::{Advice, FoundRecord, Refusal, RefusalReason, RewriteError};
use model::figures::plural;

/// A reason, and in words that go on behind it what can be done.
pub fn advised(reason: &RefusalReason) -> String {
    let text = &reason.text;
    let Some(advice) = reason.advice else { return text.clone() };
    let advice = match advice {
        Advice::StripSignature(Signatures { authenticode: true, strong_name: true, .. }) => {
            "--strip-signature removes both, or rewrite the file before it is signed"
        }
        Advice::StripSignature(Signatures { strong_name: true, .. }) => {
            "--strip-signature clears it, or rewrite the file before it is signed"
        }
        Advice::StripSignature(_) => {
            "--strip-signature removes it, or rewrite the file before it is signed"
        }
        Advice::KeepOverlay => {
            "--keep-overlay moves them with the end of the file, but test the result"
        }
        Advice::FindDll => "give that file too, or its folder with --search",
        Advice::Realign => "headstart pe realign --file-alignment 4096 makes room",
        Advice::ClearNoBind => "headstart pe flags --clear no-bind removes that mark",
        Advice::MovePrograms => return format!("{text} (--programs moves it too)"),
        Advice::Unbind => "headstart pe unbind undoes that",
        Advice::UnbindFirst => {
            "undo that with headstart pe unbind first, and bind it again afterwards"
        }
    };
    format!("{text}; {advice}")
}

/// Why a file is refused, and what can be done.
pub fn reason(refusal: &Refusal) -> String {
    advised(&refusal.reason())
}

/// A file that is not rewritten, as an error with its exit code. `others` of the same set are
/// refused too.
fn declines(refusal: Refusal, others: Option<u64>) -> anyhow::Error {
    let reason = reason(&refusal);
    let path = match refusal {
        Refusal::Unreadable(error) => return error.into(),
        Refusal::Refused { path, .. } => path,
    };
    let reason = match others {
        None => reason,
        Some(0) => format!("{reason}. Nothing was written, including the other files"),
        Some(more) => format!(
            "{reason}. Nothing was written; {} refused too",
            plural(more, "other file is", "other files are")
        ),
    };
    declined(&path, &reason)
}

/// A file that is not rewritten, as an error with its exit code.
pub fn declined(path: &str, reason: &str) -> anyhow::Error {
    WithCode { code: exit::NO, text: format!("{path} is not rewritten: {reason}") }.into()
}

/// A record of imports by ordinal that cannot be used, as an error with its exit code.
pub fn unusable(refusal: Refusal) -> anyhow::Error {
    match refusal {
        Refusal::Unreadable(error) => error.into(),
        Refusal::Refused { path, reason } => {
            WithCode { code: exit::FILES, text: format!("{path}: {}", reason.text) }.into()
        }
    }
}

/// Why a set was not rewritten, as an error with its exit code.
pub fn error(error: RewriteError) -> anyhow::Error {
    match error {
        RewriteError::Refused { refusal, others } => declines(refusal, others),
        RewriteError::Image(error) => error.into(),
        RewriteError::Apply(error) => error.into(),
        RewriteError::Database(error) => error.into(),
        RewriteError::Record(refusal) => unusable(refusal),
        RewriteError::Io { path, source, remedy } => {
            FileError { path: path.display().to_string(), source, remedy }.into()
        }
        RewriteError::Layout(error) => Usage(layout(&error)).into(),
        RewriteError::RecordExists { found, .. } => {
            Usage(format!("{error}: {}", record_remedy(found))).into()
        }
        RewriteError::SeveralFolders => {
            Usage(format!("{error}; write the results to one folder with --out")).into()
        }
        RewriteError::SameResult { .. } | RewriteError::Pattern(_) => {
            Usage(error.to_string()).into()
        }
    }
}

fn layout(error: &LayoutError) -> String {
    match error {
        LayoutError::Full { .. } => {
            format!("{error}; rebase fewer files, or choose a different --base")
        }
        LayoutError::Above { name, base, end } => format!(
            "{name} has 32-bit addresses and must be below {end:#x}, but --base is {base:#x}; \
             choose a lower --base, or rebase such images separately"
        ),
        LayoutError::Unaligned(_) => error.to_string(),
    }
}

/// What to do about a record, or another file of its name, where one is to be written.
fn record_remedy(found: FoundRecord) -> &'static str {
    match found {
        FoundRecord::Unreadable => {
            "it is no record that this headstart can read; move it elsewhere first"
        }
        FoundRecord::Spent => {
            "none of the imports that it lists is left; remove it, and run this again"
        }
        FoundRecord::InUse => {
            "files beside it are already converted; --undo restores those of --in-place, and \
             --out to another folder converts the rest; if none was converted, remove it"
        }
    }
}

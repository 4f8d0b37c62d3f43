//! Why a file, or a set of files, is not rewritten.

use crate::rebase::{DatabaseError, LayoutError};
use crate::signature::Signatures;
use files::WriteError;
use image::ImageError;
use std::path::{Path, PathBuf};

/// Why a file is not rewritten.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] ImageError),
    /// It must not, or cannot be.
    #[error("{path}: {reason}")]
    Refused {
        /// The file.
        path: String,
        /// Why.
        reason: RefusalReason,
    },
}

/// Why something is not done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct RefusalReason {
    /// What was found, and what to do.
    pub text: String,
    /// What else can be done, by whom it was asked for.
    pub advice: Option<Advice>,
}

impl<T: Into<String>> From<T> for RefusalReason {
    fn from(text: T) -> RefusalReason {
        RefusalReason { text: text.into(), advice: None }
    }
}

impl RefusalReason {
    /// The same with what can be done about it, if anything is known.
    pub fn with(self, advice: impl Into<Option<Advice>>) -> RefusalReason {
        RefusalReason { advice: advice.into(), ..self }
    }
}

/// What a user can do besides, as data: only the command line knows how that is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Rewrite it without these signatures.
    StripSignature(Signatures),
    /// Let what was appended to the image move with its end.
    KeepOverlay,
    /// Say where the DLL is.
    FindDll,
    /// Align the sections to 4096 bytes in the file, which makes room in the headers.
    Realign,
    /// Clear the flag NO_BIND.
    ClearNoBind,
    /// Have programs moved too.
    MovePrograms,
    /// Undo that it is bound.
    Unbind,
    /// The same before anything else, and bind it again afterwards.
    UnbindFirst,
}

impl Refusal {
    /// A refusal with its reason.
    pub fn new(path: impl Into<String>, reason: impl Into<RefusalReason>) -> Refusal {
        Refusal::Refused { path: path.into(), reason: reason.into() }
    }

    /// Why, without the file's path where that is told beside it.
    pub fn reason(&self) -> RefusalReason {
        match self {
            Refusal::Unreadable(error) => error.to_string().into(),
            Refusal::Refused { reason, .. } => reason.clone(),
        }
    }

    /// What else can be done about it.
    pub fn advice(&self) -> Option<Advice> {
        self.reason().advice
    }
}

/// Why files are not rewritten, or not restored.
#[derive(Debug, thiserror::Error)]
pub enum RewriteError {
    /// One of them is refused, so none is written.
    #[error("{refusal}")]
    Refused {
        /// The first that is.
        refusal: Refusal,
        /// Of several files, how many others are refused too.
        others: Option<u64>,
    },
    /// A file cannot be read.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// A file cannot be written.
    #[error(transparent)]
    Apply(#[from] WriteError),
    /// Two results would be one file.
    #[error("{}", same_result(first, second, *one))]
    SameResult {
        /// How the file is named first.
        first: PathBuf,
        /// How it is named then, or another file of the same name.
        second: PathBuf,
        /// Whether one file is named twice.
        one: bool,
    },
    /// A record of imports by ordinal cannot be used.
    #[error("{0}")]
    Record(Refusal),
    /// A record of imports by ordinal, or another file of its name, is where one is to be written.
    #[error("{} already exists", path.display())]
    RecordExists {
        /// The file.
        path: PathBuf,
        /// What it is.
        found: FoundRecord,
    },
    /// Results that need one record would be in several folders.
    #[error("files of several folders cannot share one headstart-ordinals.json")]
    SeveralFolders,
    /// A pattern of names is not one.
    #[error("{0}")]
    Pattern(String),
    /// There is no place for the images of a set.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The database of places cannot be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The system refused.
    #[error("{}: {source}; {remedy}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
        /// The next step.
        remedy: &'static str,
    },
}

/// What stands where a record of imports by ordinal is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundRecord {
    /// No record that can be read.
    Unreadable,
    /// A record of imports of which none is left.
    Spent,
    /// A record of files that are converted.
    InUse,
}

impl From<Refusal> for RewriteError {
    fn from(refusal: Refusal) -> RewriteError {
        RewriteError::Refused { refusal, others: None }
    }
}

fn same_result(first: &Path, second: &Path, one: bool) -> String {
    let (first, second) = (first.display(), second.display());
    match one {
        true if first.to_string() == second.to_string() => {
            format!("{first} is named twice; name it once")
        }
        true => format!("{first} and {second} are the same file; name it once"),
        false => {
            format!("{first} and {second} would be the same file; write them to different folders")
        }
    }
}

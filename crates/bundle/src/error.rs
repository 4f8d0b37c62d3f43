//! Why there is no bundle, or why it cannot be written, moved or verified.

use files::reasons::{in_the_way, unread, unwritten};
use std::path::{Path, PathBuf};

/// Why there is no bundle.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The closure cannot be read or does not resolve.
    #[error(transparent)]
    Closure(#[from] loader::GraphError),
    /// This program is not bundled, or not in this way.
    #[error("{program} is not bundled: {reason}")]
    Declined {
        /// The program.
        program: String,
        /// Why.
        reason: DeclineReason,
    },
    /// References that nothing defines.
    #[error(
        "{module} refers to {symbol}, which neither it nor any library defines: {}",
        if *.lazy {
            "the loader looks for it at its first call, which may never come, but a bundle binds all \
             at its start"
        } else {
            "the program would fail as it is, check it with `ldd -r`"
        }
    )]
    Unresolved {
        /// Who refers.
        module: String,
        /// The symbol, with its version.
        symbol: String,
        /// It is looked for at its first call only.
        lazy: bool,
    },
    /// A file cannot be read as an image.
    #[error(transparent)]
    Image(#[from] image::ImageError),
    /// There is no bundle there.
    #[error("{} has no bundle that headstart has made: {found}", folder.display())]
    NotABundle {
        /// What was named.
        folder: PathBuf,
        /// What is wrong with it.
        found: String,
    },
    /// Nothing that headstart made is there.
    #[error("{} is no folder that headstart has made: {found}", folder.display())]
    NotOurs {
        /// What was named.
        folder: PathBuf,
        /// What is wrong with it.
        found: String,
    },
    /// What would be replaced was not made by headstart, or is not as it was made.
    #[error("{} {found}; nothing was changed", path.display())]
    Occupied {
        /// The file or folder.
        path: PathBuf,
        /// What was found, to follow the path.
        found: String,
        /// The next step.
        advice: BundleAdvice,
    },
    /// What something is made of was written to.
    #[error(
        "{} was added, changed or removed while headstart was working, so nothing was made; run \
         the command again when no other program writes there",
        .0.display()
    )]
    ChangedMeanwhile(PathBuf),
    /// A bundle that the kernel puts elsewhere at every launch.
    #[error(
        "the bundle in {} keeps address-space layout randomization: each launch already has \
         different addresses",
        .0.display()
    )]
    NotFixed(PathBuf),
    /// A recording says nothing of the program.
    #[error(
        "the recording of {command} says nothing of {program}{}: record a launch of that",
        if *.changed { " as it is now, as it has changed since" } else { "" }
    )]
    OtherRecording {
        /// The program.
        program: String,
        /// What was recorded.
        command: String,
        /// It was recorded, and is another file now.
        changed: bool,
    },
    /// What a launch reads cannot be recorded.
    #[error(transparent)]
    NotRecorded(os::LaunchError),
    /// The kernel does not map what a bundle asks for at its start.
    #[error(
        "nothing was made: mapping pages of several places at once needs Linux 6.15 or later, without \
         a seccomp filter that refuses process_madvise (the call failed: {0})"
    )]
    NotPopulated(std::io::Error),
    /// The launch that was to be recorded did not end well, or nothing of it is known.
    #[error(
        "the recorded launch {what}; the {} bundle in {} {}", if *.kept { "former" } else { "new" }, .folder.display(),
        match (*.kept, *.read_ahead, *.populate) {
            (true, _, _) => "was not replaced",
            (false, true, true) => "reads nothing ahead and maps no pages at once",
            (false, true, false) => "reads nothing ahead",
            (false, false, _) => "maps no pages at once",
        }
    )]
    LaunchNotRecorded {
        /// What became of it.
        what: String,
        /// Where the bundle is.
        folder: PathBuf,
        /// It is the one that was there before.
        kept: bool,
        /// What is read ahead was to be recorded.
        read_ahead: bool,
        /// What is mapped at once was to be recorded.
        populate: bool,
    },
    /// A file of the bundle cannot be written.
    #[error("{} cannot be written: {}", path.display(), unwritten(path, source))]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A bundle that stays where it is cannot be given another base.
    #[error(
        "{} cannot be written: {}; the bundle is whole, with its old base or a new one: fix that, \
         then do this again",
        path.display(),
        in_the_way(path, source)
    )]
    NotMoved {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file cannot be read.
    #[error("{}: {}", path.display(), unread(path, source))]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Why a program is not bundled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct DeclineReason {
    /// What was found.
    pub text: String,
    /// What can be done about it, if anything is known.
    pub advice: Option<BundleAdvice>,
}

impl<T: Into<String>> From<T> for DeclineReason {
    fn from(text: T) -> DeclineReason {
        DeclineReason { text: text.into(), advice: None }
    }
}

impl DeclineReason {
    /// The same with what can be done about it.
    pub(crate) fn with(self, advice: BundleAdvice) -> DeclineReason {
        DeclineReason { advice: Some(advice), ..self }
    }
}

/// What a user can do, as data: only the command line knows how that is typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BundleAdvice {
    /// Keep this library outside.
    KeepOutside(String),
    /// Keep large libraries outside.
    KeepLargeOutside,
    /// Keep some libraries outside.
    KeepSomeOutside,
    /// Make a bundle at fixed addresses.
    MakeFixed,
    /// Move the file away and make the bundle again, or make it in another folder.
    MoveAway,
    /// Make it in another folder: what is there has to stay.
    AnotherFolder,
    /// Learn from a launch what the program opens.
    Learn,
}

impl BundleError {
    pub(crate) fn declined(program: &Path, reason: impl Into<DeclineReason>) -> BundleError {
        let program = program.display().to_string();
        BundleError::Declined { program, reason: reason.into() }
    }

    pub(crate) fn write(path: &Path, source: std::io::Error) -> BundleError {
        BundleError::Write { path: path.to_owned(), source }
    }

    pub(crate) fn io(path: &Path, source: std::io::Error) -> BundleError {
        BundleError::Io { path: path.to_owned(), source }
    }
}

//! Which exit code an error has of what rewrites, merges and launches programs, and the next step.

use crate::exit::{
    FILES, HEADSTART_FAILED, Known, NO, NOT_PERMITTED, NOT_STARTED, PROGRAM_FAILED, USAGE,
};
use bundle::{BundleAdvice, BundleError, DeclineReason};
use optimize::{BuildRemedy, OptimizeError};
use os::wine::WineError;
use sharing::SharingError;

impl Known for WineError {
    fn code(&self) -> u8 {
        match self {
            WineError::Launch(error) => error.code(),
            WineError::Prefix { .. } => FILES,
            WineError::ServerGone => HEADSTART_FAILED,
            _ => NOT_STARTED,
        }
    }
}

impl Known for SharingError {
    fn code(&self) -> u8 {
        match self {
            SharingError::Launch(error) => error.code(),
            SharingError::Memory(error) if error.is_refusal() => NOT_PERMITTED,
            SharingError::Memory(_) => NO,
            SharingError::Lost(_) => PROGRAM_FAILED,
        }
    }
}

impl Known for BundleError {
    fn code(&self) -> u8 {
        match self {
            BundleError::Closure(error) => error.code(),
            BundleError::Declined { .. }
            | BundleError::Unresolved { .. }
            | BundleError::NotPopulated(_)
            | BundleError::NotFixed(_) => NO,
            BundleError::Image(error) => error.code(),
            BundleError::NotRecorded(error) => error.code(),
            BundleError::LaunchNotRecorded { .. } => {
                crate::exit::interrupted().unwrap_or(PROGRAM_FAILED)
            }
            BundleError::NotABundle { .. }
            | BundleError::NotOurs { .. }
            | BundleError::ChangedMeanwhile(_)
            | BundleError::Write { .. }
            | BundleError::NotMoved { .. }
            | BundleError::OtherRecording { .. }
            | BundleError::Occupied { .. }
            | BundleError::Io { .. } => FILES,
        }
    }

    fn words(&self) -> String {
        match self {
            BundleError::Declined {
                reason: DeclineReason { advice: Some(advice), .. }, ..
            } => {
                format!("{self}; {}", in_words(advice))
            }
            BundleError::Occupied { advice, .. } => format!("{self}: {}", in_words(advice)),
            BundleError::Unresolved { lazy: true, .. } => format!(
                "{self}; leave the library out with --outside, or link it with what defines it"
            ),
            BundleError::NotRecorded(error) => error.words(),
            BundleError::NotPopulated(_) => format!("{self}; omit --populate"),
            BundleError::NotFixed(_) => {
                format!("{self}; only bundles made with --fixed need a new base")
            }
            _ => self.to_string(),
        }
    }
}

fn in_words(advice: &BundleAdvice) -> String {
    let words = match advice {
        BundleAdvice::KeepOutside(library) => return format!("try --outside {library}"),
        BundleAdvice::KeepLargeOutside => "leave large libraries out with --outside",
        BundleAdvice::KeepSomeOutside => "leave libraries out with --outside",
        BundleAdvice::MakeFixed => "with --fixed its libraries are merged at fixed addresses too",
        BundleAdvice::MoveAway => {
            "move it away and make the bundle again, or make it in another folder (headstart \
             bundle --out)"
        }
        BundleAdvice::AnotherFolder => "name another folder with --out",
        BundleAdvice::Learn => "name a launch that opens what it needs: --learn -- COMMAND",
    };
    words.to_owned()
}

impl Known for OptimizeError {
    fn code(&self) -> u8 {
        match self {
            OptimizeError::Graph(error) => error.code(),
            OptimizeError::Lab(error) => error.code(),
            OptimizeError::UnknownVariant { .. } | OptimizeError::InMemory { .. } => USAGE,
            OptimizeError::Launch(error) => error.code(),
            OptimizeError::NotFollowed { source, .. } => source.code(),
            OptimizeError::Privileged { .. } | OptimizeError::Bundle { .. } => NO,
            OptimizeError::Fails { .. }
            | OptimizeError::Unsteady { .. }
            | OptimizeError::Check { .. } => PROGRAM_FAILED,
            OptimizeError::Folder { .. }
            | OptimizeError::NotAgain { .. }
            | OptimizeError::Disk { .. } => FILES,
            _ => HEADSTART_FAILED,
        }
    }

    fn words(&self) -> String {
        match self {
            OptimizeError::Lab(error) => error.words(),
            OptimizeError::Fails { by_loader: false, .. } => {
                format!("{self} To treat this as success, use --ignore-failure.")
            }
            OptimizeError::Check { .. } => format!("--check {self}"),
            OptimizeError::Folder { remedy: BuildRemedy::AnotherResult, .. } => {
                format!("{self} (--out)")
            }
            _ => self.to_string(),
        }
    }
}

//! Which exit code an error of a library has that every host has.

use super::{FILES, HEADSTART_FAILED, INTERRUPTED, Known, NO, NOT_PERMITTED, NOT_STARTED, USAGE};
use dlls::rebase::DatabaseError;
use files::{WriteAdvice, WriteError};
use image::ImageError;
use loader::GraphError;
use model::quoted;
use os::{FailureKind, LaunchError};
use rewrite::ElfRewriteError;
use workload::{Size, Unsupported, WorkloadError};

/// A file of another kind, or a damaged one, is an answer; one that cannot be read is none.
impl Known for ImageError {
    fn code(&self) -> u8 {
        match self {
            ImageError::Io { .. } | ImageError::NotAFile { .. } | ImageError::Changed(_) => FILES,
            _ => NO,
        }
    }
}

impl Known for GraphError {
    fn code(&self) -> u8 {
        match self {
            GraphError::Image(error) => error.code(),
            GraphError::Library { .. } => FILES,
            _ => NO,
        }
    }
}

impl Known for LaunchError {
    fn code(&self) -> u8 {
        match self.kind() {
            FailureKind::Program => NOT_STARTED,
            FailureKind::NotPermitted => NOT_PERMITTED,
            FailureKind::Interrupted => INTERRUPTED,
            FailureKind::System => HEADSTART_FAILED,
        }
    }
}

impl Known for WorkloadError {
    fn code(&self) -> u8 {
        match self {
            WorkloadError::TooLarge { .. }
            | WorkloadError::Unsupported(_)
            | WorkloadError::Pe(_) => USAGE,
            WorkloadError::NotEmpty { .. }
            | WorkloadError::Claimed { .. }
            | WorkloadError::Io { .. } => FILES,
            _ => HEADSTART_FAILED,
        }
    }

    fn words(&self) -> String {
        match self {
            WorkloadError::TooLarge { sizes, .. } => {
                format!("{self}; choose a smaller {}", size_options(sizes))
            }
            WorkloadError::Unsupported(unsupported) => {
                format!("{self}; {}", supported(*unsupported))
            }
            _ => self.to_string(),
        }
    }
}

/// `--sources, --classes or --functions`.
fn size_options(sizes: &[Size]) -> String {
    let option = |size: &Size| match size {
        Size::Dlls => "--dlls",
        Size::Functions => "--functions",
        Size::Globals => "--globals",
        Size::Sources => "--sources",
        Size::Classes => "--classes",
        Size::N => "--n",
    };
    let mut options: Vec<&str> = sizes.iter().map(option).collect();
    let last = options.pop().unwrap_or_default();
    if options.is_empty() { last.to_owned() } else { format!("{} or {last}", options.join(", ")) }
}

/// The options of a workload that can be generated.
fn supported(unsupported: Unsupported) -> &'static str {
    match unsupported {
        Unsupported::SourceOfPe => "omit --source, or use --format elf",
        Unsupported::OrdinalsInElf => "use --by name, or --format pe",
        Unsupported::ElfProcessor => "omit --arch, or use --format pe",
        Unsupported::DawsonProcessor => "use --arch x86_64",
    }
}

impl Known for ElfRewriteError {
    fn code(&self) -> u8 {
        match self {
            ElfRewriteError::Graph { source } => source.code(),
            ElfRewriteError::Declined { .. }
            | ElfRewriteError::NothingToGain { .. }
            | ElfRewriteError::Edit { .. }
            | ElfRewriteError::Parted { .. }
            | ElfRewriteError::Privileged { .. }
            | ElfRewriteError::Changed { .. } => NO,
            ElfRewriteError::Image(error) => error.code(),
            ElfRewriteError::Apply(_) | ElfRewriteError::Io { .. } => FILES,
        }
    }

    fn words(&self) -> String {
        match self {
            ElfRewriteError::Parted { beside, .. } => format!(
                "{self}; write the copy beside the original (--out {}), or make a bundle, which \
                 keeps the original's path (headstart bundle)",
                quoted(beside)
            ),
            ElfRewriteError::Apply(error) => error.words(),
            _ => self.to_string(),
        }
    }
}

impl Known for WriteError {
    fn code(&self) -> u8 {
        FILES
    }

    fn words(&self) -> String {
        match self {
            WriteError::Refused { .. } => format!("{}; nothing was changed", unwritten(self)),
            WriteError::Partly { .. } => unwritten(self),
            _ => self.to_string(),
        }
    }
}

/// Why a file was not written and what can be done, without what became of it.
pub fn unwritten(error: &WriteError) -> String {
    let reason = error.reason();
    let Some(advice) = error.advice() else { return reason };
    let advice = match advice {
        WriteAdvice::Copy => "write a copy with --out",
        WriteAdvice::CopyElsewhere => "write a copy elsewhere with --out",
        WriteAdvice::UndoFirst => {
            "take that back first with --undo, or write the further change to a copy with --out"
        }
        WriteAdvice::UndoRest => "fix that, then run the same command with --undo",
    };
    format!("{reason}; {advice}")
}

impl Known for DatabaseError {
    fn code(&self) -> u8 {
        FILES
    }
}

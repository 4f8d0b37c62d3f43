//! Errors of traces of functions, and of linkers' maps: which exit code they have, and the next step.

use super::{AsKnown, FILES, Known, USAGE, as_known};
use ordering::launched::{ModuleAdvice, ModuleError};
use ordering::maps::MapReadError;
use ordering::trace::TraceReadError;
use ordering::trace::uftrace::UftraceError;

/// The types of known errors.
pub(super) const KNOWN: &[AsKnown] = &[
    as_known::<TraceReadError>,
    as_known::<UftraceError>,
    as_known::<MapReadError>,
    as_known::<ModuleError>,
];

impl Known for TraceReadError {
    fn code(&self) -> u8 {
        FILES
    }
}

impl Known for UftraceError {
    fn code(&self) -> u8 {
        FILES
    }
}

impl Known for MapReadError {
    fn code(&self) -> u8 {
        FILES
    }
}

impl Known for ModuleError {
    fn code(&self) -> u8 {
        USAGE
    }

    fn words(&self) -> String {
        let advice = match self.advice() {
            None => return self.to_string(),
            Some(ModuleAdvice::GiveImage) => "give it with --image",
            Some(ModuleAdvice::NameModule) => "name one of them with --module",
            Some(ModuleAdvice::TraceProgram) => {
                "if it is a script, trace the program that it starts, or name a module with --module"
            }
            Some(ModuleAdvice::ListModules) => "headstart trace --json lists the modules",
        };
        format!("{self}; {advice}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_asked_for_by_options() {
        let modules = || "a, b".to_owned();
        for (error, option) in [
            (ModuleError::NamesOnly, "--image"),
            (
                ModuleError::NothingTold { modules: modules() },
                "a, b; name one of them with --module",
            ),
            (ModuleError::NoSuchModule("x".to_owned()), "headstart trace --json"),
        ] {
            assert!(error.words().contains(option), "{}", error.words());
        }
    }
}

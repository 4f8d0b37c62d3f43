//! Orders of functions: which exit code an error has, and the next step on the command line.

use crate::exit::{
    FILES, HEADSTART_FAILED, Known, NO, NOT_STARTED, PROGRAM_FAILED, TIMED_OUT, USAGE,
};
use ordering::attempt::{AttemptAdvice, AttemptError, BecameOfOld, OUT};
use ordering::ended::{BadEnding, Ended};
use ordering::verify::VerifyError;
use ordering::windows::WindowsLaunchError;

impl Known for WindowsLaunchError {
    fn code(&self) -> u8 {
        match self {
            WindowsLaunchError::Wine(error) => error.code(),
            _ => NOT_STARTED,
        }
    }
}

impl Known for VerifyError {
    fn code(&self) -> u8 {
        match self {
            VerifyError::Launch(error) => error.code(),
            VerifyError::Lab(error) => error.code(),
            VerifyError::Image(error) => error.code(),
            VerifyError::Ended(error) => error.code(),
            VerifyError::NotRecorded { .. } => NO,
            _ => USAGE,
        }
    }

    fn words(&self) -> String {
        match self {
            VerifyError::Launch(error) => error.words(),
            VerifyError::Lab(error) => error.words(),
            VerifyError::Image(error) => error.words(),
            VerifyError::Ended(error) => error.words(),
            _ => self.to_string(),
        }
    }
}

impl Known for Ended {
    fn code(&self) -> u8 {
        match self.how {
            BadEnding::TimedOut => TIMED_OUT,
            BadEnding::Failed(_) | BadEnding::Incomplete(_) => PROGRAM_FAILED,
        }
    }

    fn words(&self) -> String {
        match self.how {
            BadEnding::TimedOut => format!(
                "{self}; give it more with --timeout, or say when its launch is complete with --until"
            ),
            BadEnding::Incomplete(_) => format!("{self}; check --until"),
            BadEnding::Failed(_) => format!("{self} (--ignore-failure accepts that)"),
        }
    }
}

/// The error of another library that this one passes on.
fn passed_on(error: &AttemptError) -> Option<&dyn Known> {
    Some(match error {
        AttemptError::Launch(error) => error,
        AttemptError::Image(error) => error,
        AttemptError::Write(error) => error,
        AttemptError::Verify(error) => error,
        AttemptError::Ended(error) => error,
        _ => return None,
    })
}

impl Known for AttemptError {
    fn code(&self) -> u8 {
        match self {
            AttemptError::OtherProgram { .. } | AttemptError::NoCalls { .. } => USAGE,
            // The relink command ends well, but does not do what the options say of it.
            AttemptError::Missing { .. }
            | AttemptError::Unwritten { .. }
            | AttemptError::OldChanged { .. } => USAGE,
            AttemptError::Empty { .. } | AttemptError::Unchanged { .. } => NO,
            AttemptError::Relink { .. } => PROGRAM_FAILED,
            AttemptError::Relinked { old: BecameOfOld::Lost { .. }, .. } => FILES,
            AttemptError::Relinked { error, .. } => error.code(),
            _ => passed_on(self).map_or(HEADSTART_FAILED, Known::code),
        }
    }

    fn words(&self) -> String {
        if let Some(error) = passed_on(self) {
            return error.words();
        }
        match self {
            AttemptError::Relinked { error, old } => format!("{}; {old}", error.words()),
            _ => self.advice().map_or_else(
                || self.to_string(),
                |advice| format!("{self}; {}", advice_of_attempt(advice)),
            ),
        }
    }
}

fn advice_of_attempt(advice: AttemptAdvice) -> String {
    match advice {
        AttemptAdvice::WriteThere => format!(
            "let the command write the program there, or name the place with --out and {OUT}"
        ),
        AttemptAdvice::DependOnOrder => format!(
            "make the program depend on the order file, or name what the command writes with --out \
             and {OUT}"
        ),
        AttemptAdvice::NameNoPlace => {
            format!("leave out --out and {OUT} if the command replaces the program")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ordering::attempt::NewBuild;
    use std::path::PathBuf;

    #[test]
    fn the_next_step_names_the_option() {
        let path = || PathBuf::from("p");
        let back = || BecameOfOld::PutBack { path: path(), new: NewBuild::None };
        let lost = || Box::new(AttemptError::Missing { path: path() });
        for (error, option) in [
            (AttemptError::Missing { path: path() }, "--out and @OUT@"),
            (AttemptError::Unwritten { path: path() }, "--out and @OUT@"),
            (AttemptError::OldChanged { path: path() }, "leave out --out"),
            (AttemptError::Relinked { error: lost(), old: back() }, "--out and @OUT@; 'p' is as"),
        ] {
            assert!(error.words().contains(option), "{}", error.words());
        }
    }
}

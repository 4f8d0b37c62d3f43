//! Where tests end the work, as if headstart were killed there.

use crate::ProgramError;
use std::cell::Cell;

/// Counts the places at which the work can be ended; never ends it outside of tests.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    left: Cell<Option<u32>>,
}

impl Stop {
    /// Ends the work at the place of this number, counted from 0.
    #[cfg(test)]
    pub(crate) fn at(number: u32) -> Stop {
        Stop { left: Cell::new(Some(number)) }
    }

    /// One of these places.
    pub(crate) fn here(&self) -> Result<(), ProgramError> {
        match self.left.get() {
            Some(0) => Err(ProgramError::Stopped),
            left => {
                self.left.set(left.map(|left| left - 1));
                Ok(())
            }
        }
    }
}

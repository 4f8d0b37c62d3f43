//! The machine and how busy it is.

use std::io;

/// Whether headstart may start the threads that it works with: Windows limits them by memory alone.
///
/// # Errors
/// None.
pub fn may_start_threads() -> Result<(), (String, io::Error)> {
    Ok(())
}

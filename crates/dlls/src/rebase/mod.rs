//! Moving images to other preferred bases, so that a set of them can be loaded without collisions.
//!
//! A loader that finds an image's preferred base taken relocates it: it reads every page that holds
//! an address, changes it, and keeps it private to the process. Here that is done once, to the file.
//!
//! Source: *PE Format*, *The .reloc Section*; Matt Pietrek, *Optimizing DLL Load Time Performance*,
//! MSDN Magazine, May 2000.

mod apply;
mod audit;
mod database;
mod ground;
mod layout;
mod mov;
mod moving;
mod problem;
mod set;
mod stamp;

pub use database::{Database, DatabaseError, Entry};
pub use layout::{LayoutError, SLOT, Space};
pub use moving::{Examined, Options, Rebased, examine, glance, rebase};
pub use problem::Problem;
pub use set::{Candidate, Place, Policy, Recorded, Role, is_cygwin_runtime, lay_out};

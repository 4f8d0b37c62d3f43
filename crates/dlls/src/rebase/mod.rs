//! Moving images to other preferred bases, so that a set of them can be loaded without collisions.
//!
//! A loader that finds an image's preferred base taken relocates it: it reads every page that holds
//! an address, changes it, and keeps it private to the process. Here that is done once, to the file.
//!
//! Source: *PE Format*, *The .reloc Section*; Matt Pietrek, *Optimizing DLL Load Time Performance*,
//! MSDN Magazine, May 2000.

mod apply;
mod at_once;
mod audit;
mod database;
mod layout;
mod mov;
mod moving;
mod plan;
mod problem;
mod read;
mod relocator;
mod remember;
mod request;
mod set;
mod stamp;
mod write;

pub use database::DatabaseError;
pub use layout::LayoutError;
pub use moving::{Examined, RebaseOptions, Rebased, examine, examine_headers, rebase};
pub use problem::Problem;
pub use request::{RebaseRequest, RebasedFile, Standing, rebase_set};
pub use set::{Candidate, Mobility, Placement, Policy, lay_out};

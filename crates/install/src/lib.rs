//! Optimized programs in the place of the originals, until they are taken out again.
//!
//! ```text
//! install: refuse ─► journal ─► diversion, or a folder of links ─► made (a bundle, verified) ─► in place
//! renew:   finish or undo what was interrupted ─► fresh, moved, or made again
//! ```
//!
//! - `journal`: the state of a program, on the disk before anything is changed. Whenever headstart is
//!   killed, the program can be started by its path, and [`renew`] or [`remove`] end what was begun.
//! - `diversion`: the original gets another name that dpkg knows of, and the bundle gets its path.
//! - `linked`: a link to the bundle in a folder that comes first in PATH, and desktop entries.
//! - `made`: the bundle is made, and held against the original.
//! - `guard`: who could decide what root launches.
//! - `hooks`: what renews programs by itself after packages have changed.

mod choose;
mod desktop;
mod diversion;
mod dpkg;
mod error;
mod forgotten;
mod guard;
mod hash;
mod hooks;
mod install;
mod journal;
mod linked;
mod list;
mod made;
mod placed;
mod places;
mod profile;
mod refuse;
mod remove;
mod renew;
mod stop;
mod swap;
#[cfg(test)]
mod tests;
mod told;
mod workshop;

pub use choose::is_diverted_by_path;
pub use dpkg::Dpkg;
pub use error::ProgramError;
pub use guard::{of_another, replaceable};
pub use hooks::{HookPlaces, UnitPlace};
pub use install::{ProgramRequest, install};
pub use list::list;
pub use places::InstallPlaces;
pub use remove::{Which, remove};
pub use renew::renew;

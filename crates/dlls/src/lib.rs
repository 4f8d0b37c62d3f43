//! Programs and DLLs of the PE format, rewritten: where they are loaded, what their imports are
//! bound to, how their files are laid out.
//!
//! Everything here is thought out before the first byte is written, and returned as bytes:
//! writing is [`image::apply`]'s.

pub mod bind;
pub mod elsewhere;
mod error;
mod files;
pub mod flags;
pub mod hints;
pub mod names;
pub mod ordinal;
pub mod realign;
pub mod rebase;
mod resolve;
mod set;
pub mod signature;
pub mod survey;
pub mod tables;

pub use error::Declined;
pub use files::{Files, folder_of};
pub use resolve::{Export, Found, Missing, Resolved, Unresolved};
pub use set::{Key, Member, Set};

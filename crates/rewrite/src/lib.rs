//! Changes to one ELF file that make a program start faster, and the proof that each changes
//! nothing else.
//!
//! | change | what the loader is spared |
//! |---|---|
//! | [`relr`] | reading 24 bytes for each relative relocation |
//! | [`no_pie`] | relative relocations altogether |
//! | [`order_needed`] | probes in modules that do not have the symbol |
//! | [`selfbind`] | look-ups of an image's own symbols |
//!
//! Each works on the image alone or on a simulated launch, and none touches an original unless it
//! is told to ([`WriteTo::InPlace`]).

mod already;
mod error;
mod file;
pub mod no_pie;
pub mod order_needed;
mod origin;
pub mod relr;
mod same_launch;
pub mod selfbind;
mod unpublished;

pub use error::{Declined, ElfRewriteError};
pub use file::{Rewritten, WriteTo, WrittenImage, file};
pub use origin::{MovedCopy, refuse_parting};
pub use same_launch::LaunchChanged;

//! Programs and DLLs of the PE format, rewritten: where they are loaded, what their imports are
//! bound to, how their files are laid out.
//!
//! Everything here is thought out before the first byte is written, and returned as bytes:
//! writing is [`image::apply`]'s.

mod error;

pub use error::Declined;

//! Programs and DLLs of the PE format, rewritten: where they are loaded, what their imports are
//! bound to, how their files are laid out.
//!
//! Every result is known before the first byte is written; `rewrite` has the files written.

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
pub mod rewrite;
mod set;
pub mod signature;
pub mod survey;
pub mod tables;

pub use error::{Advice, FoundRecord, Refusal, RefusalReason, RewriteError};
pub use files::OpenFiles;
pub use model::MemberId;
pub use resolve::{Export, FoundBy, Missing, Resolved, Unresolved};
pub use set::{Key, Member, Set};

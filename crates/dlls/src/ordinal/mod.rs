//! Imports by name made imports by ordinal, for DLLs that are shipped together; and the record of
//! what has to stay as it is for that.

mod convert;
mod record;
mod verify;

pub use convert::{Converted, Function, convert};
pub use record::{Dll, Importer, Imports, RECORD, Record};
pub use verify::{Mismatch, Verification, verify};

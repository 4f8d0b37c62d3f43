//! Imports by name made imports by ordinal, for DLLs that are shipped together; and the record of
//! what has to stay as it is for that.

pub(crate) mod beside;
mod convert;
mod record;
mod set;
mod verify;

pub use convert::{ConvertedImports, OrdinalImport, convert};
pub use record::{Dll, Importer, Imports, RECORD, Record};
pub use set::{ConvertedSet, convert_set};
pub use verify::{Mismatch, Verification, verify};

//! Functions by their names.

use image::{FunctionStarts, TableFunction};
use model::{Rva, text};
use std::path::Path;

/// Where the function `name` of the PE image at `path` begins, if it has that.
pub(crate) fn pe_function(functions: &FunctionStarts, path: &str, name: &str) -> Option<Rva> {
    let table = image::function_table(Path::new(&text::name(path))).ok()?;
    let named = |function: &&TableFunction| function.names.iter().any(|known| known == name);
    let address = table.functions.iter().find(named)?.address;
    u32::try_from(address.since(functions.preferred_base)?).ok().map(Rva)
}

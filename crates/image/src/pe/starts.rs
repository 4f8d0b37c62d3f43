//! Where the functions of a PE image begin: by its exception table, symbols, exports, entry points
//! and the table of Control Flow Guard.

use super::build_id;
use super::function_places::{Places, address, code};
use super::read::Pe;
use crate::{FunctionStarts, ImageError};
use model::Format;
use std::path::Path;

/// The starts of functions in the PE file `bytes`; `name` is only its name in errors, `path` where
/// it is, for its PDB file.
pub(crate) fn starts(
    name: &str,
    bytes: &[u8],
    path: Option<&Path>,
) -> Result<FunctionStarts, ImageError> {
    let file = Pe::parse(name, bytes)?;
    let places = Places::read(&file, path);
    let headers = file.headers();
    let mut found = FunctionStarts {
        format: Format::Pe,
        build_id: Some(build_id::read(&file)),
        preferred_base: headers.base,
        image_bytes: headers.image_bytes.into(),
        entry: headers.entry,
        code: code(&file),
        starts: Vec::new(),
        bytes: Vec::new(),
    };
    for start in places.starts {
        found.add(bytes, address(&file, start));
    }
    Ok(found)
}

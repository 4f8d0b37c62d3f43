//! What a bundle says of itself: a program and its libraries that `headstart bundle` has merged.

use crate::error::ImageError;
use object::{Object, ObjectSection};
use std::collections::BTreeSet;
use std::path::Path;

/// The section of the code that runs first in every bundle.
const OWN: &str = ".text.headstart";
/// Sections of a merged library are named after it.
const PREFIXES: [&str; 4] = [".text.", ".rodata.", ".data.", ".bss."];
/// What stands behind a prefix in a section that belongs to no library.
const NO_LIBRARY: [&str; 2] = ["headstart", "headers"];

/// The names of the libraries that are merged in the bundle at `path`; `None` for any other file.
///
/// # Errors
/// The file cannot be read.
pub fn merged(path: &Path) -> Result<Option<BTreeSet<String>>, ImageError> {
    let Some((_, bytes)) = crate::map(path)? else { return Ok(None) };
    Ok(merged_in(&bytes))
}

fn merged_in(bytes: &[u8]) -> Option<BTreeSet<String>> {
    let file = object::File::parse(bytes).ok()?;
    let names: Vec<&str> = file.sections().filter_map(|section| section.name().ok()).collect();
    if !names.contains(&OWN) {
        return None;
    }
    let libraries = names.into_iter().filter_map(library);
    Some(libraries.filter(|name| !NO_LIBRARY.contains(name)).map(str::to_owned).collect())
}

/// What a section's name says it is of.
fn library(section: &str) -> Option<&str> {
    PREFIXES.into_iter().find_map(|prefix| section.strip_prefix(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_no_bundles() {
        assert_eq!(merged_in(b"#!/bin/sh\n"), None);
        let own = std::env::current_exe().unwrap();
        assert_eq!(merged(&own).unwrap(), None);
        assert!(merged(Path::new("/no/such/file")).is_err());
    }
}

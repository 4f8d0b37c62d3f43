//! What a bundle says of itself: a program and its libraries that `headstart bundle` has merged.

use super::Loadable;
use crate::error::ImageError;
use model::Va;
use object::{Object, ObjectSection};
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

/// The section of the code that runs first in every bundle.
const OWN: &str = ".text.headstart";
/// Sections of a merged library are named after it.
const PREFIXES: [&str; 4] = [".text.", ".rodata.", ".data.", ".bss."];
/// What stands behind a prefix in a section that belongs to no library; others begin with the first and a dot.
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
    Some(names.into_iter().filter_map(library).map(str::to_owned).collect())
}

/// The bytes of the code that runs first in a bundle; `None` for any other image.
pub fn preamble(image: &Loadable) -> Option<(Va, &[u8])> {
    let section = image.sections().into_iter().find(|section| section.name == OWN)?;
    let extent = section.header.extent();
    let bytes = image.bytes().get(extent.start.index()..extent.end.index())?;
    Some((section.header.address, bytes))
}

/// Name and addresses of each library that is merged in a bundle, as its sections tell.
pub fn merged_at(image: &Loadable) -> Vec<(String, Range<Va>)> {
    let mut libraries: Vec<(String, Range<Va>)> = Vec::new();
    for section in image.sections() {
        let Some(name) = library(&section.name) else { continue };
        let start = section.header.address;
        let end = start.saturating_add(section.header.size);
        match libraries.iter_mut().find(|(known, _)| known == name) {
            Some((_, range)) => *range = range.start.min(start)..range.end.max(end),
            None => libraries.push((name.to_owned(), start..end)),
        }
    }
    libraries
}

/// The library that a section's name says it is of.
fn library(section: &str) -> Option<&str> {
    let [own, headers] = NO_LIBRARY;
    let name = PREFIXES.into_iter().find_map(|prefix| section.strip_prefix(prefix))?;
    let of_own =
        name.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    (!of_own && name != headers).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_of_libraries_are_told_from_the_bundles_own() {
        assert_eq!(library(".text.libz.so.1"), Some("libz.so.1"));
        assert_eq!(library(".bss.headstarter.so"), Some("headstarter.so"));
        for own in [".text", ".text.headstart", ".rodata.headers", ".rodata.headstart.ahead"] {
            assert_eq!(library(own), None, "{own}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn other_files_are_no_bundles() {
        assert_eq!(merged_in(b"#!/bin/sh\n"), None);
        let own = std::env::current_exe().unwrap();
        assert_eq!(merged(&own).unwrap(), None);
        assert!(preamble(&Loadable::open(&own).unwrap()).is_none());
        assert!(merged(Path::new("/no/such/file")).is_err());
    }
}

//! Names of tools in the toolchain's folder: links to the bundles' files. They are switched when all bundles
//! are there, each at once. Only links that headstart made are replaced or removed, and none is followed.

use super::BUNDLES;
use crate::error::BundleError;
use crate::make::RUN;
use crate::verify::looks;
use crate::write::manifest;
use crate::write::ownership::{lstat, occupied};
use image::elf::Loadable;
use model::text::text;
use model::toolchain::ToolchainManifest;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Component, Path, PathBuf};

/// The links in the folder of a toolchain.
pub(super) struct Links<'a> {
    folder: &'a Path,
    /// Those of the manifest that was there.
    known: BTreeMap<String, String>,
}

impl<'a> Links<'a> {
    /// Those of a folder, of which `before` is the manifest.
    pub(super) fn new(folder: &'a Path, before: Option<&ToolchainManifest>) -> Links<'a> {
        let tools = before.into_iter().flat_map(|manifest| &manifest.tools);
        let links = tools.flat_map(|tool| tool.links.clone());
        Links { folder, known: links.collect() }
    }

    /// Refuses a name that something else has.
    ///
    /// # Errors
    /// Something that headstart did not make is there.
    pub(super) fn check(&self, name: &OsStr) -> Result<(), BundleError> {
        let path = self.folder.join(name);
        match lstat(&path)? {
            Some(data) if !data.is_symlink() => {
                Err(occupied(&path, "is there, and is not a link that headstart made"))
            }
            Some(_) if !self.is_ours(name) => {
                Err(occupied(&path, "is a link that headstart did not make"))
            }
            _ => Ok(()),
        }
    }

    /// Whether this is a link that headstart made: to a tool that has this name, or to where the manifest says.
    fn is_ours(&self, name: &OsStr) -> bool {
        let Ok(target) = std::fs::read_link(self.folder.join(name)) else { return false };
        if self.known.get(&text(name)) == Some(&text(&target)) {
            return true;
        }
        let Some(bundle) = bundle_of(&target) else { return false };
        let manifest = manifest::read(&self.folder.join(BUNDLES).join(bundle));
        let tool = manifest.ok().and_then(|manifest| manifest.tool);
        tool.is_some_and(|tool| tool.names.contains_key(&text(name)))
    }

    /// Makes the name lead to `target`, at once.
    ///
    /// # Errors
    /// Something else has the name by now, or it cannot be written.
    pub(super) fn switch(&self, name: &OsStr, target: &Path) -> Result<(), BundleError> {
        self.check(name)?;
        let path = self.folder.join(name);
        let written = match std::fs::read_link(&path) {
            Ok(now) if now == target => return Ok(()),
            Ok(_) => {
                let next = self.next(name);
                // What a killed run has left.
                if next.symlink_metadata().is_ok_and(|data| data.is_symlink()) {
                    drop(std::fs::remove_file(&next));
                }
                symlink(target, &next).and_then(|()| std::fs::rename(&next, &path))
            }
            Err(_) => symlink(target, &path),
        };
        written.map_err(|error| BundleError::write(&path, error))
    }

    fn next(&self, name: &OsStr) -> PathBuf {
        let mut next = OsString::from(".headstart.");
        next.push(name);
        self.folder.join(next)
    }

    /// Removes the links that headstart made and that are not among `stay`.
    pub(super) fn remove_others(&self, stay: &BTreeMap<OsString, PathBuf>) {
        let entries = std::fs::read_dir(self.folder).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name());
        let gone = names.filter(|name| !stay.contains_key(name) && self.is_ours(name));
        for name in gone {
            // One that stays leads nowhere, or to a bundle that stays with it.
            drop(std::fs::remove_file(self.folder.join(name)));
        }
    }
}

/// The bundle to whose file a link in a toolchain's folder leads.
fn bundle_of(target: &Path) -> Option<&OsStr> {
    let mut parts = target.components();
    let (folder, bundle, file) = (parts.next()?, parts.next()?, parts.next()?);
    let is_normal = |part: &Component<'_>| matches!(part, Component::Normal(_));
    let is_ours = folder.as_os_str() == BUNDLES && is_normal(&bundle) && is_normal(&file);
    (is_ours && parts.next().is_none()).then_some(bundle.as_os_str())
}

/// Refuses a file at the place of a bundle's second name.
///
/// # Errors
/// Something that headstart did not make is there.
pub(super) fn check_entry(bundle: &Path, entry: &Path, program: &Path) -> Result<(), BundleError> {
    let path = bundle.join(entry);
    match is_our_entry(bundle, entry, program)? {
        Some(false) => Err(occupied(&path, "is there, and headstart did not make it")),
        _ => Ok(()),
    }
}

/// Whether the second name is there, and is that of this bundle or of an earlier one of the program.
pub(super) fn is_our_entry(
    bundle: &Path,
    entry: &Path,
    program: &Path,
) -> Result<Option<bool>, BundleError> {
    let path = bundle.join(entry);
    let Some(data) = lstat(&path)? else { return Ok(None) };
    let run = lstat(&bundle.join(RUN))?;
    let is_run = run.is_some_and(|run| (run.dev(), run.ino()) == (data.dev(), data.ino()));
    let is_former = || {
        let image = Loadable::open(&path).ok();
        let looks = image.as_ref().and_then(looks);
        data.is_file() && looks.is_some_and(|looks| looks.original == program)
    };
    Ok(Some(is_run || is_former()))
}

/// Gives the bundle's file a second name: that of the tool, as some programs follow links to tell by the name
/// what a compiler is. Where the file system knows no second names it is `run` that is linked to. From the
/// bundle's folder.
pub(super) fn second_name(bundle: &Path, entry: &Path) -> PathBuf {
    let (run, path) = (bundle.join(RUN), bundle.join(entry));
    let next = bundle.join(".entry.next");
    let named = || -> io::Result<()> {
        let _ = std::fs::remove_file(&next);
        std::fs::hard_link(&run, &next)?;
        let renamed = std::fs::rename(&next, &path);
        // Where both were one file already, rename(2) has left both names.
        let _ = std::fs::remove_file(&next);
        renamed
    };
    match named() {
        Ok(()) => entry.to_owned(),
        Err(_) => {
            // An earlier bundle must not stay under this name.
            let _ = std::fs::remove_file(&path);
            RUN.into()
        }
    }
}

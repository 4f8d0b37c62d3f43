//! PE images that belong together, by the names that loaders look for.

use crate::files::{Files, folder_of};
use crate::names::{is_api_set, key, key_of_file, text};
use crate::{Declined, Missing};
use image::pe::Pe;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// By what a DLL is found: its machine (`IMAGE_FILE_MACHINE_*`) and its name as loaders compare it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Images of different machines are never loaded into one process.
    pub machine: u16,
    /// Lower case, with its extension.
    pub name: Vec<u8>,
}

impl Key {
    /// What the file at `path` is found by.
    pub fn of(machine: u16, path: &Path) -> Key {
        Key { machine, name: key_of_file(path) }
    }
}

/// One image of a set.
#[derive(Debug)]
pub struct Member<'a> {
    path: PathBuf,
    folder: PathBuf,
    key: Key,
    pe: Pe<'a>,
    /// Positions of names, once a name was not where halving looks for it.
    pub(crate) positions: OnceLock<HashMap<&'a [u8], usize>>,
}

impl<'a> Member<'a> {
    pub(crate) fn new(path: &Path, pe: Pe<'a>) -> Member<'a> {
        Member {
            path: path.to_owned(),
            folder: folder_of(path),
            key: Key::of(pe.headers().machine, path),
            pe,
            positions: OnceLock::new(),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its path as text.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// The name of the file, without its folder, as text.
    pub fn file_name(&self) -> String {
        text(self.path.file_name().unwrap_or_default().to_string_lossy().as_bytes())
    }

    /// What it is found by.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// Its content.
    pub fn pe(&self) -> &Pe<'a> {
        &self.pe
    }
}

/// Images that belong together. Those named come first; those found for them in folders follow,
/// and are looked at only.
#[derive(Debug)]
pub struct Set<'a> {
    members: Vec<Member<'a>>,
    named: usize,
    by_name: HashMap<Key, Vec<usize>>,
    found_by: HashMap<(PathBuf, Key), usize>,
}

impl Files {
    /// The set that they are.
    pub fn set(&self) -> Set<'_> {
        let named = self.named.iter().map(|file| (file.path(), file.pe()));
        let mut set = Set::of(named);
        let found = self.found.iter().map(|file| Member::new(file.path(), file.pe()));
        set.members.extend(found);
        let behind = |(by, index): (&(PathBuf, Key), &usize)| (by.clone(), index + set.named);
        set.found_by = self.found_by.iter().map(behind).collect();
        set
    }
}

impl<'a> Set<'a> {
    /// A set of images by their paths, without further folders. The files need not be there.
    pub fn of<'p>(named: impl IntoIterator<Item = (&'p Path, Pe<'a>)>) -> Set<'a> {
        let members: Vec<Member<'a>> =
            named.into_iter().map(|(path, pe)| Member::new(path, pe)).collect();
        let mut by_name: HashMap<Key, Vec<usize>> = HashMap::new();
        for (index, member) in members.iter().enumerate() {
            by_name.entry(member.key.clone()).or_default().push(index);
        }
        Set { named: members.len(), members, by_name, found_by: HashMap::new() }
    }

    /// Number of images that were named: the members 0 … n − 1.
    pub fn named(&self) -> usize {
        self.named
    }

    /// All images.
    pub fn members(&self) -> &[Member<'a>] {
        &self.members
    }

    /// An image by its number.
    pub fn member(&self, index: usize) -> Option<&Member<'a>> {
        self.members.get(index)
    }

    /// Which image the import of `name` by image `from` leads to: a named one (of several, that of the
    /// importer's own folder), else one of the importer's own folder, else one of the other folders,
    /// in order.
    ///
    /// # Errors
    /// It is an API set, not at hand, or two images have that name.
    pub fn dll(&self, from: usize, name: &[u8]) -> Result<usize, Missing> {
        let named = || text(name);
        let importer = self.members.get(from).ok_or_else(|| Missing::NotAtHand(named()))?;
        let key = Key { machine: importer.key.machine, name: key(name) };
        if is_api_set(&key.name) {
            return Err(Missing::ApiSet(named()));
        }
        match self.by_name.get(&key).map(Vec::as_slice) {
            Some([only]) => return Ok(*only),
            Some(several) => {
                return self.beside(importer, several).ok_or(Missing::Ambiguous(named()));
            }
            None => {}
        }
        let found = self.found_by.get(&(importer.folder.clone(), key));
        found.copied().ok_or_else(|| Missing::NotAtHand(named()))
    }

    /// The one of several that is in the importer's own folder, where loaders look first.
    fn beside(&self, importer: &Member<'_>, several: &[usize]) -> Option<usize> {
        let folder = |index: &&usize| {
            self.member(**index).is_some_and(|member| member.folder == importer.folder)
        };
        let mut own = several.iter().filter(folder);
        own.next().copied().filter(|_| own.next().is_none())
    }

    /// Says so where two of the named images have one name and machine: which of them would be
    /// loaded is not known.
    ///
    /// # Errors
    /// There are such.
    pub fn unambiguous(&self) -> Result<(), Declined> {
        let mut twins: Vec<&Vec<usize>> =
            self.by_name.values().filter(|images| images.len() > 1).collect();
        twins.sort();
        let pair = twins.first().map(|images| images.as_slice());
        let Some(&[first, second, ..]) = pair else { return Ok(()) };
        let name = |index| self.member(index).map(Member::name).unwrap_or_default();
        let folder = |index| self.member(index).map(|member: &Member<'_>| &member.folder);
        let elsewhere = match folder(first) == folder(second) {
            true => "",
            false => ", or process each folder separately",
        };
        let reason = format!(
            "{} has the same name and machine, and only one of them can be loaded; give only one \
             of them{elsewhere}",
            name(first)
        );
        Err(Declined::refused(name(second), reason))
    }
}

//! PE images that belong together, by the names that loaders look for.

use crate::files::OpenFiles;
use crate::names::{is_api_set, key, key_of_file, text};
use crate::{Missing, Refusal};
use files::folder_of;
use image::pe::Pe;
use model::MemberId;
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
    /// Positions of names, once a name was not where a binary search looks for it.
    pub(crate) positions: OnceLock<HashMap<&'a [u8], usize>>,
}

impl<'a> Member<'a> {
    pub(crate) fn new(path: &Path, pe: Pe<'a>) -> Member<'a> {
        Member {
            path: path.to_owned(),
            folder: folder_of(path).to_owned(),
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
    by_name: HashMap<Key, Vec<MemberId>>,
    found_by: HashMap<(PathBuf, Key), MemberId>,
}

impl OpenFiles {
    /// The set that they are.
    pub fn set(&self) -> Set<'_> {
        let named = self.named.iter().map(|file| (file.path(), file.pe()));
        let mut set = Set::of(named);
        let found = self.found.iter().map(|file| Member::new(file.path(), file.pe()));
        set.members.extend(found);
        let behind =
            |(by, index): (&(PathBuf, Key), &usize)| (by.clone(), MemberId::at(index + set.named));
        set.found_by = self.found_by.iter().map(behind).collect();
        set
    }
}

impl<'a> Set<'a> {
    /// A set of images by their paths, without further folders. The files need not be there.
    pub fn of<'p>(named: impl IntoIterator<Item = (&'p Path, Pe<'a>)>) -> Set<'a> {
        let members: Vec<Member<'a>> =
            named.into_iter().map(|(path, pe)| Member::new(path, pe)).collect();
        let mut by_name: HashMap<Key, Vec<MemberId>> = HashMap::new();
        for (index, member) in members.iter().enumerate() {
            by_name.entry(member.key.clone()).or_default().push(MemberId::at(index));
        }
        Set { named: members.len(), members, by_name, found_by: HashMap::new() }
    }

    /// The images that were named, in order.
    pub fn named(&self) -> impl ExactSizeIterator<Item = MemberId> + use<> {
        (0..self.named).map(MemberId::at)
    }

    /// All images, those that were named first.
    pub fn members(&self) -> &[Member<'a>] {
        &self.members
    }

    /// Whether an image was named, and not only found for those that were.
    pub fn is_named(&self, id: MemberId) -> bool {
        id.index() < self.named
    }

    /// An image of this set.
    ///
    /// # Panics
    /// The number is of another set, which is a bug.
    pub fn member(&self, id: MemberId) -> &Member<'a> {
        &self.members[id.index()]
    }

    /// Which image the import of `name` by image `from` leads to: a named one (of several, that of the
    /// importer's own folder), else one of the importer's own folder, else one of the other folders,
    /// in order.
    ///
    /// # Errors
    /// It is an API set, not at hand, or two images have that name.
    pub fn dll(&self, from: MemberId, name: &[u8]) -> Result<MemberId, Missing> {
        let named = || text(name);
        let importer = self.member(from);
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
    fn beside(&self, importer: &Member<'_>, several: &[MemberId]) -> Option<MemberId> {
        let is_beside = |id: &&MemberId| self.member(**id).folder == importer.folder;
        let mut beside = several.iter().filter(is_beside);
        beside.next().copied().filter(|_| beside.next().is_none())
    }

    /// Says so where two of the named images have one name and machine: which of them would be
    /// loaded is not known.
    ///
    /// # Errors
    /// There are such.
    pub fn unambiguous(&self) -> Result<(), Refusal> {
        let mut twins: Vec<&Vec<MemberId>> =
            self.by_name.values().filter(|images| images.len() > 1).collect();
        twins.sort();
        let pair = twins.first().map(|images| images.as_slice());
        let Some(&[first, second, ..]) = pair else { return Ok(()) };
        let (first, second) = (self.member(first), self.member(second));
        let elsewhere = match first.folder == second.folder {
            true => "",
            false => ", or process each folder separately",
        };
        let reason = format!(
            "{} has the same name and machine, and only one of them can be loaded; give only one \
             of them{elsewhere}",
            first.name()
        );
        Err(Refusal::new(second.name(), reason))
    }
}

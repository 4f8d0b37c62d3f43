//! The files of a set: those that were named, and the DLLs they import from that lie in folders
//! looked into.

use crate::names::{is_api_set, key, key_of_file};
use crate::set::Key;
use crate::{Refusal, tables};
use files::folder_of;
use image::ImageError;
use image::pe::exports::ExportTarget;
use image::pe::{Pe, PeFile};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};

/// OpenFiles that belong together, open.
#[derive(Debug)]
pub struct OpenFiles {
    pub(crate) named: Vec<PeFile>,
    pub(crate) found: Vec<PeFile>,
    /// Which of `found` an image in this folder gets under this name.
    pub(crate) found_by: HashMap<(PathBuf, Key), usize>,
}

impl OpenFiles {
    /// Opens the named files, and looks for what else they import from: in the importing file's
    /// own folder, then in those of `search`, in order.
    ///
    /// # Errors
    /// A named file cannot be read or is not PE. What is found and is not PE is passed over.
    pub fn open(named: &[PathBuf], search: &[PathBuf]) -> Result<OpenFiles, Refusal> {
        Ok(OpenFiles::of(opened(named)?, search))
    }

    /// Opens the named files, and looks for no others.
    ///
    /// # Errors
    /// A file cannot be read or is not PE.
    pub(crate) fn alone(named: &[PathBuf]) -> Result<OpenFiles, Refusal> {
        Ok(OpenFiles { named: opened(named)?, found: Vec::new(), found_by: HashMap::new() })
    }

    /// Makes sure that no file was touched since it was opened, those found among them.
    ///
    /// # Errors
    /// One was.
    pub fn unchanged(&self) -> Result<(), ImageError> {
        self.named.iter().chain(&self.found).try_for_each(PeFile::unchanged)
    }

    /// The same with files that are open already.
    pub fn of(named: Vec<PeFile>, search: &[PathBuf]) -> OpenFiles {
        let mut finder = Finder::new(&named, search);
        for file in &named {
            let folder = folder_of(file.path()).to_owned();
            for name in imported_names(&file.pe()) {
                finder.wanted.push_back((folder.clone(), file.headers().machine, name));
            }
            finder.run(&named);
        }
        let Finder { found, found_by, .. } = finder;
        OpenFiles { named, found, found_by }
    }
}

/// The files, opened; or why the first of those is not that cannot be.
fn opened(paths: &[PathBuf]) -> Result<Vec<PeFile>, ImageError> {
    paths.iter().map(|path| PeFile::open(path)).collect()
}

/// Keys of the DLLs that an image imports from; as far as its tables can be read.
fn imported_names(file: &Pe<'_>) -> BTreeSet<Vec<u8>> {
    match tables::read("", file) {
        Ok(dlls) => dlls.iter().map(|dll| key(dll.from.name)).collect(),
        Err(_) => BTreeSet::new(),
    }
}

/// Keys of the DLLs that an image forwards to.
fn forwarded_names(file: &Pe<'_>) -> BTreeSet<Vec<u8>> {
    let mut names = BTreeSet::new();
    let Ok(Some(exports)) = file.exports() else { return names };
    // Texts that overlap may be larger than the file.
    let mut left = file.bytes().len();
    for index in 0..exports.len() as u32 {
        let Some(ExportTarget::Forwarder(text)) = exports.target(index) else { continue };
        let Some(rest) = left.checked_sub(text.len()) else { break };
        left = rest;
        if let Some((dll, _)) = crate::resolve::split_forwarder(text) {
            names.insert(key(dll));
        }
    }
    names
}

struct Finder<'s> {
    search: &'s [PathBuf],
    /// The named files.
    by_name: HashMap<Key, usize>,
    /// Names in the folders that were looked into: key to file names, sorted.
    listings: HashMap<PathBuf, BTreeMap<Vec<u8>, Vec<PathBuf>>>,
    /// By path and machine.
    opened: HashMap<(PathBuf, u16), Option<usize>>,
    found: Vec<PeFile>,
    found_by: HashMap<(PathBuf, Key), usize>,
    /// Folder of the importer, machine, key.
    wanted: VecDeque<(PathBuf, u16, Vec<u8>)>,
    seen: HashSet<(PathBuf, Key)>,
}

impl<'s> Finder<'s> {
    fn new(named: &[PeFile], search: &'s [PathBuf]) -> Finder<'s> {
        let keys = named.iter().map(|file| Key::of(file.headers().machine, file.path()));
        let by_name: HashMap<Key, usize> = keys.enumerate().map(|(at, key)| (key, at)).collect();
        Finder {
            search,
            by_name,
            listings: HashMap::new(),
            opened: HashMap::new(),
            found: Vec::new(),
            found_by: HashMap::new(),
            wanted: VecDeque::new(),
            seen: HashSet::new(),
        }
    }

    /// Finds all that is wanted, and what that forwards to.
    fn run(&mut self, named: &[PeFile]) {
        while let Some((folder, machine, name)) = self.wanted.pop_front() {
            let key = Key { machine, name };
            if is_api_set(&key.name) || !self.seen.insert((folder.clone(), key.clone())) {
                continue;
            }
            let forwards = if let Some(&index) = self.by_name.get(&key) {
                named.get(index).map(|file| forwarded_names(&file.pe()))
            } else if let Some(index) = self.find(&folder, &key) {
                self.found_by.insert((folder.clone(), key), index);
                self.found.get(index).map(|file| forwarded_names(&file.pe()))
            } else {
                None
            };
            for name in forwards.into_iter().flatten() {
                self.wanted.push_back((folder.clone(), machine, name));
            }
        }
    }

    fn find(&mut self, folder: &Path, key: &Key) -> Option<usize> {
        let search = self.search;
        let folders = std::iter::once(folder).chain(search.iter().map(PathBuf::as_path));
        for folder in folders {
            let listing = self.listings.entry(folder.to_owned()).or_insert_with(|| listing(folder));
            for path in listing.get(&key.name).cloned().unwrap_or_default() {
                if let Some(index) = self.open(&path, key.machine) {
                    return Some(index);
                }
            }
        }
        None
    }

    /// The image at a path, if it is one for this machine.
    fn open(&mut self, path: &Path, machine: u16) -> Option<usize> {
        let key = (path.to_owned(), machine);
        if let Some(known) = self.opened.get(&key) {
            return *known;
        }
        let file = PeFile::open(path).ok().filter(|file| file.headers().machine == machine);
        let index = file.map(|file| {
            self.found.push(file);
            self.found.len() - 1
        });
        self.opened.insert(key, index);
        index
    }
}

fn listing(folder: &Path) -> BTreeMap<Vec<u8>, Vec<PathBuf>> {
    let mut names: BTreeMap<Vec<u8>, Vec<PathBuf>> = BTreeMap::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        names.entry(key_of_file(&path)).or_default().push(path);
    }
    names.values_mut().for_each(|paths| paths.sort());
    names
}

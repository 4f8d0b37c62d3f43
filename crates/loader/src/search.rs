//! Where a library is found: the rules of glibc 2.36 as Debian builds it (`_dl_map_object` of
//! elf/dl-load.c; ld.so(8)), for programs without privileges (no AT_SECURE).

mod cache;
mod error;
mod folders;
mod header;
mod machine;
mod processor;
pub(crate) mod tokens;

pub use cache::{CACHE, Cache};
pub use error::SearchError;

use files::reasons::unread;
use folders::{Folder, Folders, Rejected};
use header::Verdict;
use machine::Machine;
use model::simulation::SearchWork;
use model::text;
use processor::Processor;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use tokens::Tokens;

/// An image that asks for a library, or that loaded the one that does.
#[derive(Clone, Copy, Debug)]
pub struct Requester<'a> {
    /// `$ORIGIN`: the folder of the path that it was loaded by (of `/proc/self/exe` for the
    /// program), absolute; symbolic links of a library's path are not followed.
    pub folder: &'a Path,
    /// DT_RPATH, not split.
    pub rpath: Option<&'a str>,
    /// DT_RUNPATH, not split.
    pub runpath: Option<&'a str>,
    /// DF_1_NODEFLIB.
    pub no_default_folders: bool,
}

/// The loader's search for libraries within one process: it remembers which folders are not there.
#[derive(Debug)]
pub struct Searcher {
    processor: Processor,
    cache: Option<Cache>,
    library_path: Option<OsString>,
    /// The folders of `library_path`, once the program is known.
    library_folders: Option<Vec<Folder>>,
    default_folders: Vec<Folder>,
    folders: Folders,
    trail: Trail,
}

/// What was tried.
#[derive(Debug)]
struct Trail {
    machine: Machine,
    /// What relative paths are relative to; empty for the folder of this process.
    folder: PathBuf,
    work: SearchWork,
    attempts: Vec<PathBuf>,
    other_class: bool,
    /// The first file of the last search that may not be read.
    denied: Option<PathBuf>,
    /// Whether the last search has come to the cache.
    asked_cache: bool,
}

impl Searcher {
    /// The search in programs for `machine`, as image names it, on this system.
    /// `library_path`: value of LD_LIBRARY_PATH, if set.
    ///
    /// # Errors
    /// Libraries of that machine are not known.
    pub fn new(machine: &str, library_path: Option<&OsStr>) -> Result<Searcher, SearchError> {
        let Some(machine) = Machine::named(machine) else {
            return Err(SearchError::UnknownMachine { machine: machine.to_owned() });
        };
        let processor = Processor::here(&machine);
        Ok(Searcher {
            cache: Cache::read(Path::new(CACHE)),
            library_path: library_path.map(OsStr::to_owned),
            library_folders: None,
            default_folders: machine.default_folders(),
            folders: Folders::new(processor.subfolders()),
            trail: Trail {
                machine,
                folder: PathBuf::new(),
                work: SearchWork::default(),
                attempts: Vec::new(),
                other_class: false,
                denied: None,
                asked_cache: false,
            },
            processor,
        })
    }

    /// The same with another cache than the system's, or none.
    #[must_use]
    pub fn with_cache(self, cache: Option<Cache>) -> Searcher {
        Searcher { cache, ..self }
    }

    /// The same for a program that is launched in `folder`, not in that of this process.
    #[must_use]
    pub fn in_folder(mut self, folder: &Path) -> Searcher {
        self.trail.folder = folder.to_owned();
        self
    }

    /// What has been done since [`Searcher::new`].
    pub fn work(&self) -> SearchWork {
        self.trail.work
    }

    /// The files tried by the last [`Searcher::find`], in order, as `LD_DEBUG=libs` tells them.
    pub fn attempts(&self) -> &[PathBuf] {
        &self.trail.attempts
    }

    /// Whether the last [`Searcher::find`] has asked the cache.
    pub fn asked_cache(&self) -> bool {
        self.trail.asked_cache
    }

    /// What is put between a searched folder and a name, in order; the last is empty.
    pub fn subfolders(&self) -> Vec<String> {
        self.processor.subfolders()
    }

    /// The folders that are searched last, each with a slash at its end.
    pub fn default_folders(&self) -> impl Iterator<Item = PathBuf> {
        self.default_folders.iter().map(|folder| path_of(folder.clone()))
    }

    /// The path of `name` in the cache, whether there is such a file or not.
    pub fn cached(&self, name: impl AsRef<OsStr>) -> Option<PathBuf> {
        let cache = self.cache.as_ref()?;
        let path = cache.look_up(
            name.as_ref().as_encoded_bytes(),
            &self.trail.machine,
            &self.processor,
        )?;
        Some(path_of(path.to_vec()))
    }

    /// `name` (of DT_NEEDED) with its tokens replaced: what the loader compares with the names of
    /// what it has loaded before it searches.
    pub fn expanded(&self, name: &str, requester: &Requester<'_>) -> OsString {
        text::of_bytes(self.tokens(requester).expand(&text::bytes_of(name)))
    }

    /// The file that is taken for `name` (of DT_NEEDED or LD_PRELOAD). `requesters`: the image
    /// that asks for it, the one that loaded that, and so on to the program, which is last and
    /// also asks for what LD_PRELOAD names. The path is one that this process can open.
    ///
    /// # Errors
    /// It is not found, or a file is in the way at which the loader gives up.
    pub fn find(
        &mut self,
        name: &str,
        requesters: &[Requester<'_>],
    ) -> Result<PathBuf, SearchError> {
        self.trail.attempts.clear();
        self.trail.other_class = false;
        self.trail.denied = None;
        self.trail.asked_cache = false;
        let expanded = match requesters.first() {
            Some(requester) => self.expanded(name, requester),
            None => text::name(name),
        };
        let found = if expanded.as_encoded_bytes().contains(&b'/') {
            self.trail.take(PathBuf::from(expanded))
        } else {
            self.everywhere(&expanded, requesters)
        };
        let name = name.to_owned();
        match (found, self.trail.denied.take()) {
            (Ok(None), Some(path)) => {
                let denied = std::io::ErrorKind::PermissionDenied.into();
                let reason = unread(&path, &denied);
                Err(SearchError::Denied { name, path, reason })
            }
            (found, _) => self.told(name, found),
        }
    }

    fn told(
        &self,
        name: String,
        found: Result<Option<PathBuf>, Rejected>,
    ) -> Result<PathBuf, SearchError> {
        match found {
            Ok(Some(path)) => Ok(self.trail.folder.join(path)),
            Ok(None) if self.trail.other_class => Err(SearchError::OtherClass { name }),
            Ok(None) => Err(SearchError::NotFound { name, tried: self.trail.attempts.len() }),
            Err(Rejected { path, reason }) => Err(SearchError::Rejected { name, path, reason }),
        }
    }

    fn everywhere(
        &mut self,
        name: &OsStr,
        requesters: &[Requester<'_>],
    ) -> Result<Option<PathBuf>, Rejected> {
        let requester = requesters.first();
        for list in self.lists(requesters) {
            let found = self.folders.look(name, &list, &mut self.trail)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        let default = !requester.is_some_and(|requester| requester.no_default_folders);
        if let Some(path) = self.place_in_cache(name, default)
            && let Some(path) = self.trail.take(path)?
        {
            return Ok(Some(path));
        }
        if !default {
            return Ok(None);
        }
        self.folders.look(name, &self.default_folders, &mut self.trail)
    }

    /// The folders that the images and the environment name, list by list.
    fn lists(&mut self, requesters: &[Requester<'_>]) -> Vec<Vec<Folder>> {
        let split = |requester: &Requester<'_>, text: Option<&str>| {
            let path = text::name(text.unwrap_or_default());
            folders::split(&path, b"", self.tokens(requester))
        };
        let mut lists = Vec::new();
        let requester = requesters.first();
        if requester.is_some_and(|requester| requester.runpath.is_none()) {
            let old = requesters.iter().filter(|requester| requester.runpath.is_none());
            lists.extend(old.map(|requester| split(requester, requester.rpath)));
        }
        let runpath = requester.map(|requester| split(requester, requester.runpath));
        if let (Some(program), Some(text)) = (requesters.last(), &self.library_path) {
            let tokens = self.tokens(program);
            let folders = || folders::split(text, b";", tokens);
            lists.push(self.library_folders.get_or_insert_with(folders).clone());
        }
        lists.extend(runpath);
        lists
    }

    /// What the cache has, unless it lies where default folders do and they are not wanted.
    fn place_in_cache(&mut self, name: &OsStr, default: bool) -> Option<PathBuf> {
        self.trail.work.cache_lookups += 1;
        self.trail.asked_cache = true;
        let path = self.cached(name)?;
        let bytes = path.as_os_str().as_encoded_bytes();
        let in_default = self.default_folders.iter().any(|folder| bytes.starts_with(folder));
        (default || !in_default).then_some(path)
    }

    fn tokens<'a>(&self, requester: &Requester<'a>) -> Tokens<'a> {
        Tokens {
            origin: requester.folder,
            library_folder: self.trail.machine.library_folder,
            platform: self.processor.platform,
        }
    }
}

impl Trail {
    /// Opens a file as the loader does, and counts it.
    fn try_file(&mut self, path: &Path) -> Verdict {
        let verdict = header::verdict(&self.folder.join(path), &self.machine);
        match verdict {
            Verdict::Absent | Verdict::Denied | Verdict::Unopened => self.work.missed += 1,
            _ => self.work.opened += 1,
        }
        if verdict == Verdict::Denied {
            self.denied.get_or_insert_with(|| self.folder.join(path));
        }
        self.other_class |= verdict == Verdict::OtherClass;
        self.attempts.push(path.to_owned());
        verdict
    }

    /// `path` if it is usable.
    fn take(&mut self, path: PathBuf) -> Result<Option<PathBuf>, Rejected> {
        match self.try_file(&path) {
            Verdict::Usable => Ok(Some(path)),
            Verdict::Rejected(reason) => Err(Rejected { path, reason }),
            _ => Ok(None),
        }
    }

    fn is_folder(&mut self, path: &Path) -> bool {
        self.work.folders += 1;
        self.folder.join(path).is_dir()
    }
}

fn path_of(bytes: Vec<u8>) -> PathBuf {
    text::of_bytes(bytes).into()
}

//! Which files are carried, and under which names.

use crate::choose::by_processor;
use crate::choose::members::{self, Membership};
use crate::error::BundleError;
use crate::write::content::{self, Content};
use image::elf::Loadable;
use loader::Graph;
use loader::search::{Requester, Searcher};
use model::text::{name, text};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Beginnings of names of files that come with the C library, and go with its build.
const OF_C_LIBRARY: [&str; 15] = [
    "ld-linux",
    "libc.so.",
    "libm.so.",
    "libmvec.so.",
    "libdl.so.",
    "libpthread.so.",
    "librt.so.",
    "libutil.so.",
    "libanl.so.",
    "libresolv.so.",
    "libnsl.so.1",
    "libBrokenLocale.so.",
    "libthread_db.so.",
    "libnss_",
    "libc_malloc_debug.so.",
];
/// The folder of its converters.
const CONVERTERS: &str = "gconv";

/// What is carried.
#[derive(Clone, Debug, Default)]
pub(crate) struct Carry {
    /// Name of the folder, which follows from what is in it.
    pub(crate) folder: String,
    pub(crate) files: Vec<CarriedLibrary>,
}

impl Carry {
    /// What a file is a copy of, if it is one that is carried; else itself.
    pub(crate) fn origin(&self, path: &Path) -> PathBuf {
        let own = |text: &OsStr| text == OsStr::new(&self.folder);
        let within = path.parent().and_then(Path::file_name).is_some_and(own);
        let file = text(path.file_name().unwrap_or_default());
        let copy = self.files.iter().find(|copy| within && copy.names.contains(&file));
        copy.map_or_else(|| path.to_owned(), |copy| copy.from.clone())
    }

    /// Paths by which they may be opened, and their names.
    pub(crate) fn by_path(&self) -> Vec<(PathBuf, OsString)> {
        let files = self.files.iter().filter_map(|file| Some((&file.paths, file.names.first()?)));
        let paths =
            files.flat_map(|(paths, own)| paths.iter().map(move |path| (path.clone(), name(own))));
        paths.collect()
    }
}

/// A file that is carried.
#[derive(Clone, Debug)]
pub(crate) struct CarriedLibrary {
    pub(crate) from: PathBuf,
    pub(crate) content: Content,
    /// Names by which it may be asked for, its own first.
    pub(crate) names: Vec<String>,
    /// Paths by which it may be opened.
    pub(crate) paths: BTreeSet<PathBuf>,
}

/// What a sealed bundle carries; nothing where there is nothing.
pub(crate) fn choose(
    graph: &Graph,
    memberships: &[Membership],
    include: &BTreeSet<PathBuf>,
) -> Result<Carry, BundleError> {
    let mut choice = Choice::new(graph, memberships)?;
    for (module, membership) in graph.modules.iter().zip(memberships) {
        if !membership.is_merged() && module.path != graph.interpreter {
            if by_processor::has_variants(module) {
                let reason = format!(
                    "the loader chooses between variants of {} by the processor, and a sealed bundle \
                     would carry one of them",
                    module.path.display()
                );
                return Err(BundleError::declined(&graph.program().path, reason));
            }
            choice.add(&module.path)?;
        }
    }
    for path in include {
        choice.add(path)?;
    }
    choice.close()?;
    choice.done()
}

struct Choice<'a> {
    graph: &'a Graph,
    searcher: Searcher,
    /// Names that merged libraries answer to, and the files themselves.
    merged: BTreeSet<String>,
    merged_files: BTreeSet<(u64, u64)>,
    files: BTreeMap<(u64, u64), Chosen>,
    left: Vec<(u64, u64)>,
}

struct Chosen {
    image: Loadable,
    from: PathBuf,
    names: BTreeSet<String>,
    paths: BTreeSet<PathBuf>,
}

impl<'a> Choice<'a> {
    fn new(graph: &'a Graph, memberships: &[Membership]) -> Result<Choice<'a>, BundleError> {
        let program = &graph.program().path;
        let searcher = Searcher::new(&graph.program().image.machine, None)
            .map_err(|error| BundleError::declined(program, error.to_string()))?;
        let merged = graph.modules.iter().zip(memberships).filter(|(_, it)| it.is_merged());
        let merged: Vec<_> = merged.map(|(module, _)| module).collect();
        Ok(Choice {
            graph,
            searcher,
            merged: merged.iter().map(|module| members::name_of(module)).collect(),
            merged_files: merged.iter().filter_map(|module| module.image.identity()).collect(),
            files: BTreeMap::new(),
            left: Vec::new(),
        })
    }

    /// One more, unless it is merged or the C library's.
    fn add(&mut self, path: &Path) -> Result<(), BundleError> {
        let image = Loadable::open(path)?;
        let file = text(path.file_name().unwrap_or_default());
        let name = image.soname.clone().unwrap_or_else(|| file.clone());
        let Some(identity) = image.identity() else { return Ok(()) };
        let is_merged = self.merged_files.contains(&identity) || self.merged.contains(&name);
        if is_merged || is_of_c_library(path, &name) {
            return Ok(());
        }
        if image.machine != self.graph.program().image.machine {
            let reason = format!("{} is for {}", path.display(), image.machine);
            return Err(BundleError::declined(&self.graph.program().path, reason));
        }
        let chosen = self.files.entry(identity).or_insert_with(|| {
            self.left.push(identity);
            let (names, paths) = ([name].into(), BTreeSet::new());
            Chosen { image, from: path.to_owned(), names, paths }
        });
        chosen.names.insert(file);
        chosen.paths.insert(path.to_owned());
        chosen.paths.extend(path.canonicalize().ok());
        Ok(())
    }

    /// What they need, and what that needs.
    fn close(&mut self) -> Result<(), BundleError> {
        while let Some(identity) = self.left.pop() {
            let Some(chosen) = self.files.get(&identity) else { continue };
            let folder = chosen.from.parent().unwrap_or(Path::new("/")).to_owned();
            let requester = Requester {
                folder: &folder,
                rpath: chosen.image.rpath.as_deref(),
                runpath: chosen.image.runpath.as_deref(),
                no_default_folders: chosen.image.no_default_folders,
            };
            let requesters = [requester, self.graph.program().requester()];
            let wanted = chosen.image.needed.iter().filter(|name| !self.merged.contains(*name));
            let found: Result<Vec<PathBuf>, _> =
                wanted.map(|name| self.searcher.find(name, &requesters)).collect();
            let found = found.map_err(|error| {
                let reason = format!("{} cannot be carried: {error}", chosen.from.display());
                BundleError::declined(&self.graph.program().path, reason)
            })?;
            for path in found {
                self.add(&path)?;
            }
        }
        Ok(())
    }

    fn done(self) -> Result<Carry, BundleError> {
        let mut files = Vec::new();
        let mut taken: BTreeMap<String, PathBuf> = BTreeMap::new();
        let mut described = String::new();
        let mut all: Vec<Chosen> = self.files.into_values().collect();
        // Inodes are others in every copy.
        all.sort_by(|one, other| {
            one.names.cmp(&other.names).then_with(|| one.from.cmp(&other.from))
        });
        for chosen in all {
            let own = chosen.image.soname.clone();
            let names =
                own.iter().chain(chosen.names.iter().filter(|name| Some(*name) != own.as_ref()));
            let names: Vec<String> = names.cloned().collect();
            for one in &names {
                if let Some(other) = taken.insert(one.clone(), chosen.from.clone()) {
                    let reason = format!(
                        "{} and {} have one name, {one}, and one folder cannot hold both",
                        other.display(),
                        chosen.from.display()
                    );
                    return Err(BundleError::declined(&self.graph.program().path, reason));
                }
            }
            let content = Content::read(&chosen.from)
                .map_err(|error| BundleError::io(&chosen.from, error))?;
            described += &format!("{names:?} {}\n", content.sha256);
            files.push(CarriedLibrary { from: chosen.from, content, names, paths: chosen.paths });
        }
        let hash = content::hash(described.as_bytes());
        let folder = if files.is_empty() { String::new() } else { format!("lib-{hash:.12}") };
        Ok(Carry { folder, files })
    }
}

fn is_of_c_library(path: &Path, name: &str) -> bool {
    let converts = path.parent().and_then(Path::file_name).is_some_and(|it| it == CONVERTERS);
    converts || OF_C_LIBRARY.iter().any(|own| name.starts_with(own))
}

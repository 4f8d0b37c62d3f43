//! Which files are carried, and under which names.

use super::copy;
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
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Names of files that come with the C library, and go with its build.
const OF_C_LIBRARY: [&str; 23] = [
    "ld-linux-x86-64.so.2",
    "libc.so.6",
    "libm.so.6",
    "libmvec.so.1",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
    "libutil.so.1",
    "libanl.so.1",
    "libresolv.so.2",
    "libnsl.so.1",
    "libBrokenLocale.so.1",
    "libthread_db.so.1",
    "libnss_compat.so.2",
    "libnss_db.so.2",
    "libnss_dns.so.2",
    "libnss_files.so.2",
    "libnss_hesiod.so.2",
    "libnss_nis.so.2",
    "libnss_nisplus.so.2",
    "libc_malloc_debug.so.0",
    "libmemusage.so",
    "libpcprofile.so",
];
/// The one that is never carried and always there, with the loader.
const C_LIBRARY: &str = "libc.so.6";
/// The folder of its converters.
const CONVERTERS: &str = "gconv";

/// What is carried.
#[derive(Clone, Debug, Default)]
pub(crate) struct Carry {
    /// Name of the folder, which follows from what is in it.
    pub(crate) folder: String,
    pub(crate) files: Vec<CarriedLibrary>,
    /// What was asked for or opened and is not carried, in sentences.
    pub(crate) left_out: Vec<String>,
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
    /// Names of the copy: one that no other library has, then those by which others need it.
    pub(crate) names: Vec<String>,
    /// Paths by which it may be opened.
    pub(crate) paths: BTreeSet<PathBuf>,
}

/// What a sealed bundle carries; nothing where there is nothing. Of what a launch has opened, some can be
/// left out.
pub(crate) fn choose(
    graph: &Graph,
    memberships: &[Membership],
    include: &BTreeSet<PathBuf>,
    learnt: &BTreeSet<PathBuf>,
) -> Result<Carry, BundleError> {
    let declined = |reason: String| BundleError::declined(&graph.program().path, reason);
    let mut choice = Choice::new(graph, memberships)?;
    for (module, membership) in graph.modules.iter().zip(memberships) {
        if !membership.is_merged() && module.path != graph.interpreter {
            if by_processor::has_variants(module) {
                return Err(declined(format!(
                    "the loader selects a variant of {} by processor, and a sealed bundle would carry \
                     only one of them",
                    module.path.display()
                )));
            }
            let added = choice.add(&module.path).map_err(declined)?;
            if let Added::Not(reason) = added
                && members::name_of(module) != C_LIBRARY
            {
                let path = module.path.display();
                choice.left_out.push(format!("{path} is needed, and is not carried: {reason}."));
            }
        }
    }
    for path in include {
        if let Some(reason) = choice.with_needs(path).map_err(declined)? {
            choice.left_out.push(format!("{} is not carried: {reason}.", path.display()));
        }
    }
    for path in learnt {
        if let Err(reason) = choice.with_needs(path) {
            choice
                .left_out
                .push(format!("Not everything that the launch opened is carried: {reason}."));
        }
    }
    choice.done()
}

struct Choice<'a> {
    graph: &'a Graph,
    searcher: Searcher,
    /// Names that merged libraries answer to, and the files themselves.
    merged: BTreeSet<String>,
    merged_files: BTreeSet<(u64, u64)>,
    files: BTreeMap<(u64, u64), Chosen>,
    left_out: Vec<String>,
}

struct Chosen {
    from: PathBuf,
    /// Its DT_SONAME.
    soname: Option<String>,
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
            left_out: Vec::new(),
        })
    }

    /// One more, with what it needs, or nothing of that. Why it is not carried, where it need not be.
    fn with_needs(&mut self, path: &Path) -> Result<Option<String>, String> {
        let before: BTreeSet<(u64, u64)> = self.files.keys().copied().collect();
        let mut left = vec![path.to_owned()];
        let mut unneeded = None;
        while let Some(next) = left.pop() {
            match self.add(&next).and_then(|added| Ok((added, self.needs(&next, added)?))) {
                Ok((Added::Now, needs)) => left.extend(needs),
                Ok((Added::Not(reason), _)) if next == path => unneeded = Some(reason.to_owned()),
                Ok(_) => {}
                Err(reason) => {
                    self.files.retain(|identity, _| before.contains(identity));
                    return Err(reason);
                }
            }
        }
        Ok(unneeded)
    }

    /// One more, unless it is merged or the C library's.
    fn add(&mut self, path: &Path) -> Result<Added, String> {
        let image = Loadable::open(path).map_err(|error| error.to_string())?;
        let name = image.soname.clone().unwrap_or_else(|| file_name(path));
        let identity = image.identity().ok_or("its file is not known")?;
        if self.merged_files.contains(&identity) {
            return Ok(Added::Not("it is merged"));
        }
        if is_of_c_library(path, &name) {
            return Ok(Added::Not("it comes with the C library"));
        }
        if self.merged.contains(&name) {
            return Ok(Added::Not("a library of this name (DT_SONAME) is merged"));
        }
        if image.machine != self.graph.program().image.machine {
            return Err(format!("{} is for {}", path.display(), image.machine));
        }
        if !is_simple(&name) || !is_simple(&file_name(path)) {
            return Err(format!(
                "{} has a name (DT_SONAME or file name) that a copy of it cannot have: it is too long, or not a \
                 valid file name",
                path.display()
            ));
        }
        if image.interpreter.is_some() && image.soname.is_none() {
            return Err(format!(
                "{} is a program, which cannot be opened as a library",
                path.display()
            ));
        }
        let known = self.files.contains_key(&identity);
        let chosen = self.files.entry(identity).or_insert_with(|| {
            let names = [name].into();
            let (from, paths) = (path.to_owned(), BTreeSet::new());
            Chosen { from, soname: image.soname.clone(), names, paths }
        });
        chosen.names.insert(file_name(path));
        chosen.paths.insert(path.to_owned());
        chosen.paths.extend(path.canonicalize().ok());
        Ok(if known { Added::Before } else { Added::Now })
    }

    /// What a library that is carried needs beside merged ones.
    fn needs(&mut self, path: &Path, added: Added) -> Result<Vec<PathBuf>, String> {
        if added != Added::Now {
            return Ok(Vec::new());
        }
        let image = Loadable::open(path).map_err(|error| error.to_string())?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        let requester = Requester {
            folder,
            rpath: image.rpath.as_deref(),
            runpath: image.runpath.as_deref(),
            no_default_folders: image.no_default_folders,
        };
        let requesters = [requester, self.graph.program().requester()];
        let wanted = image.needed.iter().filter(|name| !self.merged.contains(*name));
        let found: Result<Vec<PathBuf>, _> =
            wanted.map(|name| self.searcher.find(name, &requesters)).collect();
        found.map_err(|error| format!("{} cannot be carried: {error}", path.display()))
    }

    fn done(mut self) -> Result<Carry, BundleError> {
        let mut files = Vec::new();
        let mut all: Vec<Chosen> = self.files.into_values().collect();
        // Inodes are others in every copy.
        all.sort_by(|one, other| {
            one.names.cmp(&other.names).then_with(|| one.from.cmp(&other.from))
        });
        self.left_out.extend(unnamed(&all));
        let mut taken = BTreeSet::new();
        let mut described = String::new();
        for chosen in all {
            let copy =
                copy::of(&chosen.from).map_err(|error| BundleError::io(&chosen.from, error))?;
            let content = Content::of(&copy);
            // By this it is opened: the loader gives no other library of the same DT_SONAME for it.
            let path = content::hash(chosen.from.as_os_str().as_bytes());
            let own = format!("{path:.8}-{:.8}", content.sha256);
            let names = chosen.names.into_iter().filter(|name| taken.insert(name.clone()));
            let names: Vec<String> = std::iter::once(own).chain(names).collect();
            described += &format!("{names:?} {}\n", content.sha256);
            files.push(CarriedLibrary { from: chosen.from, content, names, paths: chosen.paths });
        }
        let hash = content::hash(described.as_bytes());
        let folder = if files.is_empty() { String::new() } else { format!("lib-{hash:.12}") };
        Ok(Carry { folder, files, left_out: self.left_out })
    }
}

/// Of libraries with one DT_SONAME only the first has that name.
fn unnamed(all: &[Chosen]) -> Vec<String> {
    let mut first: BTreeMap<&String, &Path> = BTreeMap::new();
    let mut sentences = Vec::new();
    for chosen in all {
        // The names of earlier files come first, also those that are no DT_SONAME.
        if let Some(soname) = &chosen.soname
            && let Some(other) = first.get(soname)
        {
            sentences.push(format!(
                "{} and {} have the same name, {soname} (DT_SONAME), by which the latter is found.",
                chosen.from.display(),
                other.display()
            ));
        }
        for name in &chosen.names {
            first.entry(name).or_insert(&chosen.from);
        }
    }
    sentences
}

/// What became of a file that was to be carried.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Added {
    Now,
    Before,
    Not(&'static str),
}

fn file_name(path: &Path) -> String {
    text(path.file_name().unwrap_or_default())
}

/// Whether a file of the folder can have this name.
pub(super) fn is_simple(name: &str) -> bool {
    !name.is_empty()
        && name.len() < 200
        && !name.contains(['/', '\0'])
        && name != "."
        && name != ".."
}

/// Whether a library comes with the C library.
pub(crate) fn is_of_c_library(path: &Path, name: &str) -> bool {
    let converts = path.parent().and_then(Path::file_name).is_some_and(|it| it == CONVERTERS);
    converts || OF_C_LIBRARY.contains(&name)
}

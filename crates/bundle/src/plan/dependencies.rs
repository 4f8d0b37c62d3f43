//! What the bundle still needs of others: libraries outside, and where later ones are looked for.

use crate::carry::Carry;
use crate::choose::by_processor;
use crate::choose::members::{self, Membership};
use image::elf::spec;
use loader::Graph;
use loader::graph::Module;
use loader::search::Searcher;
use model::bundle::BundleCheck;
use model::text;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What the loader is told.
pub(crate) struct Dependencies {
    /// Names of the libraries outside, in the order of loading.
    pub(crate) names: Vec<String>,
    /// Those of libraries that are loaded by another name than their own, by that.
    pub(crate) by_own_name: BTreeMap<String, String>,
    /// DT_RPATH or DT_RUNPATH for what the program opens later.
    pub(crate) search: Option<(u64, String)>,
}

impl Dependencies {
    pub(crate) fn of(
        graph: &Graph,
        memberships: &[Membership],
        carry: &Carry,
        check: BundleCheck,
    ) -> Dependencies {
        let outside = || graph.modules.iter().zip(memberships).filter(|(_, m)| !m.is_merged());
        let carried = |module: &Module| carry.files.iter().any(|file| file.from == module.path);
        // The loader chooses only for names, not for paths.
        let chosen = |module: &Module| {
            check != BundleCheck::Host && by_processor::has_variants(module) && !carried(module)
        };
        let search = search_path(graph, memberships);
        // The C library stands in a folder of the system, and would be looked for in all of these before.
        let by_path = |module: &Module| {
            let stays = matches!(check, BundleCheck::Host | BundleCheck::Immutable);
            stays && search.is_some() && members::name_of(module) == members::C_LIBRARY
        };
        let name = |module: &Module| match carried(module) || chosen(module) {
            true => members::name_of(module),
            false if by_path(module) => text::text(&module.path),
            false => name(module),
        };
        let names: Vec<String> = outside().map(|(module, _)| name(module)).collect();
        let own_names = outside().map(|(module, _)| members::name_of(module));
        let by_own_name = own_names.zip(names.iter().cloned()).filter(|(own, name)| own != name);
        let by_own_name = by_own_name.collect();
        let chosen = outside().map(|(module, _)| module).filter(|module| chosen(module));
        let search = with_folders(search, chosen);
        if carry.files.is_empty() {
            return Dependencies { names, by_own_name, search };
        }
        // DT_RPATH is also where libraries that are carried look for what they need.
        let own = format!("$ORIGIN/{}", carry.folder);
        let folders = search.map_or(own.clone(), |(_, others)| format!("{own}:{others}"));
        Dependencies { names, by_own_name, search: Some((spec::DT_RPATH, folders)) }
    }
}

/// The name by which the loader finds a library that is found in the system's folders, or the
/// path of another.
fn name(module: &Module) -> String {
    let system = module.path.parent().is_some_and(is_system);
    if system { members::name_of(module) } else { text::text(&module.path) }
}

fn is_system(folder: &Path) -> bool {
    let text = folder.to_string_lossy();
    let known = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"].contains(&text.as_ref());
    known || text.ends_with("-linux-gnu")
}

/// The search path with the folders of libraries of which the loader is to choose a variant, where it would not
/// look there anyway.
fn with_folders<'a>(
    search: Option<(u64, String)>,
    chosen: impl Iterator<Item = &'a Module>,
) -> Option<(u64, String)> {
    let unknown = chosen.filter(|module| module.asked_of_cache.is_empty());
    let folders = unknown.filter_map(|module| by_processor::folder_of_variants(&module.path));
    let folders: BTreeSet<String> =
        folders.filter(|folder| !is_system(folder)).map(text::text).collect();
    if folders.is_empty() {
        return search;
    }
    let folders = folders.into_iter().collect::<Vec<String>>().join(":");
    let (tag, others) = search.unwrap_or((spec::DT_RUNPATH, String::new()));
    let others = if others.is_empty() { others } else { format!(":{others}") };
    Some((tag, format!("{folders}{others}")))
}

/// The folders of all merged modules, `$ORIGIN` replaced. None where nothing is opened.
pub(crate) fn search_path(graph: &Graph, memberships: &[Membership]) -> Option<(u64, String)> {
    let merged = || graph.modules.iter().zip(memberships).filter(|(_, m)| m.is_merged());
    let opens = |module: &Module| {
        let mut symbols = module.image.symbols().map(|(_, symbol)| symbol);
        symbols.any(|symbol| !symbol.defined && matches!(symbol.name, b"dlopen" | b"dlmopen"))
    };
    if !merged().any(|(module, _)| opens(module)) {
        return None;
    }
    // The loader looks there anyway, and later: the C library is not to be found elsewhere.
    let program = &graph.program().image;
    let machine = &program.machine;
    let searcher = Searcher::new(machine, None).ok()?;
    let system: Vec<PathBuf> = searcher.default_folders().map(|folder| resolved(&folder)).collect();
    let mut seen = BTreeSet::new();
    let mut folders = Vec::new();
    for (module, _) in merged() {
        let image = &module.image;
        let lists = [image.runpath.as_deref(), image.rpath.as_deref()];
        let Some(list) = lists.into_iter().flatten().next() else { continue };
        for folder in list.split(':').filter(|folder| !folder.is_empty()) {
            let origin = text::text(&module.origin);
            let folder = loader::origin::replaced(folder, &origin);
            if !system.contains(&resolved(Path::new(&text::name(&folder))))
                && seen.insert(folder.clone())
            {
                folders.push(folder);
            }
        }
    }
    let old = program.runpath.is_none() && program.rpath.is_some();
    let tag = if old { spec::DT_RPATH } else { spec::DT_RUNPATH };
    (!folders.is_empty()).then(|| (tag, folders.join(":")))
}

fn resolved(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

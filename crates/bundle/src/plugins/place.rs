//! The files of all groups are written, in a folder of headstart's own until the bundle has its name.

use super::choose::{Chosen, Group};
use super::file::{self, Surroundings};
use super::search::Before;
use super::told::{self, PluginTables};
use crate::carry::{self, Carry, UNFINISHED};
use crate::choose::members::Membership;
use crate::error::BundleError;
use crate::plan::Plan;
use crate::tables;
use crate::write::content::{self, Content};
use crate::write::output;
use files::reasons;
use loader::Graph;
use model::ModuleId;
use model::bundle::{BundleCheck, CarriedFile};
use model::text::text;
use rayon::prelude::*;
use startup::WrappedFunction;
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Files that are written.
pub(crate) struct Made<'a> {
    /// Where they are now.
    pub(crate) place: PathBuf,
    /// Name of the folder in which they will be.
    pub(crate) folder: String,
    pub(crate) files: Vec<CarriedFile>,
    pub(crate) plans: Vec<Plan<'a>>,
    pub(crate) names: &'a [String],
    pub(crate) tables: PluginTables,
}

/// What cannot be made, and why.
pub(crate) struct Refused {
    pub(crate) what: What,
    pub(crate) reason: String,
    /// Modules whose groups would have to be searched before those of others.
    pub(crate) order: Vec<Before>,
}

impl Refused {
    fn group(group: usize, reason: String) -> Refused {
        Refused { what: What::Group(group), reason, order: Vec::new() }
    }
}

/// What cannot be made.
pub(crate) enum What {
    /// The file of this group.
    Group(usize),
    /// This plug-in is not bound as before.
    Plugin(ModuleId),
}

/// The names of all files, which follow from what is in them.
pub(crate) struct Named {
    contents: Vec<Option<Content>>,
    names: Vec<String>,
}

/// What the files are made for.
#[derive(Clone, Copy)]
pub(crate) struct Purpose<'a> {
    /// Functions of the loader that the bundle gives.
    pub(crate) given: &'a BTreeSet<WrappedFunction>,
    pub(crate) check: BundleCheck,
    /// Nothing is carried, and a file of plug-ins has none of its own.
    pub(crate) carry: &'a Carry,
    pub(crate) none: &'a PluginTables,
}

/// Writes the file of each group below `folder`.
///
/// # Errors
/// A group of which none can be made; or a file cannot be read or written.
pub(crate) fn make<'a>(
    chosen: &'a Chosen,
    Named { contents, names }: &'a Named,
    purpose: Purpose<'a>,
    folder: &Path,
) -> Result<Result<Made<'a>, Refused>, BundleError> {
    let graph = chosen.graph();
    let place = carry::start(folder);
    let place = place.map_err(|error| BundleError::write(&folder.join(UNFINISHED), error))?;
    let mut plans = Vec::new();
    let mut files = Vec::new();
    for (number, group) in chosen.groups.iter().enumerate() {
        let memberships: Vec<Membership> = graph
            .numbered()
            .map(|(id, _)| match group.members.contains(&id) {
                true => Membership::Merged,
                false => Membership::Outside(String::new()),
            })
            .collect();
        let around = Surroundings { chosen, names, purpose, memberships: &memberships };
        let plan = match file::plan(&around, number) {
            Ok(plan) => plan,
            Err(error) => {
                return Ok(Err(Refused::group(number, error.to_string())));
            }
        };
        let path = place.join(&names[number]);
        let hashed = hashed(chosen, group, contents);
        if let Err(reason) = write(&plan, &path, hashed)? {
            return Ok(Err(Refused::group(number, reason)));
        }
        permit(graph, group, &path).map_err(|error| BundleError::write(&path, error))?;
        let content = Content::read(&path).map_err(|error| BundleError::io(&path, error))?;
        let from = text(&graph[group.members[0]].path);
        files.push(CarriedFile {
            path: names[number].clone(),
            from,
            bytes: content.bytes,
            sha256: content.sha256,
        });
        plans.push(plan);
    }
    let contents = files.iter().map(|file| (file.path.as_str(), file.sha256.as_str()));
    let own = carry::folder_of(contents);
    for file in &mut files {
        file.path = format!("{own}/{}", file.path);
    }
    let preambles = plans.iter().map(|plan| plan.layout.preamble() - plan.layout.low);
    let told: Vec<(String, u64)> = names.iter().cloned().zip(preambles).collect();
    let tables = PluginTables::new(chosen, &own, &told)?;
    Ok(Ok(Made { place, folder: own, files, plans, names, tables }))
}

impl Named {
    /// The groups' names.
    ///
    /// # Errors
    /// A group of which a library cannot be read.
    pub(crate) fn new(chosen: &Chosen) -> Result<Named, Refused> {
        let contents = contents(chosen).map_err(|(module, reason)| {
            // Only what is in a group is read.
            Refused::group(chosen.group_of(module).unwrap_or_default(), reason)
        })?;
        let names = chosen.groups.iter().map(|group| name(chosen, group, &contents)).collect();
        Ok(Named { contents, names })
    }
}

/// The content of each module that is merged, by module.
fn contents(chosen: &Chosen) -> Result<Vec<Option<Content>>, (ModuleId, String)> {
    let modules = &chosen.graph().modules;
    let merged: BTreeSet<ModuleId> =
        chosen.groups.iter().flat_map(|group| group.members.iter().copied()).collect();
    let contents = modules.par_iter().enumerate().map(|(index, module)| {
        let id = ModuleId::at(index);
        if !merged.contains(&id) {
            return Ok(None);
        }
        let content = Content::read(&module.path);
        content.map(Some).map_err(|error| (id, reasons::unread(&module.path, &error)))
    });
    contents.collect()
}

/// What tells the file of one group from all others.
fn hashed(chosen: &Chosen, group: &Group, contents: &[Option<Content>]) -> String {
    let mut described = format!("headstart {} plug-ins\n", env!("CARGO_PKG_VERSION"));
    for &member in &group.members {
        let content = contents.get(member.index()).and_then(Option::as_ref);
        let sha256 = content.map_or("", |content| &content.sha256);
        let path = &chosen.graph()[member].path;
        // A file that is kept has the mode that it had.
        let mode = path.metadata().map_or(0, |found| found.permissions().mode());
        described += &format!("{path:?} {mode:o} {sha256}\n");
    }
    content::hash(described.as_bytes())
}

/// A name that no other library has.
fn name(chosen: &Chosen, group: &Group, contents: &[Option<Content>]) -> String {
    let stem = told::stem(&chosen.graph()[group.members[0]].path);
    format!("{stem}-{:.12}.so", hashed(chosen, group, contents))
}

/// The file, which is on the disk then; or why there is none.
fn write(plan: &Plan<'_>, path: &Path, hashed: String) -> Result<Result<(), String>, BundleError> {
    let mut tables = match tables::of(plan) {
        Ok(tables) => tables,
        Err(error) => return Ok(Err(error.to_string())),
    };
    tables.set_build_id(content::build_id_of(hashed.as_bytes()));
    let file: File = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .open(path)
        .map_err(|error| BundleError::write(path, error))?;
    output::write(plan, &tables, &file, path)?;
    file.sync_all().map_err(|error| BundleError::write(path, error))?;
    Ok(Ok(()))
}

/// Who may not read one of the libraries may not read the file.
fn permit(graph: &Graph, group: &Group, path: &Path) -> io::Result<()> {
    let modes =
        group.members.iter().map(|&member| Ok(graph[member].path.metadata()?.permissions().mode()));
    let modes: Vec<u32> = modes.collect::<io::Result<_>>()?;
    let mode = modes.into_iter().fold(0o755, |all, mode| all & mode);
    std::fs::set_permissions(path, Permissions::from_mode(mode))
}

//! What the bundle is told of its plug-ins.

use super::choose::Chosen;
use super::unsuitable::calls;
use crate::choose::members;
use crate::error::BundleError;
use crate::plan::exports::{Export, ExportValue, ExportVersion};
use crate::plan::fixups::Fixups;
use crate::plan::layout::Layout;
use image::elf::Loadable;
use image::elf::loadable::{SymbolBinding, SymbolKind};
use model::{ModuleId, SymbolIndex, SymbolRef, text};
use startup::{Expected, FileRecord, Plugin, PluginFile};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What the preamble of a bundle knows of plug-ins; nothing where none is merged.
#[derive(Clone, Debug, Default)]
pub(crate) struct PluginTables {
    pub(crate) files: Vec<PluginFile>,
    pub(crate) all: Vec<Plugin>,
    /// Names for the loader of all files, one after the other.
    pub(crate) names: Vec<Vec<u8>>,
    /// `dl_iterate_phdr` within the C library.
    pub(crate) iterate: u64,
}

/// The symbol that the bundle's own functions for plug-ins come from: none.
const NOWHERE: SymbolRef = SymbolRef { module: ModuleId::PROGRAM, symbol: SymbolIndex(u32::MAX) };

impl PluginTables {
    /// `files`: name and place of the preamble of each group's file, in a folder of this name.
    pub(super) fn new(
        chosen: &Chosen,
        folder: &str,
        files: &[(String, u64)],
    ) -> Result<PluginTables, BundleError> {
        let graph = chosen.graph();
        let iterate = members::iterate(graph).unwrap_or_default();
        let mut tables = PluginTables { iterate, ..PluginTables::default() };
        for (group, (name, preamble)) in chosen.groups.iter().zip(files) {
            let first = tables.names.len();
            let mut loaded: BTreeSet<OsString> = BTreeSet::new();
            // Those of two groups may have one name: which is meant depends on which is loaded first.
            let mut seen: BTreeSet<Vec<u8>> = BTreeSet::new();
            for &member in &group.members {
                let path = &graph[member].path;
                let real = path.canonicalize().unwrap_or_else(|_| path.clone());
                let soname = graph[member].image.soname.as_ref().map(|name| text::name(name));
                let needed = needed_as(chosen, member);
                let all = [path, &real].map(PathBuf::as_path).into_iter();
                let all = all.chain(needed.iter().map(Path::new));
                loaded.extend(all.filter_map(|it| Some(it.file_name()?.into())));
                loaded.extend(soname.clone());
                let paths = [path, &real].map(|path| path.as_os_str().to_owned());
                let all = soname.into_iter().chain(needed).chain(paths);
                let all = all.map(|name| name.as_bytes().to_vec());
                tables.names.extend(all.filter(|name| seen.insert(name.clone())));
            }
            tables.files.push(PluginFile {
                folder: folder.into(),
                name: name.into(),
                names: (first as u64, (tables.names.len() - first) as u64),
                loaded: loaded.into_iter().collect(),
                preamble: *preamble,
            });
        }
        for (at, group) in chosen.groups.iter().enumerate() {
            for &member in &group.members {
                tables.all.extend(plugin(chosen, member, at)?);
            }
        }
        Ok(tables)
    }

    /// What the bundle exports for them: the functions by which their code asks the loader.
    pub(crate) fn given(&self, layout: &Layout<'_>, fixups: &Fixups<'_>) -> Vec<Export<'static>> {
        let functions = fixups.replaced.keys().filter(|_| !self.files.is_empty());
        let mut functions: Vec<_> = functions.copied().collect();
        functions.sort_unstable();
        let export = |function: startup::WrappedFunction| {
            Some(Export {
                name: function.given()?.as_bytes(),
                value: ExportValue::Address(layout.preamble() + function.wrapper()),
                size: 0,
                kind: SymbolKind::Function,
                binding: SymbolBinding::Global,
                version: ExportVersion::Base,
                hidden: false,
                source: NOWHERE,
            })
        };
        functions.into_iter().filter_map(export).collect()
    }
}

/// Names by which others need a module.
fn needed_as(chosen: &Chosen, module: ModuleId) -> Vec<OsString> {
    let modules = &chosen.graph().modules;
    let users = modules.iter().skip(chosen.of_program);
    let needs = users.flat_map(|user| user.dependencies.iter().zip(&user.image.needed));
    needs.filter(|(need, _)| **need == module).map(|(_, name)| text::name(name)).collect()
}

/// A module of the group of this number, where it can be told from others.
fn plugin(chosen: &Chosen, member: ModuleId, group: usize) -> Result<Option<Plugin>, BundleError> {
    let graph = chosen.graph();
    let path = &graph[member].path;
    let root = chosen.roots.iter().find(|root| root.id == member);
    let Expected::File(identity) = record(path)?.expected else { return Ok(None) };
    let closure = root.map_or(&[][..], |root| &root.closure);
    let opened = closure.iter().filter(|id| id.index() >= chosen.of_program);
    let copies = root.iter().flat_map(|root| &root.copies);
    let paths: BTreeSet<&PathBuf> = opened.map(|id| &graph[*id].path).chain(copies).collect();
    let alias = match root {
        Some(_) => None,
        None => Some(path.as_os_str().to_owned()),
    };
    let folder =
        root.filter(|_| depends_on_folder(&graph[member].image)).and_then(|_| path.parent());
    let folder = folder.map(|folder| folder.as_os_str().to_owned());
    let needs = match root {
        Some(_) => chosen.groups[group].needs.clone(),
        None => vec![group],
    };
    let records = paths.into_iter().map(|path| record(path)).collect::<Result<_, _>>()?;
    Ok(Some(Plugin { identity, file: group, alias, folder, needs, records }))
}

/// Functions by which code is told the path by which its file was opened.
const TOLD_BY: [&[u8]; 3] = [b"dladdr", b"dladdr1", b"dlinfo"];

/// Whether it may depend on the folder of the path by which a plug-in is opened what that needs or finds: it names
/// `$ORIGIN`, in its search path or in its code, or asks for its own path.
pub(super) fn depends_on_folder(image: &Loadable) -> bool {
    let mut parts = image.bytes().split(|&byte| byte == b'$').skip(1);
    parts.any(|part| part.starts_with(b"ORIGIN") || part.starts_with(b"{ORIGIN}"))
        || calls(image, &TOLD_BY)
}

fn record(path: &Path) -> Result<FileRecord, BundleError> {
    FileRecord::of(path).map_err(|error| BundleError::io(path, error))
}

/// The name of a module without its folder.
pub(super) fn stem(path: &Path) -> String {
    let name = members::file_name(path);
    let stem = name.split('.').next().unwrap_or_default();
    stem.chars()
        .filter(|letter| letter.is_ascii_alphanumeric() || "-_".contains(*letter))
        .take(40)
        .collect()
}

//! A program of a toolchain before it is a bundle, and what its bundle is told.

use super::BUNDLES;
use crate::make::RUN;
use crate::write::content;
use model::text::text;
use model::toolchain::{ToolPart, ToolSelection, Toolchain};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Letters of the hash in the name of a bundle's folder.
const HASH_LETTERS: usize = 12;

/// A program that a compiler starts, or that starts the others.
#[derive(Clone, Debug, Default)]
pub(super) struct Tool {
    /// A path of it.
    pub(super) program: PathBuf,
    /// Names that it gets in the toolchain's folder, and the path that is meant by each.
    pub(super) names: BTreeMap<OsString, PathBuf>,
    /// Paths by which others start it.
    pub(super) called: BTreeSet<PathBuf>,
    /// Those before it that it starts, by their places.
    pub(super) starts: Vec<usize>,
    /// There is no toolchain without it.
    pub(super) is_driver: bool,
    /// How it is chosen among several.
    pub(super) selection: Option<ToolSelection>,
}

/// The tools of a compiler, each after those that it starts.
#[derive(Debug)]
pub(super) struct Tools {
    pub(super) toolchain: Toolchain,
    /// The program that was named.
    pub(super) driver: PathBuf,
    pub(super) tools: Vec<Tool>,
}

impl Tools {
    /// Adds one, without names that others have.
    pub(super) fn add(&mut self, mut tool: Tool) -> usize {
        let taken = |name: &OsString| self.tools.iter().any(|other| other.names.contains_key(name));
        tool.names.retain(|name, _| name != RUN && !taken(name));
        tool.called.insert(tool.program.clone());
        tool.called.extend(tool.program.canonicalize());
        tool.called.extend(tool.names.values().cloned());
        self.tools.push(tool);
        self.tools.len() - 1
    }
}

impl Tool {
    /// Its name, which is the second one of its bundle's file.
    pub(super) fn file_name(&self) -> &OsStr {
        self.program.file_name().unwrap_or(OsStr::new("tool"))
    }

    /// Its folder, from the toolchain's. Another program, or other names, have another one.
    pub(super) fn folder(&self) -> PathBuf {
        let file = self.program.canonicalize().unwrap_or_else(|_| self.program.clone());
        let mut told = vec![text(&file), text(&self.program)];
        for (name, path) in &self.names {
            told.extend([text(name), text(path)]);
        }
        told.extend(self.selection.iter().flat_map(|selection| {
            let variables = selection.variables.iter();
            let variables = variables.map(|(name, value)| format!("{name}={value}"));
            variables.chain([selection.by.clone()])
        }));
        let hash = content::hash(told.join("\0").as_bytes());
        let name = text(self.file_name()).replace(['/', '%'], "_");
        Path::new(BUNDLES).join(format!("{}-{}", name, &hash[..HASH_LETTERS]))
    }

    /// What its bundle is told. `bundles`: folders of those before it that are bundles.
    pub(super) fn part(&self, all: &Tools, bundles: &[Option<PathBuf>]) -> ToolPart {
        let started = self.starts.iter().filter_map(|&index| {
            let folder = bundles.get(index)?.as_ref()?;
            let run = Path::new("..").join(folder.file_name()?).join(RUN);
            Some((&all.tools[index], run))
        });
        let companions = started.flat_map(|(tool, run)| {
            let paths = tool.called.iter().filter(|path| path.is_absolute());
            paths.map(move |path| (text(path), text(&run)))
        });
        let names = self.names.iter().map(|(name, path)| (text(name), text(path)));
        ToolPart {
            toolchain: all.toolchain,
            driver: text(&all.driver),
            entry: text(self.file_name()),
            names: names.collect(),
            companions: companions.collect(),
            // cargo, and users, set the variable for other programs.
            any_library_path: true,
            selection: self.selection.clone(),
        }
    }
}

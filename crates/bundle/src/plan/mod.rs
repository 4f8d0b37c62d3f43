//! Where everything of a bundle is, and what every relocation becomes.

pub(crate) mod bases;
mod constants;
pub(crate) mod dependencies;
pub(crate) mod exports;
pub(crate) mod file_order;
pub(crate) mod fixups;
pub(crate) mod freshness;
pub(crate) mod idle;
pub(crate) mod initializers;
pub(crate) mod layout;
pub(crate) mod loader_names;
pub(crate) mod member;
pub(crate) mod outside;
pub(crate) mod own_data;
pub(crate) mod parts;
pub(crate) mod preamble;
pub(crate) mod references;
mod symlinks;
mod tls;
mod tool;
pub(crate) mod written;

use crate::carry::Carry;
use crate::choose::members::Membership;
use crate::error::{BundleError, DeclineReason};
use crate::plugins::PluginTables;
use crate::read_ahead::PagesAhead;
use dependencies::Dependencies;
use exports::Export;
use fixups::Fixups;
use freshness::Check;
use image::elf::records::{FileHeader, Identification};
use layout::{Bases, Layout};
use loader::{Environment, Graph, Relocated};
use model::BundleVa;
use model::bundle::BundlePopulate;
use model::toolchain::ToolPart;
use outside::{Filled, Outside};
use own_data::{OwnData, Reserved};
use startup::Preamble;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Entries of the dynamic table besides the libraries that are needed.
pub(crate) const DYNAMIC_ENTRIES: usize = 38;

/// Which bundle is asked for.
pub(crate) struct BundleSpec<'a> {
    /// Path of the program that is merged.
    pub(crate) program: &'a Path,
    /// Path that the process is told instead of it.
    pub(crate) told: Option<&'a Path>,
    /// Base name of the bundle's file.
    pub(crate) own_name: &'a OsStr,
    pub(crate) bases: Bases,
    /// ET_EXEC: nothing moves.
    pub(crate) fixed: bool,
    /// Constants are mapped together with code.
    pub(crate) join: bool,
    /// What is read ahead.
    pub(crate) read_ahead: Option<&'a PagesAhead>,
    /// What is mapped at once at every start.
    pub(crate) populate: Option<&'a BundlePopulate>,
    /// What the environment will tell the loader; otherwise as now.
    pub(crate) set: Option<&'a Environment>,
    /// What is looked at when it is started.
    pub(crate) check: Check<'a>,
    /// What is carried beside it.
    pub(crate) carry: &'a Carry,
    /// What it is to a toolchain.
    pub(crate) tool: Option<&'a ToolPart>,
    /// Plug-ins that are merged beside it.
    pub(crate) plugins: &'a PluginTables,
}

impl BundleSpec<'_> {
    /// Whether the preamble has something to do before the loader relocates the bundle.
    pub(crate) fn starts_early(&self) -> bool {
        !self.fixed || self.read_ahead.is_some() || self.populate.is_some()
    }

    /// A variable that the loader will see.
    pub(crate) fn variable(&self, name: &OsStr) -> Option<OsString> {
        match self.set {
            Some(environment) => environment.value(name),
            None => std::env::var_os(name),
        }
    }

    /// That there is no bundle, for this reason.
    pub(crate) fn declined(&self, reason: impl Into<DeclineReason>) -> BundleError {
        BundleError::declined(self.program, reason)
    }
}

/// What is decided before the tables are made.
pub(crate) struct Plan<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) spec: BundleSpec<'a>,
    pub(crate) layout: Layout<'a>,
    pub(crate) fixups: Fixups<'a>,
    pub(crate) exports: Vec<Export<'a>>,
    /// What is used of the C library.
    pub(crate) outside: Outside<'a>,
    pub(crate) dependencies: Dependencies,
    /// Names for the loader: of merged libraries, and behind them those of plug-ins.
    pub(crate) names: Vec<Vec<u8>>,
    /// How many of them are of merged libraries.
    pub(crate) own_names: usize,
    pub(crate) own: OwnData,
    pub(crate) preamble: Preamble,
    /// How many initializers and finalizers do nothing, and are left out.
    pub(crate) idle: usize,
    /// That of the program.
    pub(crate) ident: Identification,
    /// Where the file is entered.
    pub(crate) entry: BundleVa,
}

impl Plan<'_> {
    /// Whether the preamble has something to do before the loader relocates the file: not in one of plug-ins.
    pub(crate) fn starts_early(&self) -> bool {
        self.layout.has_program() && self.spec.starts_early()
    }
}

/// Thinks it out.
pub(crate) fn plan<'a>(
    graph: &'a Graph,
    relocated: &[Relocated],
    memberships: &[Membership],
    spec: BundleSpec<'a>,
) -> Result<Plan<'a>, BundleError> {
    let layout =
        Layout::new(graph, memberships, spec.bases).map_err(|reason| spec.declined(reason))?;
    let mut layout = layout;
    let mut fixups = fixups::collect(graph, relocated, &layout)?;
    let functions = initializers::collect(graph, &layout, &fixups);
    fixups.leave(&functions.unread);
    let program_stubs = fixups::program_stubs(layout.program().image);
    let mut outside = Outside::default();
    if spec.fixed {
        // Where it moves, slots of modules are relocated at every start anyway.
        outside = outside::route(graph, &layout, &mut fixups, &program_stubs);
        constants::set_apart(&mut layout, &fixups);
    } else {
        fixups.share_looks(&program_stubs);
    }
    let filled = Filled::of(graph, &layout, &outside, &fixups.references);
    let fills = !filled.fills.is_empty();
    let records = freshness::records(graph, spec.check, tool::paths(&spec))?;
    let preamble = preamble::new(&spec, records, &layout, filled, tool::of(graph, &spec)?)?;
    let reserved = Reserved::new(&layout, preamble.size(), &outside);
    let dependencies = Dependencies::of(graph, memberships, spec.carry, spec.check.kind);
    let mut names = loader_names::of_merged(graph, &layout);
    let own_names = names.len();
    names.extend(spec.plugins.names.iter().cloned());
    let room = dependencies.names.len() + DYNAMIC_ENTRIES;
    let own = OwnData::new((reserved, fills), room, &functions, (&fixups, &outside), names.len());
    fixups.place(reserved.template, &outside, &own.places());
    let mut exports = exports::collect(graph, relocated, &layout, (&outside, &own.places()));
    let defaults = exports::defaults(&exports);
    exports.extend(outside.exports(&own.places(), &defaults));
    exports.extend(spec.plugins.given(&layout, &fixups));
    let header = FileHeader::read(layout.program().image.bytes());
    Ok(Plan {
        entry: layout.preamble() + startup::start(),
        ident: header.map(|header| header.ident).unwrap_or_default(),
        preamble,
        exports,
        graph,
        spec,
        layout,
        fixups,
        outside,
        dependencies,
        names,
        own_names,
        own,
        idle: functions.idle,
    })
}

//! The file of a group: a shared library.

use super::choose::{Chosen, Group};
use super::place::Purpose;
use crate::choose::members::{self, Membership};
use crate::error::BundleError;
use crate::plan::dependencies::{self, Dependencies};
use crate::plan::fixups::Value;
use crate::plan::freshness::Check;
use crate::plan::layout::{Bases, Layout};
use crate::plan::outside::Outside;
use crate::plan::own_data::{OwnData, Reserved};
use crate::plan::{BundleSpec, DYNAMIC_ENTRIES, Plan, exports, fixups, initializers, preamble};
use image::elf::records::FileHeader;
use image::elf::spec;
use loader::{Graph, Relocated, order};
use model::{BundleVa, ModuleId};
use startup::{MergedModule, Preamble, Tables};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;

/// What a group's file is made of besides the modules.
pub(super) struct Surroundings<'a, 'm> {
    pub(super) chosen: &'a Chosen,
    /// Names of the groups' files.
    pub(super) names: &'a [String],
    pub(super) purpose: Purpose<'a>,
    /// Whether each module is in the group.
    pub(super) memberships: &'m [Membership],
}

/// Where a file of plug-ins begins.
const FREE: Bases = Bases { unmoved: false, low: BundleVa::ZERO, libraries: None };

/// Thinks the file of the group of this number out.
pub(super) fn plan<'a>(
    around: &Surroundings<'a, '_>,
    number: usize,
) -> Result<Plan<'a>, BundleError> {
    let Surroundings { chosen, names, purpose, .. } = *around;
    let graph = chosen.graph();
    let group = &chosen.groups[number];
    let relocated: &[Relocated] = &chosen.relocated;
    let first = &graph[group.members[0]];
    let spec = BundleSpec {
        program: &first.path,
        told: None,
        own_name: OsStr::new(&names[number]),
        bases: FREE,
        fixed: false,
        join: false,
        read_ahead: None,
        populate: None,
        set: None,
        check: Check { kind: purpose.check, immutable: &[] },
        carry: purpose.carry,
        plugins: purpose.none,
        tool: None,
    };
    let layout = Layout::of_modules(graph, group.members.iter().copied(), FREE);
    let mut layout = layout.map_err(|reason| spec.declined(reason))?;
    layout.left = chosen.left.clone();
    layout.aliases = Some(&chosen.aliases);
    let mut fixups = fixups::collect(graph, relocated, &layout)?;
    fixups.references.ask_no_file(|module| chosen.is_merged(module));
    let mut functions = initializers::of_plugins(&layout, &fixups, &initialized(chosen, group));
    let protect = Value::Address(layout.preamble() + startup::plugin_entry());
    functions.init.insert(0, protect);
    fixups.share_looks(&fixups::program_stubs(&graph.program().image));
    fixups.take_given(purpose.given);
    let preamble = preamble(&spec, graph, &layout, chosen, group)?;
    let outside = Outside::default();
    let reserved = Reserved::new(&layout, preamble.size(), &outside);
    let asked = fixups.references.all.iter().filter_map(|(it, ..)| it.version.as_ref());
    let asked: BTreeSet<&str> = asked.filter_map(|(library, _)| library.as_deref()).collect();
    let dependencies = dependencies(around, group, &asked);
    let room = dependencies.names.len() + DYNAMIC_ENTRIES;
    let own = OwnData::new((reserved, false), room, &functions, (&fixups, &outside), 0);
    fixups.place(reserved.template, &outside, &own.places());
    let exports = exports::collect(graph, &[], &layout, (&outside, &own.places()));
    let header = FileHeader::read(first.image.bytes());
    Ok(Plan {
        entry: BundleVa::ZERO,
        ident: header.map(|header| header.ident).unwrap_or_default(),
        preamble,
        exports,
        graph,
        spec,
        layout,
        fixups,
        outside,
        dependencies,
        names: Vec::new(),
        own_names: 0,
        own,
        idle: functions.idle,
    })
}

/// The order in which the members are initialized.
fn initialized(chosen: &Chosen, group: &Group) -> Vec<ModuleId> {
    let root = chosen.roots.iter().find(|root| root.closure.contains(&group.members[0]));
    root.map(|root| order::of_opening(chosen.graph(), root.id)).unwrap_or_default()
}

fn preamble(
    spec: &BundleSpec<'_>,
    graph: &Graph,
    layout: &Layout<'_>,
    chosen: &Chosen,
    group: &Group,
) -> Result<Preamble, BundleError> {
    let program = &graph.program().path;
    let root = chosen.roots.iter().find(|root| root.closure.contains(&group.members[0]));
    let closure = root.map_or(&[][..], |root| &root.closure);
    let place = |id: ModuleId| closure.iter().position(|it| *it == id);
    let modules = preamble::modules(layout, spec.check);
    let mut before: Option<usize> = None;
    let modules = modules.into_iter().zip(&layout.members).map(|(module, member)| {
        let at = place(member.id);
        let behind_outside = before.is_some() && before.map(|before| before + 1) != at;
        before = at;
        MergedModule { behind_outside, ..module }
    });
    let tables = Tables {
        original: program.clone(),
        original_file: program.canonicalize().unwrap_or_else(|_| program.clone()),
        own_name: spec.own_name.to_owned(),
        relro: preamble::relro(layout),
        modules: modules.collect(),
        ..Tables::default()
    };
    Preamble::new(&tables).map_err(|error| spec.declined(error.to_string()))
}

/// What the file needs, and where the loader finds it. `asked`: libraries of which it asks for versions.
fn dependencies(
    around: &Surroundings<'_, '_>,
    group: &Group,
    asked: &BTreeSet<&str>,
) -> Dependencies {
    let Surroundings { chosen, names, .. } = *around;
    let graph = chosen.graph();
    let mut needed: Vec<String> = Vec::new();
    let mut add = |name: String| {
        if !needed.contains(&name) {
            needed.push(name);
        }
    };
    if let Some(root) = chosen.roots.iter().find(|root| group.members == [root.id]) {
        chosen.searched(root).into_iter().for_each(|other| add(names[other].clone()));
    }
    for &member in &group.members {
        for &dependency in &graph[member].dependencies {
            match chosen.group_of(dependency) {
                Some(other) if std::ptr::eq(&chosen.groups[other], group) => {}
                Some(other) => add(names[other].clone()),
                None => add(members::name_of(&graph[dependency])),
            }
        }
    }
    // The loader compares the names of versions' libraries with those that it was asked for.
    let c_library = graph.modules.iter().map(members::name_of);
    let c_library = c_library.filter(|name| name == members::C_LIBRARY);
    let asked = asked.iter();
    c_library.chain(asked.map(|name| (*name).to_owned())).for_each(add);
    let own = "$ORIGIN".to_owned();
    let search = dependencies::search_path(graph, around.memberships);
    let search = search.map_or(own.clone(), |(_, others)| format!("{own}:{others}"));
    Dependencies {
        names: needed,
        by_own_name: BTreeMap::new(),
        search: Some((spec::DT_RUNPATH, search)),
    }
}

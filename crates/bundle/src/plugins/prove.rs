//! The proof that files of plug-ins bind as the plug-ins do: each is opened in simulation beside the finished
//! bundle, and what the loader still looks up is held against what it found for the original.

use super::choose::Chosen;
use super::place::{Made, Refused, What};
use super::search::Before;
use super::unsuitable;
use crate::choose::members;
use crate::plan::Plan;
use crate::prove::simulation::{Definition, Modules};
use image::elf::loadable::SymbolKind;
use loader::lookup::Purpose;
use loader::{Environment, Graph, Module, Opener, bindings_in};
use model::text::text;
use model::{ModuleId, SymbolRef};
use startup::WrappedFunction;
use std::collections::HashMap;
use std::path::Path;

/// What is proved.
pub(crate) struct Finished<'a> {
    pub(crate) run: &'a Path,
    pub(crate) plan: &'a Plan<'a>,
    /// The program as it was loaded.
    pub(crate) graph: &'a Graph,
    pub(crate) environment: &'a Environment,
}

/// Opens every plug-in's file.
///
/// # Errors
/// The first plug-in of which something differs.
pub(crate) fn prove(
    finished: &Finished<'_>,
    chosen: &Chosen,
    made: &Made<'_>,
) -> Result<(), Refused> {
    let Finished { run, plan, graph, environment } = *finished;
    for root in &chosen.roots {
        let Some(group) = chosen.group_of(root.id) else { continue };
        let refused =
            |reason: String| Refused { what: What::Plugin(root.id), reason, order: Vec::new() };
        let mut opener =
            Opener::new(run, run, environment).map_err(|error| refused(error.to_string()))?;
        for name in plan.names.iter().take(plan.own_names) {
            opener.name(String::from_utf8_lossy(name).into_owned(), ModuleId::PROGRAM);
        }
        let of_bundle = opener.graph().modules.len();
        let path = made.place.join(&made.names[group]);
        let opened = opener.open(&path).map_err(|error| refused(error.to_string()))?;
        let after = opener.graph();
        let without = loader::load(run, environment).map_err(|error| refused(error.to_string()))?;
        let modules = Modules::new(plan, graph, &without).map_err(refused)?;
        let bound = chosen.bound(root).into_iter().flat_map(|(_, relocated)| relocated.bindings);
        let bound = bound.map(|binding| ((binding.from, binding.purpose), binding.to)).collect();
        let proof = Proof { chosen, made, plan, after, of_bundle, modules, bound };
        let mut misplaced = Misplaced::default();
        let closure = after.closure(opened);
        let program = (0..of_bundle).map(ModuleId::at);
        let behind = closure.iter().copied().filter(|id| id.index() >= of_bundle);
        let scope: Vec<ModuleId> = program.chain(behind.clone()).collect();
        proof.loads(&chosen.groups[group].needs, behind.clone()).map_err(refused)?;
        for module in behind {
            let Some(of_module) = proof.group(module) else { continue };
            proof.versions(module).map_err(refused)?;
            proof.bindings((module, of_module), &scope, &mut misplaced).map_err(refused)?;
        }
        let Misplaced { reason, order } = misplaced;
        if let Some(reason) = reason {
            return Err(Refused { what: What::Plugin(root.id), reason, order });
        }
    }
    Ok(())
}

/// References that would be bound otherwise in another order of the groups.
#[derive(Default)]
struct Misplaced {
    /// The first of them, in words.
    reason: Option<String>,
    order: Vec<Before>,
}

struct Proof<'a> {
    chosen: &'a Chosen,
    made: &'a Made<'a>,
    plan: &'a Plan<'a>,
    after: &'a Graph,
    of_bundle: usize,
    modules: Modules<'a>,
    /// What every reference was bound to when the plug-in was opened first.
    bound: HashMap<(SymbolRef, Purpose), Definition>,
}

impl Proof<'_> {
    /// The group whose file a module is.
    fn group(&self, module: ModuleId) -> Option<usize> {
        let path = &self.after[module].path;
        let name = path.file_name().map(text).unwrap_or_default();
        let within = path.parent() == Some(&self.made.place);
        self.made.names.iter().position(|known| within && *known == name)
    }

    /// The files that are opened, and nothing that was not loaded with the plug-in.
    fn loads(
        &self,
        needs: &[usize],
        opened: impl Iterator<Item = ModuleId> + Clone,
    ) -> Result<(), String> {
        let mut groups: Vec<usize> =
            opened.clone().filter_map(|module| self.group(module)).collect();
        let mut needs = needs.to_vec();
        groups.sort_unstable();
        needs.sort_unstable();
        if groups != needs {
            return Err("the loader would load other libraries with it".to_owned());
        }
        let mut left = opened.filter(|module| self.group(*module).is_none());
        match left.find(|module| self.original(*module).is_none()) {
            Some(module) => {
                Err(format!("the loader would load {} too", self.after[module].path.display()))
            }
            None => Ok(()),
        }
    }

    /// The module that one outside of all files was.
    fn original(&self, module: ModuleId) -> Option<ModuleId> {
        let file = self.after[module].image.identity()?;
        let mut all = self.chosen.graph().numbered();
        all.find(|(_, module)| module.image.identity() == Some(file)).map(|(id, _)| id)
    }

    /// The loader ends the process where nothing is loaded by the name of a library that is asked for a version: each
    /// of them is another file that this one needs by just that name, and has the version.
    fn versions(&self, module: ModuleId) -> Result<(), String> {
        let Module { image, dependencies, .. } = &self.after[module];
        let is_needed = |library: &str| {
            let mut needed = image.needed.iter().zip(dependencies);
            !library.contains('$') && needed.any(|(name, &id)| name == library && id != module)
        };
        let asked = image.versions().filter_map(|version| version.library.as_deref());
        let mut asked = asked.map(String::from_utf8_lossy);
        if let Some(library) = asked.find(|library| !is_needed(library)) {
            return Err(format!(
                "the loader would ask {library} for a version, and would not find it"
            ));
        }
        match unsuitable::missing_version(self.after, module) {
            Some(_) => Err("a version that the loader would ask for would be missing".to_owned()),
            None => Ok(()),
        }
    }

    /// What is bound to another definition is an error; but those for which another group would have to be searched
    /// before are collected.
    fn bindings(
        &self,
        (module, group): (ModuleId, usize),
        scope: &[ModuleId],
        misplaced: &mut Misplaced,
    ) -> Result<(), String> {
        let references = &self.made.plans[group].fixups.references;
        let sources: HashMap<_, SymbolRef> = references.sources().collect();
        let found = bindings_in(self.after, &[module], scope, true);
        for binding in found.iter().flat_map(|relocated| &relocated.bindings) {
            let source = sources.get(&binding.from.symbol).copied();
            let was = source.and_then(|from| self.was(from, binding.purpose));
            let name = self.after[module].image.symbol(binding.from.symbol).map(|it| it.name);
            let name = name.unwrap_or_default();
            let given = WrappedFunction::ALL
                .into_iter()
                .find(|function| function.given().is_some_and(|given| given.as_bytes() == name));
            let same = match given {
                Some(function) => self.is_wrapper(binding.to, function),
                None => self.same(binding.to, was),
            };
            if same {
                continue;
            }
            let name = String::from_utf8_lossy(name);
            let reason = self.difference(&name, source, binding.to, was);
            let Some(pair) = self.would_come_first(binding.to, was) else { return Err(reason) };
            misplaced.reason.get_or_insert(reason);
            if !misplaced.order.contains(&pair) {
                misplaced.order.push(pair);
            }
        }
        Ok(())
    }

    /// The modules of two groups, of which the first would have to be searched before the other one.
    fn would_come_first(&self, now: Definition, was: Definition) -> Option<Before> {
        let (now, was) = (self.group(now?.module)?, was?.module);
        let first = *self.chosen.groups[now].members.first()?;
        let of_other = self.chosen.group_of(was)?;
        (of_other != now).then_some((was, first))
    }

    /// A reference that is not bound as before, in words.
    fn difference(&self, name: &str, from: Definition, now: Definition, was: Definition) -> String {
        let known = |at: SymbolRef| members::file_name(&self.chosen.graph()[at.module].path);
        let user = from.map(known).unwrap_or_default();
        let was = was.map_or("nothing".to_owned(), known);
        let found = |at: SymbolRef| match at.module {
            ModuleId::PROGRAM => "the bundle".to_owned(),
            module => members::file_name(&self.after[module].path),
        };
        let now = now.map_or("nothing".to_owned(), found);
        format!("the loader would bind {name} of {user} to {now}, and not to {was}")
    }

    /// What a reference was bound to. Looking it up for a call and for a value are the same where the program has no
    /// stub, and then one look-up is left for both.
    fn was(&self, from: SymbolRef, purpose: Purpose) -> Definition {
        let other = if purpose == Purpose::Call { Purpose::Value } else { Purpose::Call };
        let found = [purpose, other].into_iter().find_map(|it| self.bound.get(&(from, it)));
        found.copied().flatten()
    }

    fn is_wrapper(&self, now: Definition, function: WrappedFunction) -> bool {
        let symbol = now.filter(|now| now.module == ModuleId::PROGRAM);
        let symbol = symbol.and_then(|now| self.after.program().image.symbol(now.symbol));
        let expected = self.plan.layout.preamble() + function.wrapper();
        symbol.is_some_and(|symbol| symbol.value.0 == expected.0)
    }

    fn same(&self, now: Definition, was: Definition) -> bool {
        let (Some(to), Some(before)) = (now, was) else { return now.is_none() && was.is_none() };
        if to.module.index() < self.of_bundle {
            return before.module.index() < self.chosen.of_program && self.modules.same(now, was);
        }
        let Some(group) = self.group(to.module) else {
            return self.original(to.module) == Some(before.module) && to.symbol == before.symbol;
        };
        let value = self.after[to.module].image.symbol(to.symbol).map(|symbol| symbol.value.0);
        let member = self.made.plans[group].layout.member(before.module);
        let then = member.and_then(|member| {
            let symbol = member.image.symbol(before.symbol)?;
            Some(match symbol.kind {
                _ if symbol.absolute => symbol.value.0,
                SymbolKind::Tls => member.tls.wrapping_add(symbol.value.0).0,
                _ => member.moved(symbol.value).0,
            })
        });
        then.is_some() && value == then
    }
}

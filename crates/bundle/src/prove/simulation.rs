//! The proof that a bundle binds as its program does: it is loaded in simulation as any program,
//! and what the loader still looks up is held against what it found for the original.

use crate::choose::members;
use crate::error::{BundleAdvice, DeclineReason};
use crate::plan::Plan;
use crate::plan::outside::{Meaning, Target};
use image::elf::loadable::SymbolKind;
use loader::bindings::Binding;
use loader::lookup::Purpose;
use loader::{Environment, Graph, Relocated};
use model::{BundleVa, ModuleId, SymbolIndex, SymbolRef};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The same references bound in the original.
pub(crate) struct Before<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) relocated: &'a [Relocated],
    pub(crate) environment: &'a Environment,
}

/// Simulates the bundle at `file`.
///
/// # Errors
/// The first thing that differs, in words.
pub(crate) fn prove(
    file: &Path,
    plan: &Plan<'_>,
    before: &Before<'_>,
) -> Result<(), DeclineReason> {
    let after = loader::load(file, before.environment).map_err(|error| error.to_string())?;
    let modules = Modules::new(plan, before.graph, &after)?;
    let bound = loader::bindings(&after, true);
    for (relocated, original) in bound.iter().zip(&modules.original) {
        match original {
            Some(original) => {
                let was = &before.relocated[original.index()].bindings;
                outside(&modules, *original, &relocated.bindings, was)?;
            }
            None => own(&modules, &relocated.bindings, before)?,
        }
    }
    Ok(())
}

/// What the modules of a bundle are, held against those of its program.
pub(crate) struct Modules<'a> {
    plan: &'a Plan<'a>,
    before: &'a Graph,
    after: &'a Graph,
    /// For each module now, the one that it was; none for the bundle.
    original: Vec<Option<ModuleId>>,
}

/// What a reference is bound to; none where nothing defines it.
pub(crate) type Definition = Option<SymbolRef>;

impl<'a> Modules<'a> {
    pub(crate) fn new(
        plan: &'a Plan<'a>,
        before: &'a Graph,
        after: &'a Graph,
    ) -> Result<Self, String> {
        let layout = &plan.layout;
        let outside = before.numbered().filter(|(id, _)| !layout.is_merged(*id));
        // One file can be found by two paths.
        let resolved = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut files: HashMap<PathBuf, ModuleId> =
            outside.map(|(id, module)| (resolved(&module.path), id)).collect();
        let mut original = vec![None];
        for module in after.modules.iter().skip(1) {
            let known = files.remove(&resolved(&plan.spec.carry.origin(&module.path)));
            let path = module.path.display();
            original.push(Some(known.ok_or_else(|| format!("it would load {path} too"))?));
        }
        match files.into_keys().next() {
            Some(path) => Err(format!("it would not load {}", path.display())),
            None => Ok(Modules { plan, before, after, original }),
        }
    }

    /// Whether a definition now is what another one was.
    pub(crate) fn same(&self, now: Definition, was: Definition) -> bool {
        let (Some(now), Some(was)) = (now, was) else {
            return now.is_none() && was.is_none();
        };
        match self.original[now.module.index()] {
            Some(module) => was == SymbolRef { module, symbol: now.symbol },
            None => self.value_now(now.symbol).is_some_and(|value| self.means(value, was)),
        }
    }

    /// Whether a value in the bundle stands for what a definition was.
    fn means(&self, value: u64, was: SymbolRef) -> bool {
        let plan = self.plan;
        match plan.outside.meaning(&plan.own.places(), BundleVa(value)) {
            Meaning::Function(Target::Function(reference)) => {
                let definition = plan.fixups.references.definition(reference);
                definition.is_some_and(|definition| self.is_alias(definition, was))
            }
            Meaning::Function(Target::Selected(resolver)) => {
                self.value_then(was) == Some(resolver.0)
            }
            Meaning::Copy(definition) => self.is_alias(definition, was),
            Meaning::Own => self.value_then(was) == Some(value),
        }
    }

    /// Whether two symbols outside name the same function or data, of whatever version.
    fn is_alias(&self, one: SymbolRef, other: SymbolRef) -> bool {
        let value =
            |at: SymbolRef| self.before[at.module].image.symbol(at.symbol).map(|it| it.value);
        one.module == other.module && value(one) == value(other)
    }

    fn value_now(&self, symbol: SymbolIndex) -> Option<u64> {
        Some(self.after.program().image.symbol(symbol)?.value.0)
    }

    /// What a symbol of a merged module is in the bundle.
    fn value_then(&self, at: SymbolRef) -> Option<u64> {
        let member = self.plan.layout.member(at.module)?;
        let symbol = member.image.symbol(at.symbol)?;
        Some(match symbol.kind {
            _ if symbol.absolute => symbol.value.0,
            SymbolKind::Tls => member.tls.wrapping_add(symbol.value.0).0,
            _ => member.moved(symbol.value).0,
        })
    }

    fn name(&self, binding: &Binding) -> String {
        name(self.after, binding.from)
    }

    /// That a reference of a module, `user` in the program, is not bound as it `was`.
    fn elsewhere(
        &self,
        binding: &Binding,
        (user, was): (Option<ModuleId>, Definition),
    ) -> DeclineReason {
        let name = self.name(binding);
        let now = binding.to.map(|to| self.definer(to, &name));
        let known = |id: ModuleId| members::file_name(&self.before[id].path);
        let told = |found: Option<Option<ModuleId>>| match found {
            None => "nothing".to_owned(),
            Some(None) => "another definition".to_owned(),
            Some(Some(id)) => format!("that in {}", known(id)),
        };
        let of = user.map(|user| format!(" of {}", known(user))).unwrap_or_default();
        let was = told(was.map(|was| Some(was.module)));
        let reason = format!("the loader would bind {name}{of} to {}, and not to {was}", told(now));
        let is_library =
            |id: &ModuleId| *id != ModuleId::PROGRAM && self.plan.layout.is_merged(*id);
        let library = [now.flatten(), user].into_iter().flatten().find(is_library);
        let advice = library.map_or(BundleAdvice::KeepSomeOutside, |library| {
            BundleAdvice::KeepOutside(known(library))
        });
        DeclineReason::from(reason).with(advice)
    }

    /// The module of the program that a definition comes from.
    fn definer(&self, now: SymbolRef, name: &str) -> Option<ModuleId> {
        let defines = |id: &ModuleId| {
            let mut symbols = self.before[*id].image.symbols();
            symbols.any(|(_, symbol)| symbol.defined && symbol.name == name.as_bytes())
        };
        let merged = || self.plan.layout.members.iter().map(|member| member.id);
        self.original[now.module.index()].or_else(|| merged().find(defines))
    }
}

/// A module outside refers to the same as before.
fn outside(
    modules: &Modules<'_>,
    user: ModuleId,
    now: &[Binding],
    was: &[Binding],
) -> Result<(), DeclineReason> {
    let was: HashMap<(SymbolIndex, Purpose), Definition> =
        was.iter().map(|binding| ((binding.from.symbol, binding.purpose), binding.to)).collect();
    let differs = now.iter().find_map(|binding| {
        let original = was.get(&(binding.from.symbol, binding.purpose)).copied();
        let same = original.is_some_and(|original| modules.same(binding.to, original));
        (!same).then(|| modules.elsewhere(binding, (Some(user), original.flatten())))
    });
    differs.map_or(Ok(()), Err)
}

/// What is left to look up of the bundle itself.
fn own(modules: &Modules<'_>, now: &[Binding], before: &Before<'_>) -> Result<(), DeclineReason> {
    let references = &modules.plan.fixups.references;
    let planned: HashMap<SymbolIndex, SymbolRef> = references.definitions().collect();
    let sources: HashMap<SymbolIndex, SymbolRef> = references.sources().collect();
    let program = &before.relocated[0].bindings;
    let copies = program.iter().filter(|binding| binding.purpose == Purpose::Copy);
    let copies: HashMap<String, Definition> =
        copies.map(|copy| (name(before.graph, copy.from), copy.to)).collect();
    let differs = now.iter().find_map(|binding| {
        let (user, was) = if binding.purpose == Purpose::Copy {
            let value = modules.value_now(binding.from.symbol).map(BundleVa);
            let places = &modules.plan.own.places();
            let meaning = value.map(|value| modules.plan.outside.meaning(places, value));
            let was = match meaning {
                Some(Meaning::Copy(definition)) => Some(Some(definition)),
                _ => copies.get(&modules.name(binding)).copied(),
            };
            (Some(ModuleId::PROGRAM), was)
        } else {
            let user = sources.get(&binding.from.symbol).map(|source| source.module);
            (user, Some(planned.get(&binding.from.symbol).copied()))
        };
        let same = was.is_some_and(|was| modules.same(binding.to, was));
        (!same).then(|| modules.elsewhere(binding, (user, was.flatten())))
    });
    differs.map_or(Ok(()), Err)
}

fn name(graph: &Graph, at: SymbolRef) -> String {
    let symbol = graph[at.module].image.symbol(at.symbol);
    String::from_utf8_lossy(symbol.map_or(&[], |symbol| symbol.name)).into_owned()
}

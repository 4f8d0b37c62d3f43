//! The proof that a bundle binds as its program does: it is loaded in simulation as any program,
//! and what the loader still looks up is held against what it found for the original.

use crate::plan::Plan;
use crate::plan::layout::Layout;
use crate::tables::symbols::of_left;
use image::elf::loadable::SymbolKind;
use loader::bindings::Binding;
use loader::lookup::Purpose;
use loader::{Environment, Graph, Relocated};
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
pub(crate) fn prove(file: &Path, plan: &Plan<'_>, before: &Before<'_>) -> Result<(), String> {
    let after = loader::load(file, before.environment).map_err(|error| error.to_string())?;
    let modules = Modules::new(plan, before.graph, &after)?;
    let bound = loader::bindings(&after, true);
    for (index, relocated) in bound.iter().enumerate() {
        match modules.original.get(index) {
            Some(Some(original)) => {
                let was = before.relocated.get(*original).map_or(&[][..], |one| &one.bindings);
                outside(&modules, &relocated.bindings, was)?;
            }
            _ => own(&modules, &relocated.bindings, before)?,
        }
    }
    Ok(())
}

struct Modules<'a> {
    plan: &'a Plan<'a>,
    before: &'a Graph,
    after: &'a Graph,
    /// For each module now, the one that it was; none for the bundle.
    original: Vec<Option<usize>>,
}

/// A definition: in which module, and which symbol.
type Definition = Option<(usize, u32)>;

impl<'a> Modules<'a> {
    fn new(plan: &'a Plan<'a>, before: &'a Graph, after: &'a Graph) -> Result<Self, String> {
        let layout = &plan.layout;
        let outside = before.modules.iter().enumerate();
        let outside = outside.filter(|(index, _)| layout.member(*index).is_none());
        // One file can be found by two paths.
        let resolved = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut places: HashMap<PathBuf, usize> =
            outside.map(|(index, module)| (resolved(&module.path), index)).collect();
        let mut original = vec![None];
        for module in after.modules.iter().skip(1) {
            let known = places.remove(&resolved(&module.path));
            let path = module.path.display();
            original.push(Some(known.ok_or_else(|| format!("it would load {path} too"))?));
        }
        match places.into_keys().next() {
            Some(path) => Err(format!("it would not load {}", path.display())),
            None => Ok(Modules { plan, before, after, original }),
        }
    }

    /// Whether a definition now is what another one was.
    fn same(&self, now: Definition, was: Definition) -> bool {
        let (Some((now, symbol)), Some((module, original))) = (now, was) else {
            return now.is_none() && was.is_none();
        };
        match self.original.get(now) {
            Some(Some(index)) => *index == module && symbol == original,
            _ => self.value_now(symbol) == self.value_then(&self.plan.layout, module, original),
        }
    }

    fn value_now(&self, symbol: u32) -> Option<u64> {
        Some(self.after.modules.first()?.image.symbol(symbol)?.value)
    }

    /// What a symbol of a merged module is in the bundle.
    fn value_then(&self, layout: &Layout<'_>, module: usize, symbol: u32) -> Option<u64> {
        let member = layout.member(module)?;
        let symbol = self.before.modules.get(module)?.image.symbol(symbol)?;
        Some(match symbol.kind {
            _ if symbol.absolute => symbol.value,
            SymbolKind::Tls => member.tls.wrapping_add(symbol.value),
            _ => member.moved(symbol.value),
        })
    }

    fn name(&self, module: usize, symbol: u32) -> String {
        let module = self.after.modules.get(module);
        let symbol = module.and_then(|module| module.image.symbol(symbol));
        String::from_utf8_lossy(symbol.map_or(&[], |symbol| symbol.name)).into_owned()
    }

    fn elsewhere(&self, binding: &Binding) -> String {
        let name = self.name(binding.from, binding.symbol);
        let module = self.after.modules.get(binding.from);
        let path = module.map_or(String::new(), |module| module.path.display().to_string());
        format!("the loader would bind {name} of {path} to another definition")
    }
}

/// A module outside refers to the same as before.
fn outside(modules: &Modules<'_>, now: &[Binding], was: &[Binding]) -> Result<(), String> {
    let was: HashMap<(u32, Purpose), Definition> =
        was.iter().map(|binding| ((binding.symbol, binding.purpose), binding.to)).collect();
    let differs = now.iter().find(|binding| {
        let original = was.get(&(binding.symbol, binding.purpose));
        !original.is_some_and(|original| modules.same(binding.to, *original))
    });
    differs.map_or(Ok(()), |binding| Err(modules.elsewhere(binding)))
}

/// What is left to look up of the bundle itself.
fn own(modules: &Modules<'_>, now: &[Binding], before: &Before<'_>) -> Result<(), String> {
    let left = &modules.plan.fixups.left;
    let numbers = left.definers.iter().zip(0..);
    let planned: HashMap<u32, (usize, u32)> = numbers
        .map(|(&definer, number)| (of_left(crate::plan::references::Left(number)), definer))
        .collect();
    let program = before.relocated.first().map_or(&[][..], |one| &one.bindings);
    let copies = program.iter().filter(|binding| binding.purpose == Purpose::Copy);
    let copies: Vec<(String, Definition)> = copies
        .map(|binding| {
            let image = before.graph.modules.first().map(|module| &module.image);
            let symbol = image.and_then(|image| image.symbol(binding.symbol));
            let name = symbol.map_or(&[][..], |symbol| symbol.name);
            (String::from_utf8_lossy(name).into_owned(), binding.to)
        })
        .collect();
    let differs = now.iter().find(|binding| {
        if binding.purpose == Purpose::Copy {
            let name = modules.name(0, binding.symbol);
            let original = copies.iter().find(|(known, _)| *known == name);
            return !original.is_some_and(|(_, was)| modules.same(binding.to, *was));
        }
        let original = planned.get(&binding.symbol).copied();
        !modules.same(binding.to, original)
    });
    differs.map_or(Ok(()), |binding| Err(modules.elsewhere(binding)))
}

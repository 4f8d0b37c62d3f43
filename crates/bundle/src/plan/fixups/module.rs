//! The relocations of one module.

use super::{Copied, CopiedByLoader, Fixup, Fixups, Value};
use crate::choose::members;
use crate::error::{BundleAdvice, BundleError, DeclineReason};
use crate::plan::layout::Layout;
use crate::plan::member::Member;
use crate::plan::references::ReferenceId;
use image::elf::loadable::{Class, Relocation, Symbol, SymbolBinding, SymbolKind};
use image::elf::spec;
use loader::Graph;
use loader::lookup::Purpose;
use model::{BundleVa, SymbolIndex, SymbolRef, Va};
use startup::WrappedFunction;
use std::collections::{HashMap, HashSet};

/// Goes through the relocations of one module.
pub(super) struct ModuleFixups<'m, 'a> {
    pub(super) graph: &'a Graph,
    pub(super) layout: &'m Layout<'a>,
    pub(super) member: &'m Member<'a>,
    pub(super) template: BundleVa,
    pub(super) bound: HashMap<(SymbolIndex, Purpose), Option<SymbolRef>>,
    pub(super) fixups: &'m mut Fixups<'a>,
    /// Own addresses of offsets within thread-local storage.
    pub(super) tls_offsets: HashSet<Va>,
    /// Own addresses of module numbers whose offset may lie beside them without a relocation.
    pub(super) tls_modules: Vec<Va>,
}

/// What a relocation refers to.
enum Definition<'a> {
    /// The module with the relocation itself: it names no symbol.
    Itself,
    /// The symbol by which it refers, and the definition that this is bound to.
    Symbol(SymbolIndex, SymbolRef, Symbol<'a>),
    /// That symbol, which nothing defines.
    Missing(SymbolIndex),
}

impl<'a> ModuleFixups<'_, 'a> {
    pub(super) fn collect(mut self) -> Result<(), BundleError> {
        let image = self.member.image;
        for address in image.packed_addresses() {
            let target = self.member.moved(Va(self.word(address)));
            self.put(address, Value::Address(target));
        }
        for relocation in image.relocations() {
            self.relocation(&relocation)?;
        }
        for address in std::mem::take(&mut self.tls_modules) {
            // Local dynamic storage: the offset of the module's own block is already in place.
            let beside = address.wrapping_add(8);
            if !self.tls_offsets.contains(&beside) {
                let offset = self.member.tls.wrapping_add(self.word(beside));
                self.put(beside, Value::Constant(offset.0));
            }
        }
        Ok(())
    }

    /// The word at an own address; what is not in the file is zero.
    fn word(&self, address: Va) -> u64 {
        self.member.image.word(address).unwrap_or(0)
    }

    /// Where an own address is in the bundle, where the initial bytes of thread-local storage are
    /// elsewhere.
    fn written_at(&self, address: Va) -> BundleVa {
        let block = self.member.image.segment(spec::PT_TLS);
        let within = block.and_then(|block| {
            address.since(block.address).filter(|&within| within < block.file_size)
        });
        match within {
            Some(within) => self.template + self.member.tls.0 + within,
            None => self.member.moved(address),
        }
    }

    fn put(&mut self, address: Va, value: Value) {
        self.fixups.all.push(Fixup { at: self.written_at(address), value });
    }

    fn relocation(&mut self, relocation: &Relocation) -> Result<(), BundleError> {
        let target = self.member.moved(Va(relocation.addend as u64));
        match relocation.class {
            Class::None => {}
            Class::Relative => self.put(relocation.offset, Value::Address(target)),
            Class::Irelative => self.put(relocation.offset, Value::Resolved(target)),
            Class::Copy => self.copy(relocation)?,
            Class::Tls => self.thread_local(relocation)?,
            _ => self.reference(relocation)?,
        }
        Ok(())
    }

    /// What the simulated loader found, or the symbol itself where none is looked up.
    fn definition(&self, relocation: &Relocation) -> Definition<'a> {
        let Some(symbol) = relocation.symbol else { return Definition::Itself };
        let own = SymbolRef { module: self.member.id, symbol };
        let bound = self.bound.get(&(symbol, Purpose::of(relocation.class)));
        let found = bound.map_or(Some(own), |found| *found);
        let definition = |at: SymbolRef| {
            let definition = self.graph[at.module].image.symbol(at.symbol)?;
            Some(Definition::Symbol(symbol, at, definition))
        };
        found.and_then(definition).unwrap_or(Definition::Missing(symbol))
    }

    fn reference(&mut self, relocation: &Relocation) -> Result<(), BundleError> {
        // Of these only the full word takes its addend (System V ABI for x86-64, table 4.9).
        let addend = match relocation.kind {
            spec::R_X86_64_64 => relocation.addend as u64,
            spec::R_X86_64_GLOB_DAT | spec::R_X86_64_JUMP_SLOT => 0,
            kind => return Err(self.declined(format!("of its relocation of type {kind}"))),
        };
        let value = match self.definition(relocation) {
            Definition::Itself => Value::Address(self.member.moved(Va(addend))),
            Definition::Missing(symbol) => {
                self.missing(relocation, symbol)?;
                Value::Constant(addend)
            }
            Definition::Symbol(by, at, symbol) => match self.layout.member(at.module) {
                None => self.outside(relocation, by, at, &symbol),
                Some(_) if self.is_left(by, &symbol) => self.outside(relocation, by, at, &symbol),
                Some(_) if symbol.absolute => Value::Constant(symbol.value.0.wrapping_add(addend)),
                Some(member) => {
                    let address = member.moved(symbol.value);
                    match symbol.kind {
                        SymbolKind::IndirectFunction if symbol.defined => Value::Resolved(address),
                        _ => Value::Address(address.wrapping_add(addend)),
                    }
                }
            },
        };
        self.put(relocation.offset, value);
        Ok(())
    }

    /// A reference that the loader looks up.
    fn refer(&mut self, by: SymbolIndex, at: SymbolRef, definition: &Symbol<'a>) -> ReferenceId {
        let alias = self.layout.aliases.and_then(|aliases| aliases.get(&at));
        let is_left = self.is_left(by, definition);
        let references = &mut self.fixups.references;
        match alias {
            _ if is_left => references.add_left(self.graph, self.member, by, at),
            Some(alias) => references.add_by_alias(alias, self.member, by, at),
            None => references.add(self.graph, self.member, by, at),
        }
    }

    /// Whether only the loader knows what a symbol is bound to: of what exists once in a process, which is first.
    fn is_left(&self, by: SymbolIndex, definition: &Symbol<'_>) -> bool {
        let from = SymbolRef { module: self.member.id, symbol: by };
        let is_unique = definition.binding == SymbolBinding::Unique;
        !self.layout.has_program() && (is_unique || self.layout.left.contains(&from))
    }

    /// Something that a module outside defines.
    fn outside(
        &mut self,
        relocation: &Relocation,
        by: SymbolIndex,
        at: SymbolRef,
        symbol: &Symbol<'a>,
    ) -> Value {
        let reference = self.refer(by, at, symbol);
        let is_wrapped = |one: &WrappedFunction| {
            let here = self.layout.has_program() || one.asks_loader();
            here && one.name().as_bytes() == symbol.name
        };
        let wrapped = WrappedFunction::ALL.into_iter().find(is_wrapped);
        if let Some(function) = wrapped {
            self.fixups.replaced.entry(function).or_insert(reference);
            return Value::Address(self.layout.preamble() + function.wrapper());
        }
        let addend = if relocation.kind == spec::R_X86_64_64 { relocation.addend } else { 0 };
        Value::LookedUp { reference, kind: relocation.kind, addend }
    }

    fn thread_local(&mut self, relocation: &Relocation) -> Result<(), BundleError> {
        let address = relocation.offset;
        if relocation.kind == spec::R_X86_64_DTPOFF64 {
            self.tls_offsets.insert(address);
        }
        let (member, value, local) = match self.definition(relocation) {
            Definition::Itself => (self.member, 0, true),
            // The loader leaves such a word as it is.
            Definition::Missing(symbol) => return self.missing(relocation, symbol),
            Definition::Symbol(by, at, symbol) => match self.layout.member(at.module) {
                Some(member) if !self.is_left(by, &symbol) => {
                    (member, symbol.value.0, symbol.binding == SymbolBinding::Local)
                }
                _ => {
                    let reference = self.refer(by, at, &symbol);
                    let Relocation { kind, addend, .. } = *relocation;
                    self.put(address, Value::LookedUp { reference, kind, addend });
                    return Ok(());
                }
            },
        };
        let offset = member.tls.wrapping_add(value).wrapping_add(relocation.addend as u64);
        let value = match relocation.kind {
            spec::R_X86_64_DTPMOD64 => {
                if local {
                    self.tls_modules.push(address);
                }
                // The program is always module 1.
                if self.layout.has_program() { Value::Constant(1) } else { Value::ThreadModule }
            }
            spec::R_X86_64_DTPOFF64 => Value::Constant(offset.0),
            spec::R_X86_64_TPOFF64 if !self.layout.has_program() => Value::ThreadOffset(offset),
            spec::R_X86_64_TPOFF64 => Value::Constant(self.layout.tls.thread_offset(offset)),
            spec::R_X86_64_TLSDESC => Value::TlsDescriptor(offset),
            kind => return Err(self.declined(format!("of its relocation of type {kind}"))),
        };
        self.put(address, value);
        Ok(())
    }

    fn copy(&mut self, relocation: &Relocation) -> Result<(), BundleError> {
        let to = self.member.moved(relocation.offset);
        let (by, at, symbol) = match self.definition(relocation) {
            Definition::Symbol(by, at, symbol) => (by, at, symbol),
            Definition::Missing(symbol) => return self.missing(relocation, symbol),
            // Without a symbol there is nothing to copy.
            Definition::Itself => return Ok(()),
        };
        let Some(member) = self.layout.member(at.module) else {
            let symbol = SymbolRef { module: self.member.id, symbol: by };
            self.fixups.copied_by_loader.push(CopiedByLoader { symbol, to });
            return Ok(());
        };
        let room = self.member.image.symbol(by).map_or(0, |symbol| symbol.size);
        let (definer, from) = (at.module, member.moved(symbol.value));
        self.fixups.copied.push(Copied { definer, from, to, size: room.min(symbol.size) });
        Ok(())
    }

    /// Nothing defines it: fine for a weak reference only.
    fn missing(&self, relocation: &Relocation, index: SymbolIndex) -> Result<(), BundleError> {
        let image = self.member.image;
        let symbol = image.symbol(index);
        if symbol.is_some_and(|symbol| symbol.binding == SymbolBinding::Weak) {
            return Ok(());
        }
        let name = symbol.map_or(&b""[..], |symbol| symbol.name);
        let mut name = String::from_utf8_lossy(name).into_owned();
        let version = image.symbol_version(index);
        if let Some(version) = version.and_then(|(index, _)| image.version(index)) {
            name = format!("{name}@{}", String::from_utf8_lossy(&version.name));
        }
        let module = self.member.module.path.display().to_string();
        let lazy = relocation.lazy && !image.bind_now;
        Err(BundleError::Unresolved { module, symbol: name, lazy })
    }

    fn declined(&self, because: String) -> BundleError {
        let name = members::file_name(&self.member.module.path);
        let reason = format!("{name} cannot be merged because {because}");
        let reason = DeclineReason::from(reason).with(BundleAdvice::KeepOutside(name));
        BundleError::declined(&self.layout.program().module.path, reason)
    }
}

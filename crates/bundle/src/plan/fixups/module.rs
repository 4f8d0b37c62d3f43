//! The relocations of one module.

use super::{Copied, Fixup, Fixups, Value};
use crate::choose::members;
use crate::error::BundleError;
use crate::plan::layout::{Layout, Member};
use image::elf::loadable::{Binding, Class, Relocation, Symbol, SymbolKind};
use image::elf::spec;
use loader::Graph;
use loader::lookup::Purpose;
use startup::Function;
use std::collections::{HashMap, HashSet};

/// The relocations of one module.
pub(super) struct One<'m, 'a> {
    pub(super) graph: &'a Graph,
    pub(super) layout: &'m Layout<'a>,
    pub(super) member: &'m Member<'a>,
    pub(super) template: u64,
    pub(super) bound: HashMap<(u32, Purpose), Option<(usize, u32)>>,
    pub(super) stubs: &'m HashSet<&'a [u8]>,
    pub(super) fixups: &'m mut Fixups<'a>,
    /// Places of offsets within thread-local storage.
    pub(super) offsets: HashSet<u64>,
    /// Places of module numbers whose offset may lie beside them without a relocation.
    pub(super) modules: Vec<u64>,
}

/// A definition: in which module, and which symbol; symbol 0 is the module itself.
type Definition = Option<(usize, u32)>;

impl<'a> One<'_, 'a> {
    pub(super) fn all(mut self) -> Result<(), BundleError> {
        let image = self.member.image;
        for address in image.packed_addresses() {
            let word = self.word(address);
            self.put(address, Value::Address(self.member.moved(word)));
        }
        for relocation in image.relocations() {
            self.one(&relocation)?;
        }
        for place in std::mem::take(&mut self.modules) {
            // Local dynamic storage: the offset of the module's own block is already in place.
            let beside = place.wrapping_add(8);
            if !self.offsets.contains(&beside) {
                let offset = self.word(beside).wrapping_add(self.member.tls);
                self.put(beside, Value::Constant(offset));
            }
        }
        Ok(())
    }

    fn word(&self, address: u64) -> u64 {
        let bytes = self.member.image.at(address).and_then(|bytes| bytes.first_chunk());
        bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// The initial bytes of thread-local storage are elsewhere in the bundle.
    fn place(&self, address: u64) -> u64 {
        let block = self.member.image.segment(spec::PT_TLS);
        let within = block.and_then(|block| {
            address.checked_sub(block.address).filter(|&within| within < block.file_size)
        });
        match within {
            Some(within) => self.template + self.member.tls + within,
            None => self.member.moved(address),
        }
    }

    fn put(&mut self, address: u64, value: Value) {
        self.fixups.all.push(Fixup { at: self.place(address), value });
    }

    fn one(&mut self, relocation: &Relocation) -> Result<(), BundleError> {
        let addend = relocation.addend as u64;
        let place = relocation.offset;
        match relocation.class {
            Class::None => {}
            Class::Relative => {
                self.put(place, Value::Address(self.member.moved(addend)));
            }
            Class::Irelative => {
                self.put(place, Value::Resolved(self.member.moved(addend)));
            }
            Class::Copy => self.copy(relocation)?,
            Class::Tls => self.thread_local(relocation)?,
            _ => self.reference(relocation)?,
        }
        Ok(())
    }

    /// What the simulated loader found, or the symbol itself where none is looked up.
    fn definition(&self, relocation: &Relocation) -> Definition {
        let key = (relocation.symbol, Purpose::of(relocation.class));
        match self.bound.get(&key) {
            Some(definition) => *definition,
            None => Some((self.member.module, relocation.symbol)),
        }
    }

    fn symbol(&self, (module, symbol): (usize, u32)) -> Option<Symbol<'a>> {
        self.graph.modules.get(module)?.image.symbol(symbol)
    }

    fn reference(&mut self, relocation: &Relocation) -> Result<(), BundleError> {
        // Of these only the full word takes its addend (System V ABI for x86-64, table 4.9).
        let addend = match relocation.kind {
            spec::R_X86_64_64 => relocation.addend as u64,
            spec::R_X86_64_GLOB_DAT | spec::R_X86_64_JUMP_SLOT => 0,
            kind => return Err(self.declined(format!("of its relocation of type {kind}"))),
        };
        let definition = self.definition(relocation);
        let found = definition.and_then(|at| Some((at, self.symbol(at)?)));
        let Some(((module, _), symbol)) = found else {
            self.missing(relocation)?;
            self.put(relocation.offset, Value::Constant(addend));
            return Ok(());
        };
        let value = match self.layout.member(module) {
            None => self.outside(relocation, definition, &symbol),
            Some(_) if symbol.absolute => Value::Constant(symbol.value.wrapping_add(addend)),
            Some(member) => {
                let address = member.moved(symbol.value);
                match symbol.kind {
                    SymbolKind::IndirectFunction if symbol.defined => Value::Resolved(address),
                    _ => Value::Address(address.wrapping_add(addend)),
                }
            }
        };
        self.put(relocation.offset, value);
        Ok(())
    }

    /// Something that a module outside defines.
    fn outside(
        &mut self,
        relocation: &Relocation,
        definition: Definition,
        symbol: &Symbol<'a>,
    ) -> Value {
        let definer = definition.unwrap_or_default();
        let left = self.fixups.left.add(self.graph, self.member, relocation.symbol, definer);
        let wrapped = Function::ALL.into_iter().find(|one| one.name().as_bytes() == symbol.name);
        if let Some(function) = wrapped {
            self.fixups.replaced.entry(function).or_insert(left);
            return Value::Address(self.layout.preamble() + function.wrapper());
        }
        let addend = if relocation.kind == spec::R_X86_64_64 { relocation.addend } else { 0 };
        // A call must not find the stub that stands for a function's address in the program; where
        // there is none, both look-ups are the same and share one.
        let kind = match relocation.kind {
            spec::R_X86_64_JUMP_SLOT if !self.stubs.contains(symbol.name) => {
                spec::R_X86_64_GLOB_DAT
            }
            kind => kind,
        };
        Value::Left { symbol: left, kind, addend }
    }

    fn thread_local(&mut self, relocation: &Relocation) -> Result<(), BundleError> {
        let place = relocation.offset;
        if relocation.kind == spec::R_X86_64_DTPOFF64 {
            self.offsets.insert(place);
        }
        let definition = self.definition(relocation);
        let found = definition.and_then(|at| Some((at, self.symbol(at)?)));
        let Some(((module, index), symbol)) = found else {
            // The loader leaves such a place as it is.
            return self.missing(relocation);
        };
        let Some(member) = self.layout.member(module) else {
            let symbol = self.fixups.left.add(
                self.graph,
                self.member,
                relocation.symbol,
                definition.unwrap_or_default(),
            );
            let Relocation { kind, addend, .. } = *relocation;
            self.put(place, Value::Left { symbol, kind, addend });
            return Ok(());
        };
        let value = if index == 0 { 0 } else { symbol.value };
        let offset = member.tls.wrapping_add(value).wrapping_add(relocation.addend as u64);
        let value = match relocation.kind {
            // The program is always module 1.
            spec::R_X86_64_DTPMOD64 => {
                let local = symbol.binding == Binding::Local;
                if relocation.symbol == 0 || local {
                    self.modules.push(place);
                }
                Value::Constant(1)
            }
            spec::R_X86_64_DTPOFF64 => Value::Constant(offset),
            spec::R_X86_64_TPOFF64 => Value::Constant(offset.wrapping_sub(self.layout.tls.size)),
            spec::R_X86_64_TLSDESC => Value::Descriptor(offset),
            kind => return Err(self.declined(format!("of its relocation of type {kind}"))),
        };
        self.put(place, value);
        Ok(())
    }

    fn copy(&mut self, relocation: &Relocation) -> Result<(), BundleError> {
        let to = self.member.moved(relocation.offset);
        let definition = self.definition(relocation);
        let found = definition.and_then(|at| Some((at, self.symbol(at)?)));
        let Some(((module, _), symbol)) = found else { return self.missing(relocation) };
        let Some(member) = self.layout.member(module) else {
            self.fixups.copied_later.push((self.member.module, relocation.symbol, to));
            return Ok(());
        };
        let own = self.member.image.symbol(relocation.symbol).map_or(0, |symbol| symbol.size);
        let from = member.moved(symbol.value);
        self.fixups.copied.push(Copied { from, to, size: own.min(symbol.size) });
        Ok(())
    }

    /// Nothing defines it: fine for a weak reference only.
    fn missing(&self, relocation: &Relocation) -> Result<(), BundleError> {
        let symbol = self.member.image.symbol(relocation.symbol);
        if symbol.is_some_and(|symbol| symbol.binding == Binding::Weak) {
            return Ok(());
        }
        let name = symbol.map_or(&b""[..], |symbol| symbol.name);
        let mut name = String::from_utf8_lossy(name).into_owned();
        let version = self.member.image.symbol_version(relocation.symbol);
        if let Some(version) = version.and_then(|(index, _)| self.member.image.version(index)) {
            name = format!("{name}@{}", String::from_utf8_lossy(&version.name));
        }
        let lazy = relocation.lazy && !self.member.image.bind_now;
        Err(BundleError::Unresolved { module: self.path(self.member.module), symbol: name, lazy })
    }

    fn path(&self, module: usize) -> String {
        let module = self.graph.modules.get(module);
        module.map_or(String::new(), |module| module.path.display().to_string())
    }

    fn declined(&self, because: String) -> BundleError {
        let module = self.graph.modules.get(self.member.module);
        let name = module.map_or(String::new(), |module| members::file_name(&module.path));
        BundleError::Declined {
            program: self.path(0),
            reason: format!("{name} cannot be merged because {because}; try --outside {name}"),
        }
    }
}

//! The relocations of one module.

use super::{Copied, CopiedByLoader, Fixup, Fixups, Value};
use crate::choose::members;
use crate::error::BundleError;
use crate::plan::layout::{Layout, Member};
use image::elf::loadable::{Binding, Class, Relocation, Symbol, SymbolKind};
use image::elf::spec;
use loader::Graph;
use loader::lookup::Purpose;
use model::{BundleVa, SymbolIndex, SymbolRef};
use startup::WrappedFunction;
use std::collections::{HashMap, HashSet};

/// Goes through the relocations of one module.
pub(super) struct ModuleFixups<'m, 'a> {
    pub(super) graph: &'a Graph,
    pub(super) layout: &'m Layout<'a>,
    pub(super) member: &'m Member<'a>,
    pub(super) template: BundleVa,
    pub(super) bound: HashMap<(u32, Purpose), Option<SymbolRef>>,
    pub(super) stubs: &'m HashSet<&'a [u8]>,
    pub(super) fixups: &'m mut Fixups<'a>,
    /// Own addresses of offsets within thread-local storage.
    pub(super) tls_offsets: HashSet<u64>,
    /// Own addresses of module numbers whose offset may lie beside them without a relocation.
    pub(super) tls_modules: Vec<u64>,
}

/// What a relocation refers to.
enum Definition<'a> {
    /// The module with the relocation itself: it names no symbol.
    Itself,
    Symbol(SymbolRef, Symbol<'a>),
    Missing,
}

impl<'a> ModuleFixups<'_, 'a> {
    pub(super) fn collect(mut self) -> Result<(), BundleError> {
        let image = self.member.image;
        for address in image.packed_addresses() {
            let word = self.word(address);
            self.put(address, Value::Address(self.member.moved(word)));
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
    fn word(&self, address: u64) -> u64 {
        let bytes = self.member.image.at(address).and_then(|bytes| bytes.first_chunk());
        bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// Where an own address is in the bundle, where the initial bytes of thread-local storage are
    /// elsewhere.
    fn written_at(&self, address: u64) -> BundleVa {
        let block = self.member.image.segment(spec::PT_TLS);
        let within = block.and_then(|block| {
            address.checked_sub(block.address).filter(|&within| within < block.file_size)
        });
        match within {
            Some(within) => self.template + self.member.tls.0 + within,
            None => self.member.moved(address),
        }
    }

    fn put(&mut self, address: u64, value: Value) {
        self.fixups.all.push(Fixup { at: self.written_at(address), value });
    }

    fn relocation(&mut self, relocation: &Relocation) -> Result<(), BundleError> {
        let target = self.member.moved(relocation.addend as u64);
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
        let key = (relocation.symbol, Purpose::of(relocation.class));
        let own = SymbolRef { module: self.member.id, symbol: SymbolIndex(relocation.symbol) };
        let found = match self.bound.get(&key) {
            None if relocation.symbol == 0 => return Definition::Itself,
            None => Some(own),
            Some(found) => *found,
        };
        let symbol = |at: SymbolRef| {
            let symbol = self.graph.modules[at.module.index()].image.symbol(at.symbol.0)?;
            Some(Definition::Symbol(at, symbol))
        };
        found.and_then(symbol).unwrap_or(Definition::Missing)
    }

    fn reference(&mut self, relocation: &Relocation) -> Result<(), BundleError> {
        // Of these only the full word takes its addend (System V ABI for x86-64, table 4.9).
        let addend = match relocation.kind {
            spec::R_X86_64_64 => relocation.addend as u64,
            spec::R_X86_64_GLOB_DAT | spec::R_X86_64_JUMP_SLOT => 0,
            kind => return Err(self.declined(format!("of its relocation of type {kind}"))),
        };
        let value = match self.definition(relocation) {
            Definition::Itself => Value::Address(self.member.moved(addend)),
            Definition::Missing => {
                self.missing(relocation)?;
                Value::Constant(addend)
            }
            Definition::Symbol(at, symbol) => match self.layout.member(at.module) {
                None => self.outside(relocation, at, &symbol),
                Some(_) if symbol.absolute => Value::Constant(symbol.value.wrapping_add(addend)),
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

    /// Something that a module outside defines.
    fn outside(&mut self, relocation: &Relocation, at: SymbolRef, symbol: &Symbol<'a>) -> Value {
        let reference = self.fixups.references.add(self.graph, self.member, relocation.symbol, at);
        let wrapped =
            WrappedFunction::ALL.into_iter().find(|one| one.name().as_bytes() == symbol.name);
        if let Some(function) = wrapped {
            self.fixups.replaced.entry(function).or_insert(reference);
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
        Value::LookedUp { reference, kind, addend }
    }

    fn thread_local(&mut self, relocation: &Relocation) -> Result<(), BundleError> {
        let address = relocation.offset;
        if relocation.kind == spec::R_X86_64_DTPOFF64 {
            self.tls_offsets.insert(address);
        }
        let (member, value, local) = match self.definition(relocation) {
            Definition::Itself => (self.member, 0, true),
            // The loader leaves such a word as it is.
            Definition::Missing => return self.missing(relocation),
            Definition::Symbol(at, symbol) => match self.layout.member(at.module) {
                Some(member) => (member, symbol.value, symbol.binding == Binding::Local),
                None => {
                    let symbol = relocation.symbol;
                    let references = &mut self.fixups.references;
                    let reference = references.add(self.graph, self.member, symbol, at);
                    let Relocation { kind, addend, .. } = *relocation;
                    self.put(address, Value::LookedUp { reference, kind, addend });
                    return Ok(());
                }
            },
        };
        let offset = member.tls.wrapping_add(value).wrapping_add(relocation.addend as u64);
        let value = match relocation.kind {
            // The program is always module 1.
            spec::R_X86_64_DTPMOD64 => {
                if local {
                    self.tls_modules.push(address);
                }
                Value::Constant(1)
            }
            spec::R_X86_64_DTPOFF64 => Value::Constant(offset.0),
            spec::R_X86_64_TPOFF64 => Value::Constant(self.layout.tls.thread_offset(offset)),
            spec::R_X86_64_TLSDESC => Value::TlsDescriptor(offset),
            kind => return Err(self.declined(format!("of its relocation of type {kind}"))),
        };
        self.put(address, value);
        Ok(())
    }

    fn copy(&mut self, relocation: &Relocation) -> Result<(), BundleError> {
        let to = self.member.moved(relocation.offset);
        let Definition::Symbol(at, symbol) = self.definition(relocation) else {
            return self.missing(relocation);
        };
        let Some(member) = self.layout.member(at.module) else {
            let symbol = SymbolIndex(relocation.symbol);
            let symbol = SymbolRef { module: self.member.id, symbol };
            self.fixups.copied_by_loader.push(CopiedByLoader { symbol, to });
            return Ok(());
        };
        let room = self.member.image.symbol(relocation.symbol).map_or(0, |symbol| symbol.size);
        let (definer, from) = (at.module, member.moved(symbol.value));
        self.fixups.copied.push(Copied { definer, from, to, size: room.min(symbol.size) });
        Ok(())
    }

    /// Nothing defines it: fine for a weak reference only.
    fn missing(&self, relocation: &Relocation) -> Result<(), BundleError> {
        let image = self.member.image;
        let symbol = image.symbol(relocation.symbol);
        if symbol.is_some_and(|symbol| symbol.binding == Binding::Weak) {
            return Ok(());
        }
        let name = symbol.map_or(&b""[..], |symbol| symbol.name);
        let mut name = String::from_utf8_lossy(name).into_owned();
        let version = image.symbol_version(relocation.symbol);
        if let Some(version) = version.and_then(|(index, _)| image.version(index)) {
            name = format!("{name}@{}", String::from_utf8_lossy(&version.name));
        }
        let module = self.member.module.path.display().to_string();
        let lazy = relocation.lazy && !image.bind_now;
        Err(BundleError::Unresolved { module, symbol: name, lazy })
    }

    fn declined(&self, because: String) -> BundleError {
        let name = members::file_name(&self.member.module.path);
        BundleError::Declined {
            program: self.layout.program().module.path.display().to_string(),
            reason: format!("{name} cannot be merged because {because}; try --outside {name}"),
        }
    }
}

//! The import tables of a generated PE image.

use super::headers::{directory, push_u16, push_u32};
use super::machine::Machine;
use super::names;
use crate::Hints;
use ::image::pe::DataDirectory;
use model::Rva;

const DESCRIPTOR_BYTES: u32 = 20;
/// `IMAGE_BOUND_IMPORT_DESCRIPTOR`.
const BOUND_BYTES: u64 = 8;
const KERNEL: &str = "KERNEL32.dll";

/// What synthetic programs import from the system, in this order. Their hints are zero: positions
/// among that library's names differ from one version of the system to the next.
pub(super) const KERNEL_FUNCTIONS: [&str; 3] =
    ["GetCommandLineA", "GetCurrentProcess", "TerminateProcess"];

/// The import tables of a program: address table, lookup table, directory, hints and names.
///
/// Format: *The .idata Section*. The system's library comes first, Pietrek's follow in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Imports {
    pub(super) machine: Machine,
    /// Functions of the system's library.
    pub(super) system: &'static [&'static str],
    /// Pietrek's libraries.
    pub(super) dlls: u32,
    /// Functions of each.
    pub(super) functions: u32,
    pub(super) by_ordinal: bool,
    pub(super) hints: Hints,
}

impl Imports {
    /// The system's functions only.
    pub(super) fn of_system(machine: Machine, system: &'static [&'static str]) -> Self {
        Self { machine, system, dlls: 0, functions: 0, by_ordinal: false, hints: Hints::Zero }
    }

    /// Thunks of the system's library, with the one that ends them.
    fn system_thunks(&self) -> u64 {
        self.system.len() as u64 + 1
    }

    /// Functions imported from Pietrek's libraries.
    pub(super) fn calls(&self) -> u64 {
        u64::from(self.dlls) * u64::from(self.functions)
    }

    /// Bytes of the address table, and of the lookup table.
    fn thunk_bytes(&self) -> u64 {
        let thunks = self.system_thunks() + u64::from(self.dlls) + self.calls();
        thunks.saturating_mul(self.machine.pointer.into())
    }

    fn descriptor_bytes(&self) -> u64 {
        u64::from(DESCRIPTOR_BYTES) * (u64::from(self.dlls) + 2)
    }

    /// Bytes of hints and names of functions.
    fn hint_bytes(&self) -> u64 {
        let system: u64 = self.system.iter().map(|name| hint_bytes(name.len() as u64)).sum();
        if self.by_ordinal {
            return system;
        }
        let own = names::by_digits(self.dlls).flat_map(|(dll_digits, dlls)| {
            names::by_digits(self.functions).map(move |(digits, functions)| {
                dlls * functions * hint_bytes(names::function_bytes(dll_digits, digits))
            })
        });
        own.fold(system, u64::saturating_add)
    }

    /// Bytes of all tables.
    pub(super) fn bytes(&self) -> u64 {
        let libraries = self.library_name_bytes();
        let thunks = self.thunk_bytes().saturating_mul(2);
        [self.descriptor_bytes(), self.hint_bytes(), KERNEL.len() as u64 + 1, libraries]
            .into_iter()
            .fold(thunks, u64::saturating_add)
    }

    /// Bytes of a table of bound imports from all libraries (`IMAGE_BOUND_IMPORT_DESCRIPTOR`): an
    /// entry and a name for each, and the end.
    pub(super) fn bound_bytes(&self) -> u64 {
        let names = self.library_name_bytes() + KERNEL.len() as u64 + 1;
        names + BOUND_BYTES * (u64::from(self.dlls) + 2)
    }

    /// Bytes of the names of Pietrek's libraries.
    fn library_name_bytes(&self) -> u64 {
        let names = names::by_digits(self.dlls);
        names.map(|(digits, count)| count * (library_bytes(1) - 1 + u64::from(digits))).sum()
    }

    /// Address of the slot that the loader fills with one of the system's functions.
    pub(super) fn system_slot(&self, rva: Rva, index: u32) -> Rva {
        rva + index * self.machine.pointer
    }

    /// Address of the slot of a function of Pietrek's; both numbers count from 0.
    pub(super) fn slot(&self, rva: Rva, dll: u32, function: u32) -> Rva {
        let thunk = self.system_thunks() as u32 + dll * (self.functions + 1) + function;
        rva + thunk * self.machine.pointer
    }

    /// The import directory and the import address table of tables at `rva`.
    pub(super) fn directories(&self, rva: Rva) -> [DataDirectory; 2] {
        let thunks = self.thunk_bytes() as u32;
        [directory(rva + 2 * thunks, self.descriptor_bytes() as u32), directory(rva, thunks)]
    }

    /// Appends all tables, which are at `rva`. Their size is within an image's.
    pub(super) fn push(&self, out: &mut Vec<u8>, rva: Rva) {
        let thunks = self.thunk_bytes() as u32;
        let hints = rva + 2 * thunks + self.descriptor_bytes() as u32;
        for _table in ["addresses", "lookups"] {
            self.push_thunks(out, hints);
        }
        self.push_descriptors(out, rva, rva + thunks, hints + self.hint_bytes() as u32);
        self.push_hints(out);
        out.extend_from_slice(KERNEL.as_bytes());
        out.push(0);
        for dll in 1..=self.dlls {
            out.extend_from_slice(names::library(dll).as_bytes());
            out.push(0);
        }
    }

    fn push_thunks(&self, out: &mut Vec<u8>, hints: Rva) {
        let machine = self.machine;
        let mut hint = hints;
        let mut by_name = |out: &mut Vec<u8>, name_bytes: u64| {
            machine.push(out, hint.0.into());
            hint += hint_bytes(name_bytes) as u32;
        };
        for name in self.system {
            by_name(out, name.len() as u64);
        }
        machine.push(out, 0);
        let ordinal = 1 << (8 * machine.pointer - 1);
        for dll in 1..=self.dlls {
            let digits = names::digits(dll);
            for function in 1..=self.functions {
                if self.by_ordinal {
                    machine.push(out, ordinal | u64::from(function));
                } else {
                    by_name(out, names::function_bytes(digits, names::digits(function)));
                }
            }
            machine.push(out, 0);
        }
    }

    fn push_descriptors(&self, out: &mut Vec<u8>, addresses: Rva, lookups: Rva, libraries: Rva) {
        push_u32(out, &[lookups.0, 0, 0, libraries.0, addresses.0]);
        let mut name = libraries + KERNEL.len() as u32 + 1;
        for dll in 0..self.dlls {
            let (lookup, address) = (self.slot(lookups, dll, 0), self.slot(addresses, dll, 0));
            push_u32(out, &[lookup.0, 0, 0, name.0, address.0]);
            name += library_bytes(dll + 1) as u32;
        }
        push_u32(out, &[0; DESCRIPTOR_BYTES as usize / 4]);
    }

    fn push_hints(&self, out: &mut Vec<u8>) {
        for name in self.system {
            push_u16(out, &[0]);
            out.extend_from_slice(name.as_bytes());
            end_hint(out, name.len());
        }
        if self.by_ordinal {
            return;
        }
        let positions = self.positions();
        for dll in 1..=self.dlls {
            let prefix = names::prefix(dll);
            for (function, position) in (1..).zip(&positions) {
                push_u16(out, &[*position]);
                let start = out.len();
                out.extend_from_slice(prefix.as_bytes());
                names::push_decimal(out, function);
                end_hint(out, out.len() - start);
            }
        }
    }

    /// The hint of every function: its position among the sorted names, the same in each library.
    fn positions(&self) -> Vec<u16> {
        let mut positions = vec![0; self.functions as usize];
        if self.hints == Hints::Right {
            for (position, function) in (0..).zip(names::sorted(self.functions)) {
                if let Some(place) = positions.get_mut(function as usize - 1) {
                    *place = position;
                }
            }
        }
        positions
    }
}

/// Bytes of a hint with a name: a word, the name, its end, even in all.
fn hint_bytes(name_bytes: u64) -> u64 {
    (2 + name_bytes + 1).next_multiple_of(2)
}

fn end_hint(out: &mut Vec<u8>, name_bytes: usize) {
    out.extend_from_slice(if name_bytes.is_multiple_of(2) { &[0, 0] } else { &[0] });
}

/// Bytes of a library's file name with its end.
fn library_bytes(dll: u32) -> u64 {
    ("LoadTimeDLL_.dll".len() + 1) as u64 + u64::from(names::digits(dll))
}

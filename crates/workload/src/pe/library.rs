//! A DLL of Pietrek's workload.

use super::PeWorkloadError;
use super::code::Code;
use super::exports::Exports;
use super::headers;
use super::layout::{Layout, Section, close, fits};
use super::machine::Machine;
use super::{names, relocations};
use crate::{By, Pietrek};
use ::image::pe::{Headers, spec};
use model::{Rva, Va};

/// One of Pietrek's libraries: functions, the table that exports them, and globals that hold
/// their addresses from the start, each with a base relocation.
///
/// A function holds each of its globals against its own address, stores the address there again,
/// and returns its identity, or another number where a global was wrong. Its code counts from
/// itself, so there are no relocations but the globals', on either machine.
pub(super) struct Library<'a> {
    asked: &'a Pietrek,
    machine: Machine,
    exports: Exports,
    /// Bytes from one function to the next.
    stride: u32,
    pub(super) layout: Layout<4>,
}

impl<'a> Library<'a> {
    /// The library of that number, from 1. Everything is sized and checked, nothing written.
    pub(super) fn new(asked: &'a Pietrek, dll: u32) -> Result<Self, PeWorkloadError> {
        let file = names::library(dll);
        let machine = Machine::of(asked.arch);
        let exports = Exports { dll, functions: asked.functions, named: asked.by == By::Name };
        let functions = u64::from(asked.functions);
        let stride = stride(machine, asked.globals);
        let text = functions * stride;
        let sites = functions * u64::from(asked.globals);
        let data = sites.saturating_mul(machine.pointer.into());
        // The table of relocations is counted only where there is an end to it.
        fits(&file, text.saturating_add(data))?;
        let reloc = relocations::bytes(sites_of(machine, sites as u32));
        let sections = [text, exports.bytes(), data, reloc];
        let sections = sections.iter().filter(|bytes| **bytes > 0).count();
        let layout = Layout::new(
            &file,
            headers::bytes(machine, sections),
            asked.pe.file_alignment,
            [
                Section::text(text),
                Section::rdata(exports.bytes()),
                Section::data(data),
                Section::reloc(reloc),
            ],
        )?;
        Ok(Self { asked, machine, exports, stride: stride as u32, layout })
    }

    /// The file, for an image at `base`.
    pub(super) fn emit(&self, base: Va) -> Vec<u8> {
        let [text, rdata, data, reloc] = self.layout.sections;
        let headers = self.headers(base);
        let mut out = headers::begin(&headers, &self.layout);
        self.push_functions(&mut out, base);
        close(&mut out, &text);
        let timestamp = self.asked.pe.timestamp;
        self.exports.push(&mut out, rdata.rva, timestamp, text.rva, self.stride);
        close(&mut out, &rdata);
        self.push_globals(&mut out, base);
        close(&mut out, &data);
        let sites = sites_of(self.machine, data.memory_bytes / self.machine.pointer);
        relocations::push(&mut out, data.rva, self.machine.relocation, sites);
        close(&mut out, &reloc);
        headers::finish(&mut out, &headers, &self.asked.pe);
        out
    }

    fn headers(&self, base: Va) -> Headers {
        let [_, rdata, _, reloc] = self.layout.sections;
        let mut headers = headers::of(self.machine, &self.layout, &self.asked.pe);
        headers.base = base;
        headers.characteristics |= spec::IMAGE_FILE_DLL;
        headers.dll_characteristics = spec::IMAGE_DLLCHARACTERISTICS_NX_COMPAT;
        if self.asked.pe.dynamic_base {
            headers.dll_characteristics |= spec::IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE;
        }
        if !self.machine.wide() {
            headers.dll_characteristics |= spec::IMAGE_DLLCHARACTERISTICS_NO_SEH;
        }
        headers.directories[spec::EXPORT] = headers::directory(rdata.rva, rdata.memory_bytes);
        headers.directories[spec::BASERELOC] = headers::directory(reloc.rva, reloc.memory_bytes);
        headers
    }

    fn push_functions(&self, out: &mut Vec<u8>, base: Va) {
        let [text, _, data, _] = self.layout.sections;
        let mut code = Code::at(out, text.rva, self.machine, base);
        let mut global = data.rva;
        let first = (self.exports.dll - 1).wrapping_mul(self.asked.functions);
        for index in 0..self.asked.functions {
            let identity = names::identity(self.asked.pe.seed, first.wrapping_add(index));
            push_function(&mut code, identity, global, self.asked.globals);
            code.align(text.rva);
            global += self.asked.globals * self.machine.pointer;
        }
    }

    fn push_globals(&self, out: &mut Vec<u8>, base: Va) {
        let [text, ..] = self.layout.sections;
        for index in 0..self.asked.functions {
            let address = base + u64::from((text.rva + index * self.stride).0);
            for _ in 0..self.asked.globals {
                self.machine.push(out, address.0);
            }
        }
    }
}

/// Offsets of the globals in their section.
fn sites_of(machine: Machine, count: u32) -> impl Iterator<Item = u32> {
    (0..count).map(move |index| index * machine.pointer)
}

/// Bytes of a function with its padding.
fn stride(machine: Machine, globals: u32) -> u64 {
    let bytes = |globals| {
        let mut out = Vec::new();
        push_function(&mut Code::at(&mut out, Rva::ZERO, machine, Va::ZERO), 0, Rva::ZERO, globals);
        out.len() as u64
    };
    let (one, two) = (bytes(1), bytes(2));
    match globals {
        0 => bytes(0),
        more => one + (two - one) * u64::from(more - 1),
    }
    .next_multiple_of(16)
}

/// A function that is at the next byte of `code`, and whose globals begin at `global`.
fn push_function(code: &mut Code, identity: u32, global: Rva, globals: u32) {
    let start = code.here();
    let wide = code.machine.wide();
    match (globals, wide) {
        (0, _) => {}
        // lea rdx, [rip - 7]
        (_, true) => drop(code.bytes(&[0x48, 0x8d, 0x15]).number(0_u32.wrapping_sub(7))),
        // call next; next: pop ecx; lea edx, [ecx - 5]
        (_, false) => drop(code.bytes(&[0xe8]).number(0).bytes(&[0x59, 0x8d, 0x51, 0xfb])),
    }
    code.bytes(&[0xb8]).number(identity);
    let mut rva = global;
    for _ in 0..globals {
        if wide {
            // cmp [rip + global], rdx; je +2; inc eax; mov [rip + global], rdx
            code.memory(&[0x48, 0x39, 0x15], rva).bytes(&[0x74, 2, 0xff, 0xc0]);
            code.memory(&[0x48, 0x89, 0x15], rva);
        } else {
            // cmp [ecx + global - next], edx; je +2; inc eax; mov [ecx + global - next], edx
            let distance = rva.0.wrapping_sub((start + 5).0);
            code.bytes(&[0x39, 0x91]).number(distance).bytes(&[0x74, 2, 0xff, 0xc0]);
            code.bytes(&[0x89, 0x91]).number(distance);
        }
        rva = rva.wrapping_add(code.machine.pointer);
    }
    code.bytes(&[0xc3]);
}

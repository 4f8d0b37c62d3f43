//! Bruce Dawson's program of many virtual functions (*O(n^2) in CreateProcess*, randomascii,
//! December 2018) as a PE image for x86-64, with a Guard CF function table.
//!
//! Every class has a virtual function table in `.rdata`: the destructor first, then its functions.
//! The guard table names every virtual function, and [`RUNTIME_FUNCTIONS`]: the entry point, which
//! the system calls as it calls any other, and others that stand for those of the C++ run time. The
//! program exits with 0 at once; where its last argument is `--call` it calls every entry of every
//! table through the guard's dispatch pointer first, and exits with 1 unless each did what it alone
//! does.

use super::code::{Code, If, before_immediate};
use super::headers;
use super::imports::{Imports, KERNEL_FUNCTIONS};
use super::layout::{Layout, Section, close, fits, pad};
use super::load_config::{self, Guard};
use super::machine::Machine;
use super::program::{Exits, Program};
use super::{PeWorkloadError, names, relocations};
use crate::{Arch, Counts, Dawson, WorkloadError};
use ::image::pe::{Headers, spec};
use model::{FileOffset, Rva};

/// Entries of the guard table that belong to no class: Dawson counted about as many. The entry
/// point is one of them.
pub const RUNTIME_FUNCTIONS: u32 = 45;

/// The file's name.
pub const PROGRAM: &str = "Dawson.exe";

/// Bytes from one function to the next: what the guard's bitmap resolves.
const FUNCTION_BYTES: u32 = 16;

/// Bytes of the program's body.
const LOOP_BYTES: u32 = 68;

/// Bytes of the variable that functions store in.
const SINK_BYTES: u64 = 4;

/// Entries of the Guard CF function table: [`RUNTIME_FUNCTIONS`], one a class, one a function.
///
/// `u64::MAX` stands for more than that.
pub fn guard_entries(asked: &Dawson) -> u64 {
    virtual_functions(asked).saturating_add(RUNTIME_FUNCTIONS.into())
}

/// Finds out without writing anything whether the file can be.
///
/// # Errors
/// A size beyond the format, or options it does not have.
pub fn check(asked: &Dawson) -> Result<(), WorkloadError> {
    Ok(Sized::new(asked).map(drop)?)
}

/// Name and bytes of the program.
///
/// `bases`, `hints` and `dynamic_base` of the options mean nothing here: the program imports only
/// from the system, and Guard CF asks for `DYNAMIC_BASE`.
///
/// # Errors
/// As [`check`].
pub fn file(asked: &Dawson) -> Result<(String, Vec<u8>), WorkloadError> {
    Ok((PROGRAM.to_owned(), Sized::new(asked)?.emit()))
}

/// What the image holds: base relocations of the vtables, the load configuration and the two
/// pointers of Guard CF.
pub(crate) fn counts(asked: &Dawson) -> Counts {
    Counts {
        relocations: virtual_functions(asked) + 2 + load_config::ADDRESSES.len() as u64,
        imports: KERNEL_FUNCTIONS.len() as u64,
        exports: 0,
    }
}

/// Virtual functions with the destructors.
fn virtual_functions(asked: &Dawson) -> u64 {
    let classes = u64::from(asked.sources) * u64::from(asked.classes);
    classes.saturating_mul(u64::from(asked.functions) + 1)
}

/// Where the parts of `.rdata` are, from its start.
struct Parts {
    /// Pointers to the functions that check and that dispatch a call.
    pointers: u32,
    load_config: u32,
    tables: u32,
    guard: u32,
    bytes: u64,
}

/// A workload whose file is known to be possible.
struct Sized<'a> {
    asked: &'a Dawson,
    machine: Machine,
    imports: Imports,
    /// Virtual functions with the destructors.
    virtuals: u32,
    parts: Parts,
    layout: Layout<4>,
    /// Bytes of the program, padded, in front of the functions.
    program_bytes: u32,
}

impl<'a> Sized<'a> {
    fn new(asked: &'a Dawson) -> Result<Self, PeWorkloadError> {
        headers::check(&asked.pe)?;
        let found = asked.guard_entry_bytes;
        if !(4..=5).contains(&found) {
            return Err(PeWorkloadError::GuardEntry { file: PROGRAM.to_owned(), found });
        }
        let machine = Machine::of(Arch::X86_64);
        let imports = Imports::of_system(machine, &KERNEL_FUNCTIONS);
        let virtuals = virtual_functions(asked);
        let each = FUNCTION_BYTES + machine.pointer + found;
        fits(PROGRAM, virtuals.saturating_mul(each.into()))?;
        let parts = Parts::new(&imports, virtuals as u32, found);
        let program = program(machine, &imports, Rva::ZERO);
        let program_bytes = program.bytes(LOOP_BYTES.into()).next_multiple_of(16) as u32;
        // The entry point is the program's own, and two are there for calls without a guard.
        let functions = guard_entries(asked) - 1 + 2;
        let text = u64::from(program_bytes) + functions * u64::from(FUNCTION_BYTES);
        let reloc = relocations::bytes(parts.sites(virtuals as u32));
        let layout = Layout::new(
            PROGRAM,
            headers::bytes(machine, 4),
            asked.pe.file_alignment,
            [
                Section::text(text),
                Section::rdata(parts.bytes),
                Section::data(SINK_BYTES),
                Section::reloc(reloc),
            ],
        )?;
        let virtuals = virtuals as u32;
        Ok(Self { asked, machine, imports, virtuals, parts, layout, program_bytes })
    }

    fn emit(&self) -> Vec<u8> {
        let [text, rdata, data, reloc] = self.layout.sections;
        let headers = self.headers();
        let mut out = headers::begin(&headers, &self.layout);
        let program = program(self.machine, &self.imports, rdata.rva);
        program.push(&mut out, text.rva, LOOP_BYTES, |code, exits| self.push_loop(code, exits));
        self.push_functions(&mut out);
        close(&mut out, &text);
        self.push_rdata(&mut out);
        close(&mut out, &rdata);
        pad(&mut out, data.offset.0 + u64::from(data.memory_bytes));
        close(&mut out, &data);
        let sites = self.parts.sites(self.virtuals);
        relocations::push(&mut out, rdata.rva, self.machine.relocation, sites);
        close(&mut out, &reloc);
        headers::finish(&mut out, &headers, &self.asked.pe);
        out
    }

    fn headers(&self) -> Headers {
        let [text, rdata, _, reloc] = self.layout.sections;
        let mut headers = headers::of(self.machine, &self.layout, &self.asked.pe);
        headers.base = self.machine.program_base;
        headers.entry = text.rva;
        headers.dll_characteristics = spec::IMAGE_DLLCHARACTERISTICS_HIGH_ENTROPY_VA
            | spec::IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE
            | spec::IMAGE_DLLCHARACTERISTICS_NX_COMPAT
            | spec::IMAGE_DLLCHARACTERISTICS_GUARD_CF
            | spec::IMAGE_DLLCHARACTERISTICS_TERMINAL_SERVER_AWARE;
        let [imports, addresses] = self.imports.directories(rdata.rva);
        headers.directories[spec::IMPORT] = imports;
        headers.directories[spec::IAT] = addresses;
        headers.directories[spec::LOAD_CONFIG] =
            headers::directory(rdata.rva + self.parts.load_config, load_config::BYTES);
        headers.directories[spec::BASERELOC] = headers::directory(reloc.rva, reloc.memory_bytes);
        headers
    }

    /// Address of the functions that check and dispatch where there is no guard.
    fn unguarded(&self) -> Rva {
        let [text, ..] = self.layout.sections;
        text.rva + self.program_bytes
    }

    /// Address of the first function in the guard table behind the entry point.
    fn guarded(&self) -> Rva {
        self.unguarded() + 2 * FUNCTION_BYTES
    }

    /// Address of the first virtual function.
    fn first_virtual(&self) -> Rva {
        self.guarded() + (RUNTIME_FUNCTIONS - 1) * FUNCTION_BYTES
    }

    /// Calls entry after entry; all tables are one array.
    fn push_loop(&self, code: &mut Code, exits: Exits) {
        let [_, rdata, data, _] = self.layout.sections;
        // xor esi, esi; next: cmp esi, virtuals; jae pass
        code.bytes(&[0x31, 0xf6]);
        let next = code.here();
        code.bytes(&[0x81, 0xfe]).number(self.virtuals).jump_if(If::AboveOrEqual, exits.pass);
        // mov edi, esi; xor edi, salt: the identity. mov eax, edi; not eax; mov [sink], eax
        code.bytes(&[0x89, 0xf7, 0x81, 0xf7]).number(names::salt(self.asked.pe.seed));
        code.bytes(&[0x89, 0xf8, 0xf7, 0xd0]).memory(&[0x89, 0x05], data.rva);
        // lea rax, [tables]; mov rax, [rax + 8 * rsi]; call [dispatch]
        code.memory(&[0x48, 0x8d, 0x05], rdata.rva + self.parts.tables);
        code.bytes(&[0x48, 0x8b, 0x04, 0xf0]);
        code.call_slot(rdata.rva + self.parts.pointers + self.machine.pointer);
        // inc esi; cmp [sink], edi; je next; jmp fail
        code.bytes(&[0xff, 0xc6]).memory(&[0x39, 0x3d], data.rva).jump_if(If::Equal, next);
        code.jump(exits.fail);
    }

    fn push_functions(&self, out: &mut Vec<u8>) {
        let [text, _, data, _] = self.layout.sections;
        let rva = text.rva + (FileOffset::at(out.len()) - text.offset) as u32;
        let mut code = Code::at(out, rva, self.machine, self.machine.program_base);
        code.align(text.rva);
        // A check that is content, and a dispatch that jumps to rax.
        for function in [&[0xc3_u8][..], &[0xff, 0xe0]] {
            code.bytes(function).align(text.rva);
        }
        for _ in 1..RUNTIME_FUNCTIONS {
            code.bytes(&[0xc3]).align(text.rva);
        }
        debug_assert_eq!(code.here(), self.first_virtual());
        let sink = before_immediate(self.machine, data.rva);
        for index in 0..self.virtuals {
            // mov dword [sink], identity; ret
            code.memory(&[0xc7, 0x05], sink).number(names::identity(self.asked.pe.seed, index));
            code.bytes(&[0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc]);
        }
    }

    fn push_rdata(&self, out: &mut Vec<u8>) {
        let [text, rdata, ..] = self.layout.sections;
        let base = self.machine.program_base;
        let addresses = |count: u32, first: Rva| {
            (0..count).map(move |index| base + u64::from((first + index * FUNCTION_BYTES).0))
        };
        self.imports.push(out, rdata.rva);
        pad(out, rdata.offset.0 + u64::from(self.parts.pointers));
        out.extend(addresses(2, self.unguarded()).flat_map(|address| address.0.to_le_bytes()));
        let check_pointer = base + u64::from((rdata.rva + self.parts.pointers).0);
        let guard = Guard {
            check_pointer,
            dispatch_pointer: check_pointer + u64::from(self.machine.pointer),
            table: base + u64::from((rdata.rva + self.parts.guard).0),
            entries: guard_entries(self.asked),
            entry_bytes: self.asked.guard_entry_bytes,
        };
        load_config::push(out, &guard);
        out.extend(
            addresses(self.virtuals, self.first_virtual())
                .flat_map(|address| address.0.to_le_bytes()),
        );
        let behind = (1..RUNTIME_FUNCTIONS + self.virtuals)
            .map(|index| self.guarded() + (index - 1) * FUNCTION_BYTES);
        let extra = self.asked.guard_entry_bytes as usize - 4;
        for rva in [text.rva].into_iter().chain(behind) {
            out.extend_from_slice(&rva.0.to_le_bytes());
            // No flags: a function that may be called.
            out.extend_from_slice(&[0; 1][..extra]);
        }
    }
}

impl Parts {
    fn new(imports: &Imports, virtuals: u32, guard_entry_bytes: u32) -> Self {
        let pointers = (imports.bytes() as u32).next_multiple_of(16);
        let load_config = pointers + 2 * imports.machine.pointer;
        let tables = load_config + load_config::BYTES;
        let guard = tables + virtuals * imports.machine.pointer;
        let entries = u64::from(virtuals + RUNTIME_FUNCTIONS);
        let bytes = u64::from(guard) + entries * u64::from(guard_entry_bytes);
        Self { pointers, load_config, tables, guard, bytes }
    }

    /// Offsets of all addresses in the section, ascending.
    fn sites(&self, virtuals: u32) -> impl Iterator<Item = u32> {
        let (pointers, load_config, tables) = (self.pointers, self.load_config, self.tables);
        let pointers = (0..2).map(move |index| pointers + 8 * index);
        let fields = load_config::ADDRESSES.into_iter().map(move |field| load_config + field);
        pointers.chain(fields).chain((0..virtuals).map(move |index| tables + 8 * index))
    }
}

fn program(machine: Machine, imports: &Imports, imports_rva: Rva) -> Program<'_> {
    Program { machine, base: machine.program_base, imports, imports_rva }
}

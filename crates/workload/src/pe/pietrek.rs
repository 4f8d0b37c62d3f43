//! Matt Pietrek's load-time test (*Optimizing DLL Load Time Performance*, MSDN Magazine, May
//! 2000): `LoadTimeTest.exe` and `LoadTimeDLL_1.dll` … as PE images.
//!
//! The program exits with 0 before it does anything. Where its last argument is `--call` it calls
//! every import through the import address table first, and exits with 1 unless each returned its
//! own identity, which it does only where all its globals were relocated.
//!
//! A program's import table names libraries of no functions too, but loaders skip those.

use super::code::{Code, If};
use super::headers;
use super::imports::{Imports, KERNEL_FUNCTIONS};
use super::layout::{Layout, SECTION_ALIGNMENT, Section, close};
use super::library::Library;
use super::machine::Machine;
use super::program::{Exits, Program};
use super::{PeWorkloadError, names};
use crate::{Bases, By, Counts, Pietrek, WorkloadError};
use ::image::pe::{Headers, spec};
use model::{Rva, Va};

/// The most functions of a library: ordinals are 16 bits and begin at 1.
const FUNCTION_LIMIT: u32 = 65_535;

/// What Windows reserves address space in.
const GRANULARITY: u64 = 0x1_0000;

/// Bytes of `call [slot]; cmp eax, identity; jne fail`.
const CALL_BYTES: u64 = 6 + 5 + 6;

/// Number of files: the program and its libraries.
pub fn count(asked: &Pietrek) -> u64 {
    u64::from(asked.dlls) + 1
}

/// What the images hold: base relocations, and imports with those of KERNEL32.
pub(crate) fn counts(asked: &Pietrek) -> Counts {
    let exports = u64::from(asked.dlls) * u64::from(asked.functions);
    Counts {
        relocations: exports * u64::from(asked.globals),
        imports: exports + KERNEL_FUNCTIONS.len() as u64,
        exports,
    }
}

/// Finds out without writing anything whether all files can be.
///
/// # Errors
/// A size beyond the format, or options that contradict each other.
pub fn check(asked: &Pietrek) -> Result<(), WorkloadError> {
    Ok(Sized::new(asked).map(drop)?)
}

/// Name and bytes of a file: the program is file 0, the libraries follow from 1.
///
/// # Errors
/// As [`check`], for any file of the workload; or there is no file `index`.
pub fn file(asked: &Pietrek, index: u32) -> Result<(String, Vec<u8>), WorkloadError> {
    let sized = Sized::new(asked)?;
    if index > asked.dlls {
        return Err(PeWorkloadError::NoSuchFile { index, count: count(asked) }.into());
    }
    if index == 0 {
        return Ok((names::PROGRAM.to_owned(), sized.emit()));
    }
    let library = Library::new(asked, index)?;
    Ok((names::library(index), library.emit(sized.base(index))))
}

/// A workload whose files are known to be possible.
struct Sized<'a> {
    asked: &'a Pietrek,
    machine: Machine,
    imports: Imports,
    layout: Layout<2>,
    /// Base of the first library.
    first_base: Va,
    /// Distance of the bases of two libraries.
    slot_bytes: u64,
}

impl<'a> Sized<'a> {
    fn new(asked: &'a Pietrek) -> Result<Self, PeWorkloadError> {
        headers::check(&asked.pe)?;
        if asked.pe.dynamic_base && asked.pe.bases == Bases::Default {
            return Err(PeWorkloadError::DynamicBase);
        }
        if asked.functions > FUNCTION_LIMIT {
            return Err(PeWorkloadError::Functions {
                file: names::library(1),
                functions: asked.functions,
                limit: FUNCTION_LIMIT,
            });
        }
        let machine = Machine::of(asked.arch);
        let imports = Imports {
            machine,
            system: &KERNEL_FUNCTIONS,
            dlls: asked.dlls,
            functions: asked.functions,
            by_ordinal: asked.by == By::Ordinal,
            hints: asked.pe.hints,
        };
        let program = program(machine, &imports, Rva::ZERO);
        let text = program.bytes(imports.calls().saturating_mul(CALL_BYTES));
        let layout = Layout::new(
            names::PROGRAM,
            header_bytes(machine, &imports),
            asked.pe.file_alignment,
            [Section::text(text), Section::rdata(imports.bytes())],
        )?;
        let (first_base, slot_bytes) = bases(asked, machine, layout.image_bytes)?;
        Ok(Self { asked, machine, imports, layout, first_base, slot_bytes })
    }

    /// Preferred base of a library.
    fn base(&self, dll: u32) -> Va {
        self.first_base + u64::from(dll - 1) * self.slot_bytes
    }

    /// The program.
    fn emit(&self) -> Vec<u8> {
        let [text, rdata] = self.layout.sections;
        let headers = self.headers();
        let mut out = headers::begin(&headers, &self.layout);
        let calls = (self.imports.calls() * CALL_BYTES) as u32;
        let program = program(self.machine, &self.imports, rdata.rva);
        program.push(&mut out, text.rva, calls, |code, exits| self.push_calls(code, exits));
        close(&mut out, &text);
        self.imports.push(&mut out, rdata.rva);
        close(&mut out, &rdata);
        headers::finish(&mut out, &headers, &self.asked.pe);
        out
    }

    fn headers(&self) -> Headers {
        let [text, rdata] = self.layout.sections;
        let mut headers = headers::of(self.machine, &self.layout, &self.asked.pe);
        headers.base = self.machine.program_base;
        headers.entry = text.rva;
        // Programs of that time stood at their base.
        headers.characteristics |= spec::IMAGE_FILE_RELOCS_STRIPPED;
        headers.dll_characteristics = spec::IMAGE_DLLCHARACTERISTICS_NX_COMPAT
            | spec::IMAGE_DLLCHARACTERISTICS_TERMINAL_SERVER_AWARE;
        if !self.machine.wide() {
            headers.dll_characteristics |= spec::IMAGE_DLLCHARACTERISTICS_NO_SEH;
        }
        let [imports, addresses] = self.imports.directories(rdata.rva);
        headers.directories[spec::IMPORT] = imports;
        headers.directories[spec::IAT] = addresses;
        headers
    }

    fn push_calls(&self, code: &mut Code, exits: Exits) {
        let [_, rdata] = self.layout.sections;
        let mut index = 0;
        for dll in 0..self.asked.dlls {
            for function in 0..self.asked.functions {
                code.call_slot(self.imports.slot(rdata.rva, dll, function));
                // cmp eax, identity
                code.bytes(&[0x3d]).number(names::identity(self.asked.pe.seed, index));
                code.jump_if(If::NotEqual, exits.fail);
                index += 1;
            }
        }
    }
}

/// Whether the headers of the program have room for what binds it to its libraries.
pub fn can_be_bound(asked: &Pietrek) -> bool {
    Sized::new(asked).is_ok_and(|Sized { machine, imports, .. }| {
        header_bytes(machine, &imports) > headers::bytes(machine, 2)
    })
}

/// Headers of the program with room for bound imports behind them, as BIND needs it; without, where
/// they would not end before the first section.
fn header_bytes(machine: Machine, imports: &Imports) -> u32 {
    let headers = headers::bytes(machine, 2);
    let bound = u32::try_from(imports.bound_bytes()).unwrap_or(u32::MAX);
    headers.checked_add(bound).filter(|&bytes| bytes <= SECTION_ALIGNMENT).unwrap_or(headers)
}

fn program(machine: Machine, imports: &Imports, imports_rva: Rva) -> Program<'_> {
    Program { machine, base: machine.program_base, imports, imports_rva }
}

/// Base of the first library and the distance to the next.
fn bases(
    asked: &Pietrek,
    machine: Machine,
    program_bytes: u32,
) -> Result<(Va, u64), PeWorkloadError> {
    // Numbers with the most digits make the largest library.
    let largest = Library::new(asked, asked.dlls.max(1))?;
    if asked.pe.bases == Bases::Default {
        return Ok((machine.library_base, 0));
    }
    let slot = u64::from(largest.layout.image_bytes).next_multiple_of(GRANULARITY);
    let program_end = machine.program_base + u64::from(program_bytes);
    let first = machine.library_base.max(Va(program_end.0.next_multiple_of(GRANULARITY)));
    let end = first + slot * u64::from(asked.dlls);
    if end > machine.libraries_end {
        return Err(PeWorkloadError::AddressSpace {
            file: names::library(asked.dlls),
            end,
            limit: machine.libraries_end,
        });
    }
    Ok((first, slot))
}

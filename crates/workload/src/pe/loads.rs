//! A program for x86-64 that loads libraries one after the other by LoadLibraryW and writes what
//! each load took to its standard output.
//!
//! The names are in the program. A record ([`super::load_records`]) is written before the first
//! load and behind each; then the process ends without a word to the libraries.

use super::PeOptions;
use super::code::{Code, If};
use super::headers;
use super::imports::Imports;
use super::layout::{Layout, Section, close, pad};
use super::load_records::{LoadMark, RECORD_BYTES, field};
use super::machine::Machine;
use crate::{Arch, WorkloadError};
use ::image::pe::{Headers, spec};
use model::Rva;

/// The file's name.
pub const PROGRAM: &str = "LoadLibraries.exe";

/// Characters of a path that are told, the NUL included.
pub(super) const PATH_CHARACTERS: u32 = 1024;

const FUNCTIONS: [&str; 10] = [
    "GetStdHandle",
    "SetErrorMode",
    "QueryPerformanceFrequency",
    "QueryPerformanceCounter",
    "LoadLibraryW",
    "GetLastError",
    "K32EnumProcessModules",
    "GetModuleFileNameW",
    "WriteFile",
    "TerminateProcess",
];

/// `STD_OUTPUT_HANDLE`, and `SEM_FAILCRITICALERRORS`, `SEM_NOGPFAULTERRORBOX` and
/// `SEM_NOOPENFILEERRORBOX`: nobody is asked anything.
const STANDARD_OUTPUT: u32 = (-11_i32).cast_unsigned();
const NO_QUESTIONS: u32 = 0x8003;

/// The program for these names in UTF-16, which have no NUL and are not empty. `mark` begins each
/// record.
///
/// # Errors
/// The names are more than an image can hold.
pub fn program(names: &[Vec<u16>], mark: LoadMark) -> Result<Vec<u8>, WorkloadError> {
    let machine = Machine::of(Arch::X86_64);
    let imports = Imports::of_system(machine, &FUNCTIONS);
    let options = PeOptions { file_alignment: 4096, ..PeOptions::default() };
    let all = names.iter().map(|name| 2 * (name.len() as u64 + 1)).sum::<u64>() + 2;
    let names_at = (imports.bytes() as u32).next_multiple_of(16);
    let mut code = Vec::new();
    let nowhere = Places { imports: &imports, tables: Rva(0), names: Rva(0), record: Rva(0) };
    nowhere.push(&mut Code::at(&mut code, Rva(0), machine, machine.program_base));
    let layout = Layout::new(
        PROGRAM,
        headers::bytes(machine, 3),
        options.file_alignment,
        [
            Section::text(code.len() as u64),
            Section::rdata(u64::from(names_at).saturating_add(all)),
            Section::data(u64::from(RECORD_BYTES + 2 * PATH_CHARACTERS)),
        ],
    )
    .map_err(WorkloadError::from)?;
    let [text, rdata, data] = layout.sections;
    let headers = headers_of(machine, &layout, &options, &imports);
    let mut out = headers::begin(&headers, &layout);
    let places = Places {
        imports: &imports,
        tables: rdata.rva,
        names: rdata.rva + names_at,
        record: data.rva,
    };
    places.push(&mut Code::at(&mut out, text.rva, machine, machine.program_base));
    close(&mut out, &text);
    imports.push(&mut out, rdata.rva);
    pad(&mut out, rdata.offset.0 + u64::from(names_at));
    for name in names.iter().map(Vec::as_slice).chain([&[][..]]) {
        out.extend(name.iter().chain([&0]).flat_map(|unit| unit.to_le_bytes()));
    }
    close(&mut out, &rdata);
    out.extend_from_slice(&mark.0);
    // The record before the first load has the number before 0.
    out.extend_from_slice(&u64::MAX.to_le_bytes());
    pad(&mut out, data.offset.0 + u64::from(data.memory_bytes));
    close(&mut out, &data);
    headers::finish(&mut out, &headers, &options);
    Ok(out)
}

fn headers_of(
    machine: Machine,
    layout: &Layout<3>,
    options: &PeOptions,
    imports: &Imports,
) -> Headers {
    let [text, rdata, _] = layout.sections;
    let mut headers = headers::of(machine, layout, options);
    headers.base = machine.program_base;
    headers.entry = text.rva;
    headers.dll_characteristics = spec::IMAGE_DLLCHARACTERISTICS_NX_COMPAT
        | spec::IMAGE_DLLCHARACTERISTICS_TERMINAL_SERVER_AWARE;
    // No relocations: it is where it is linked to.
    headers.characteristics |= spec::IMAGE_FILE_RELOCS_STRIPPED;
    let [tables, addresses] = imports.directories(rdata.rva);
    headers.directories[spec::IMPORT] = tables;
    headers.directories[spec::IAT] = addresses;
    headers
}

/// Where the code finds what it uses.
struct Places<'a> {
    imports: &'a Imports,
    tables: Rva,
    names: Rva,
    record: Rva,
}

/// `lea` of an address into an argument register.
const RCX: [u8; 3] = [0x48, 0x8d, 0x0d];
const RDX: [u8; 3] = [0x48, 0x8d, 0x15];
const R9: [u8; 3] = [0x4c, 0x8d, 0x0d];
const RSI: [u8; 3] = [0x48, 0x8d, 0x35];

impl Places<'_> {
    fn call(&self, code: &mut Code, name: &str) {
        let index = FUNCTIONS.iter().position(|function| *function == name).unwrap_or_default();
        code.call_slot(self.imports.system_slot(self.tables, index as u32));
    }

    fn field(&self, offset: u32) -> Rva {
        self.record + offset
    }

    /// rdi: standard output. rsi: the next name. rbx: the library.
    fn push(&self, code: &mut Code) {
        // sub rsp, 56: space for callees' arguments, and an aligned stack.
        code.bytes(&[0x48, 0x83, 0xec, 0x38]);
        // mov ecx, ...; mov rdi, rax
        code.bytes(&[0xb9]).number(STANDARD_OUTPUT);
        self.call(code, "GetStdHandle");
        code.bytes(&[0x48, 0x89, 0xc7]).bytes(&[0xb9]).number(NO_QUESTIONS);
        self.call(code, "SetErrorMode");
        code.memory(&RCX, self.field(field::FREQUENCY));
        self.call(code, "QueryPerformanceFrequency");
        code.memory(&RSI, self.names);
        // xor eax, eax: no path yet.
        code.bytes(&[0x31, 0xc0]);
        self.write(code);
        let next = code.here();
        // inc qword [number]; cmp word [rsi], 0; je end
        code.memory(&[0x48, 0xff, 0x05], self.field(field::NUMBER));
        code.bytes(&[0x66, 0x83, 0x3e, 0x00]);
        let end = next + self.load_bytes();
        code.jump_if(If::Equal, end);
        self.load(code);
        code.jump(next);
        debug_assert!(self.tables == Rva(0) || code.here() == end);
        // or rcx, -1; xor edx, edx
        code.bytes(&[0x48, 0x83, 0xc9, 0xff, 0x31, 0xd2]);
        self.call(code, "TerminateProcess");
        code.bytes(&[0xcc]);
    }

    /// Bytes from the beginning of the loop to behind it: `inc`, `cmp`, `je`, the body, `jmp`.
    fn load_bytes(&self) -> u32 {
        let mut out = Vec::new();
        self.load(&mut Code::at(&mut out, Rva(0), self.imports.machine, model::Va(0)));
        7 + 4 + 6 + out.len() as u32 + 5
    }

    /// Loads the library at rsi, writes the record, and moves rsi behind the name.
    fn load(&self, code: &mut Code) {
        self.count(code, field::MODULES_BEFORE);
        code.memory(&RCX, self.field(field::BEFORE));
        self.call(code, "QueryPerformanceCounter");
        // mov rcx, rsi; mov rbx, rax
        code.bytes(&[0x48, 0x89, 0xf1]);
        self.call(code, "LoadLibraryW");
        code.bytes(&[0x48, 0x89, 0xc3]).memory(&RCX, self.field(field::AFTER));
        self.call(code, "QueryPerformanceCounter");
        self.call(code, "GetLastError");
        // mov [error], eax; mov [library], rbx
        code.memory(&[0x89, 0x05], self.field(field::ERROR));
        code.memory(&[0x48, 0x89, 0x1d], self.field(field::LIBRARY));
        self.count(code, field::MODULES_AFTER);
        // mov rcx, rbx; mov r8d, characters
        code.bytes(&[0x48, 0x89, 0xd9]).memory(&RDX, self.field(RECORD_BYTES));
        code.bytes(&[0x41, 0xb8]).number(PATH_CHARACTERS);
        self.call(code, "GetModuleFileNameW");
        self.write(code);
        // skip: add rsi, 2; cmp word [rsi - 2], 0; jne skip
        code.bytes(&[0x48, 0x83, 0xc6, 0x02, 0x66, 0x83, 0x7e, 0xfe, 0x00, 0x75, 0xf5]);
    }

    /// Stores the bytes that handles of all modules take.
    fn count(&self, code: &mut Code, field: u32) {
        // or rcx, -1: this process. xor r8d, r8d: none of the handles themselves.
        code.bytes(&[0x48, 0x83, 0xc9, 0xff]).memory(&RDX, self.field(RECORD_BYTES));
        code.bytes(&[0x45, 0x31, 0xc0]).memory(&R9, self.field(field));
        self.call(code, "K32EnumProcessModules");
    }

    /// Writes the record with a path of eax characters.
    fn write(&self, code: &mut Code) {
        // mov [characters], eax; lea r8d, [rax * 2 + record]
        code.memory(&[0x89, 0x05], self.field(field::CHARACTERS));
        code.bytes(&[0x44, 0x8d, 0x04, 0x45]).number(RECORD_BYTES);
        // mov rcx, rdi
        code.bytes(&[0x48, 0x89, 0xf9]).memory(&RDX, self.record);
        code.memory(&R9, self.field(field::WRITTEN));
        // mov qword [rsp + 32], 0: the fifth argument.
        code.bytes(&[0x48, 0xc7, 0x44, 0x24, 0x20]).number(0);
        self.call(code, "WriteFile");
    }
}

//! A program for x86-64 that loads libraries one after the other by LoadLibraryW and writes what
//! each load took to its standard output.
//!
//! The names are in the program. It writes a record ([`super::load_records`]) before the first load
//! and after each load. Before each record it writes what the loader has reported about modules since
//! the last one. Then the process ends without notifying the libraries.

use super::PeOptions;
use super::code::{Code, If};
use super::headers;
use super::imports::Imports;
use super::layout::{Layout, Section, close, pad};
use super::load_records::{LoadMark, RECORD_BYTES, field};
use super::machine::Machine;
use super::notices::{self, Notices};
use crate::{Arch, WorkloadError};
use ::image::pe::{Headers, spec};
use model::Rva;

/// The file's name.
pub const PROGRAM: &str = "LoadLibraries.exe";

/// Characters of a path that are reported, including the NUL.
pub(super) const PATH_CHARACTERS: u32 = 1024;

/// Where the data section has the variables of [`super::notices`]: after the record and its path.
const VARIABLES_AT: u32 = RECORD_BYTES + 2 * PATH_CHARACTERS;
const DATA_BYTES: u32 = VARIABLES_AT + notices::VARIABLE_BYTES;

const FUNCTIONS: [&str; 13] = [
    "DuplicateHandle",
    "GetModuleHandleA",
    "GetProcAddress",
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
    let nowhere = Places::new(&imports, [Rva(0); 4], 0);
    let entry = nowhere.push(&mut Code::at(&mut code, Rva(0), machine, machine.program_base));
    let layout = Layout::new(
        PROGRAM,
        headers::bytes(machine, 4),
        options.file_alignment,
        [
            Section::text(code.len() as u64),
            Section::rdata(u64::from(names_at).saturating_add(all)),
            Section::data(u64::from(DATA_BYTES)),
            Section::bss(u64::from(notices::RING_BYTES)),
        ],
    )
    .map_err(WorkloadError::from)?;
    let [text, rdata, data, _] = layout.sections;
    let mut headers = headers_of(machine, &layout, &options, &imports);
    headers.entry = text.rva + entry.0;
    let mut out = headers::begin(&headers, &layout);
    let places = Places::new(&imports, layout.sections.map(|section| section.rva), names_at);
    places.push(&mut Code::at(&mut out, text.rva, machine, machine.program_base));
    close(&mut out, &text);
    imports.push(&mut out, rdata.rva);
    pad(&mut out, rdata.offset.0 + u64::from(names_at));
    for name in names.iter().map(Vec::as_slice).chain([&[][..]]) {
        out.extend(name.iter().chain([&0]).flat_map(|unit| unit.to_le_bytes()));
    }
    close(&mut out, &rdata);
    out.extend(first_data(mark));
    close(&mut out, &data);
    headers::finish(&mut out, &headers, &options);
    Ok(out)
}

/// What the data section has before the program runs.
fn first_data(mark: LoadMark) -> Vec<u8> {
    let mut data = vec![0; VARIABLES_AT as usize];
    let mut put = |at: u32, bytes: &[u8]| {
        data[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
    };
    put(0, &mark.0);
    // The record before the first load has the number before 0.
    put(field::NUMBER, &u64::MAX.to_le_bytes());
    // Until the registration succeeds.
    put(field::REGISTRATION, &u32::MAX.to_le_bytes());
    data.extend(notices::variables(mark.of_notices()));
    data
}

fn headers_of(
    machine: Machine,
    layout: &Layout<4>,
    options: &PeOptions,
    imports: &Imports,
) -> Headers {
    let [_, rdata, ..] = layout.sections;
    let mut headers = headers::of(machine, layout, options);
    headers.base = machine.program_base;
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
    notices: Notices,
}

/// `lea` of an address into an argument register.
const RCX: [u8; 3] = [0x48, 0x8d, 0x0d];
const RDX: [u8; 3] = [0x48, 0x8d, 0x15];
const R9: [u8; 3] = [0x4c, 0x8d, 0x0d];
const RSI: [u8; 3] = [0x48, 0x8d, 0x35];

impl<'a> Places<'a> {
    /// `names_at`: where the names are in the second of the `sections`.
    fn new(imports: &'a Imports, sections: [Rva; 4], names_at: u32) -> Self {
        let [_, rdata, record, places] = sections;
        let (tables, variables) = (rdata, record + VARIABLES_AT);
        let counter = slot(imports, tables, "QueryPerformanceCounter");
        let notices = Notices { variables, places, counter };
        Places { imports, tables, names: rdata + names_at, record, notices }
    }

    fn call(&self, code: &mut Code, name: &str) {
        code.call_slot(slot(self.imports, self.tables, name));
    }

    fn field(&self, offset: u32) -> Rva {
        self.record + offset
    }

    /// Appends the callback and the program. Returns the entry point.
    /// rdi: standard output. rsi: the next name. rbx: the library.
    fn push(&self, code: &mut Code) -> Rva {
        let function = code.here();
        self.notices.push_function(code);
        code.align(function);
        let entry = code.here();
        // sub rsp, 56: space for callees' arguments, and an aligned stack.
        code.bytes(&[0x48, 0x83, 0xec, 0x38]);
        self.take_output(code);
        // mov ecx, ...
        code.bytes(&[0xb9]).number(NO_QUESTIONS);
        self.call(code, "SetErrorMode");
        code.memory(&RCX, self.field(field::FREQUENCY));
        self.call(code, "QueryPerformanceFrequency");
        self.notices.push_touching(code);
        self.register(code, function);
        code.memory(&RSI, self.names);
        // xor eax, eax: no path yet.
        code.bytes(&[0x31, 0xc0]);
        self.write(code);
        let next = code.here();
        // inc qword [number]; cmp word [rsi], 0; je end
        code.memory(&[0x48, 0xff, 0x05], self.field(field::NUMBER));
        code.bytes(&[0x66, 0x83, 0x3e, 0x00]);
        code.labeled(|code, [end]| {
            code.jump_if(If::Equal, end);
            self.load(code);
            code.jump(next);
            [code.here()]
        });
        // or rcx, -1; xor edx, edx
        code.bytes(&[0x48, 0x83, 0xc9, 0xff, 0x31, 0xd2]);
        self.call(code, "TerminateProcess");
        code.bytes(&[0xcc]);
        entry
    }

    /// Puts standard output into rdi, with a handle of the program's own: libraries close the other one.
    fn take_output(&self, code: &mut Code) {
        // mov ecx, ...; mov rdi, rax
        code.bytes(&[0xb9]).number(STANDARD_OUTPUT);
        self.call(code, "GetStdHandle");
        code.bytes(&[0x48, 0x89, 0xc7]);
        // or rcx, -1; mov rdx, rdi; mov r8, rcx: from this process to this process.
        code.bytes(&[0x48, 0x83, 0xc9, 0xff, 0x48, 0x89, 0xfa, 0x49, 0x89, 0xc8]);
        code.memory(&R9, self.field(field::WRITTEN));
        // mov qword [rsp + 32], 0; mov qword [rsp + 40], 0; mov qword [rsp + 48], 2: DUPLICATE_SAME_ACCESS.
        for (at, value) in [(32, 0), (40, 0), (48, 2)] {
            code.bytes(&[0x48, 0xc7, 0x44, 0x24, at]).number(value);
        }
        self.call(code, "DuplicateHandle");
        code.labeled(|code, [end]| {
            // test eax, eax; je end; mov rdi, [handle]
            code.bytes(&[0x85, 0xc0]).jump_if(If::Equal, end);
            code.memory(&[0x48, 0x8b, 0x3d], self.field(field::WRITTEN));
            [code.here()]
        });
    }

    /// Registers the callback, if the loader supports that.
    fn register(&self, code: &mut Code, function: Rva) {
        // mov eax, gs:[48h]; mov [thread], eax
        code.bytes(&notices::OWN_THREAD).memory(&[0x89, 0x05], self.field(field::THREAD));
        let [library, register] = self.notices.names();
        code.memory(&RCX, library);
        self.call(code, "GetModuleHandleA");
        // mov rcx, rax
        code.bytes(&[0x48, 0x89, 0xc1]).memory(&RDX, register);
        self.call(code, "GetProcAddress");
        code.labeled(|code, [end]| {
            // test rax, rax; je end
            code.bytes(&[0x48, 0x85, 0xc0]).jump_if(If::Equal, end);
            // xor ecx, ecx; xor r8d, r8d: no flags, no context.
            code.bytes(&[0x31, 0xc9]).memory(&RDX, function).bytes(&[0x45, 0x31, 0xc0]);
            // call rax; mov [registration], eax
            code.memory(&R9, self.notices.cookie()).bytes(&[0xff, 0xd0]);
            code.memory(&[0x89, 0x05], self.field(field::REGISTRATION));
            [code.here()]
        });
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

    /// Stores the bytes that handles of all modules take; 0 where that is not known.
    fn count(&self, code: &mut Code, field: u32) {
        // xor eax, eax; mov [field], eax
        code.bytes(&[0x31, 0xc0]).memory(&[0x89, 0x05], self.field(field));
        // or rcx, -1: this process. xor r8d, r8d: none of the handles themselves.
        code.bytes(&[0x48, 0x83, 0xc9, 0xff]).memory(&RDX, self.field(RECORD_BYTES));
        code.bytes(&[0x45, 0x31, 0xc0]).memory(&R9, self.field(field));
        self.call(code, "K32EnumProcessModules");
    }

    /// Writes the notices, then the record with a path of eax characters.
    fn write(&self, code: &mut Code) {
        // mov [characters], eax
        code.memory(&[0x89, 0x05], self.field(field::CHARACTERS));
        let counts = [self.field(field::NOTICES), self.field(field::LOST)];
        self.notices.push_writing(code, counts, |code| {
            // mov rdx, rbp
            code.bytes(&[0x48, 0x89, 0xea]);
            self.write_bytes(code);
        });
        // mov eax, [characters]; lea r8d, [rax * 2 + record]
        code.memory(&[0x8b, 0x05], self.field(field::CHARACTERS));
        code.bytes(&[0x44, 0x8d, 0x04, 0x45]).number(RECORD_BYTES);
        code.memory(&RDX, self.record);
        self.write_bytes(code);
    }

    /// Writes r8d bytes at rdx.
    fn write_bytes(&self, code: &mut Code) {
        // mov rcx, rdi
        code.bytes(&[0x48, 0x89, 0xf9]).memory(&R9, self.field(field::WRITTEN));
        // mov qword [rsp + 32], 0: the fifth argument.
        code.bytes(&[0x48, 0xc7, 0x44, 0x24, 0x20]).number(0);
        self.call(code, "WriteFile");
    }
}

/// The slot of one of the [`FUNCTIONS`].
fn slot(imports: &Imports, tables: Rva, name: &str) -> Rva {
    let index = FUNCTIONS.iter().position(|function| *function == name).unwrap_or_default();
    imports.system_slot(tables, index as u32)
}

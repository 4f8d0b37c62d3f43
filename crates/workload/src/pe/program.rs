//! The code that every generated PE program begins with.

use super::code::{Code, If};
use super::imports::Imports;
use super::machine::Machine;
use model::{Rva, Va};

/// The frame of every program: it exits with 0 at once; where the last argument is `--call` it
/// first runs a body that may fail, and exits with 1 then.
pub(super) struct Program<'a> {
    pub(super) machine: Machine,
    pub(super) base: Va,
    pub(super) imports: &'a Imports,
    /// Address of the import tables.
    pub(super) imports_rva: Rva,
}

/// Where a body goes on.
#[derive(Clone, Copy)]
pub(super) struct Exits {
    pub(super) pass: Rva,
    pub(super) fail: Rva,
}

/// Bytes from where the program passes to where it fails.
const FAIL_AFTER_PASS: u32 = 4;

/// The C run time is not there to split the command line, so its end is compared.
const ARGUMENT: &[u8; 7] = b" --call";

impl Program<'_> {
    /// Bytes of a program whose body has `body` bytes.
    pub(super) fn bytes(&self, body: u64) -> u64 {
        body.saturating_add(u64::from(self.head_bytes())).saturating_add(self.tail_bytes())
    }

    /// Appends the program at `rva`, with a body of `body_bytes` that `body` appends.
    pub(super) fn push(
        &self,
        out: &mut Vec<u8>,
        rva: Rva,
        body_bytes: u32,
        body: impl FnOnce(&mut Code, Exits),
    ) {
        let mut code = Code::at(out, rva, self.machine, self.base);
        let pass = rva + self.head_bytes() + body_bytes;
        self.head(&mut code, pass);
        body(&mut code, Exits { pass, fail: pass + FAIL_AFTER_PASS });
        debug_assert_eq!(code.here(), pass);
        self.tail(&mut code);
    }

    /// Sizes of instructions do not depend on addresses.
    fn head_bytes(&self) -> u32 {
        let mut out = Vec::new();
        self.head(&mut Code::at(&mut out, Rva::ZERO, self.machine, self.base), Rva::ZERO);
        out.len() as u32
    }

    fn tail_bytes(&self) -> u64 {
        let mut out = Vec::new();
        self.tail(&mut Code::at(&mut out, Rva::ZERO, self.machine, self.base));
        out.len() as u64
    }

    /// Goes to `pass` unless the command line ends with the argument.
    fn head(&self, code: &mut Code, pass: Rva) {
        if self.machine.wide() {
            // sub rsp, 40: space for callees' arguments, and an aligned stack.
            code.bytes(&[0x48, 0x83, 0xec, 0x28]);
        }
        code.call_slot(self.imports.system_slot(self.imports_rva, 0));
        // mov rcx, rax; test byte [rcx], -1; je end; add rcx, 1; jmp test
        code.wide(&[0x89, 0xc1]);
        let skip: u8 = if self.machine.wide() { 6 } else { 5 };
        code.bytes(&[0xf6, 0x01, 0xff, 0x74, skip]).wide(&[0x83, 0xc1, 0x01]);
        code.bytes(&[0xeb, 0u8.wrapping_sub(skip + 5)]);
        // lea rdx, [rcx - 7]; cmp rdx, rax; jb pass: shorter than the argument.
        code.wide(&[0x8d, 0x51, 0xf9]).wide(&[0x39, 0xc2]).jump_if(If::Below, pass);
        let [space, dash, hyphen, c, a, l, last] = *ARGUMENT;
        // cmp byte [rdx], ' '
        code.bytes(&[0x80, 0x3a, space]).jump_if(If::NotEqual, pass);
        // cmp dword [rdx + 1], "--ca"; cmp word [rdx + 5], "ll"
        code.bytes(&[0x81, 0x7a, 0x01, dash, hyphen, c, a]).jump_if(If::NotEqual, pass);
        code.bytes(&[0x66, 0x81, 0x7a, 0x05, l, last]).jump_if(If::NotEqual, pass);
    }

    /// Ends the process without a word to its libraries: launches are what is measured.
    fn tail(&self, code: &mut Code) {
        // pass: xor ebx, ebx; jmp exit. fail: mov ebx, 1
        code.bytes(&[0x31, 0xdb, 0xeb, 0x05]).bytes(&[0xbb]).number(1);
        code.call_slot(self.imports.system_slot(self.imports_rva, 1));
        if self.machine.wide() {
            // mov rcx, rax; mov edx, ebx
            code.bytes(&[0x48, 0x89, 0xc1, 0x89, 0xda]);
        } else {
            // push ebx; push eax
            code.bytes(&[0x53, 0x50]);
        }
        code.call_slot(self.imports.system_slot(self.imports_rva, 2)).bytes(&[0xcc]);
    }
}

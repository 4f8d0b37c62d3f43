//! Code and data of each kind of image.

use super::bytes::Bytes;
use super::code::Code;
use super::image::{Body, Sizes, relative};
use super::layout::Layout;
use super::plt;
use super::program::{self, BEFORE_ENTRY, FRAME_BYTES};

/// A library of functions. Each stores its address in its globals, which are initialized with it
/// too, and returns its number.
pub(super) struct Functions {
    pub(super) count: u32,
    pub(super) globals: u32,
    /// Number of the first.
    pub(super) first: u32,
}

impl Functions {
    /// Size of one function: load its address, store it, load its number, return; from 16 to 16.
    pub(super) fn each(&self) -> u64 {
        let store = if self.globals == 0 { 0 } else { 7 + 7 * u64::from(self.globals) };
        (store + 6).next_multiple_of(16)
    }
}

impl Body for Functions {
    fn sizes(&self) -> Sizes {
        let globals = u64::from(self.count) * u64::from(self.globals);
        // A library without functions has a return instruction, as code segments are not empty.
        let code = (u64::from(self.count) * self.each()).max(1);
        Sizes { code, data: 8 * globals, relatives: globals, ..Sizes::default() }
    }

    fn write(&self, at: &Layout, out: &mut Bytes) {
        out.put(at.text.at, &[0xc3]);
        for function in 0..u64::from(self.count) {
            let start = at.text.at + function * self.each();
            let first = function * u64::from(self.globals);
            let globals = first..first + u64::from(self.globals);
            let slot = |global| at.data.at + 8 * global;
            let mut code = Code { out, at: start };
            if self.globals > 0 {
                code.distance(&[0x48, 0x8d, 0x05], start); // lea rax, [this function]
            }
            for global in globals.clone() {
                code.distance(&[0x48, 0x89, 0x05], slot(global)); // mov [global], rax
            }
            code.value(&[0xb8], self.first + function as u32); // mov eax, number
            code.raw(&[0xc3]); // ret
            for global in globals {
                relative(global, slot(global), start, at, out);
            }
        }
    }
}

/// A program that calls its imports and checks that they return 1, 2, 3, …
pub(super) struct Calls {
    pub(super) imports: u32,
}

/// Bytes of one checked call.
pub(super) const CALL_BYTES: u64 = 18;

impl Body for Calls {
    fn sizes(&self) -> Sizes {
        let code = FRAME_BYTES + CALL_BYTES * u64::from(self.imports);
        Sizes { code, before_entry: BEFORE_ENTRY, ..Sizes::default() }
    }

    fn write(&self, at: &Layout, out: &mut Bytes) {
        program::write(at, out, true, |code| {
            for import in 0..self.imports {
                code.value(&[0xbb], import + 1); // mov ebx, number
                code.distance(&[0xe8], plt::entry(import.into(), at)); // call
                code.raw(&[0x39, 0xd8]); // cmp eax, ebx
                code.distance(&[0x0f, 0x85], program::fail(at)); // jne fail
            }
        });
    }
}

/// A program that opens libraries; its first import is `dlopen`.
pub(super) struct Opens {
    pub(super) names: Vec<String>,
}

/// Every name has as much room.
const NAME_BYTES: u64 = 32;

impl Body for Opens {
    fn sizes(&self) -> Sizes {
        Sizes {
            code: FRAME_BYTES + 64,
            before_entry: BEFORE_ENTRY,
            rodata: NAME_BYTES * self.names.len() as u64,
            ..Sizes::default()
        }
    }

    fn write(&self, at: &Layout, out: &mut Bytes) {
        for (index, name) in self.names.iter().enumerate() {
            out.put(at.rodata.at + NAME_BYTES * index as u64, name.as_bytes());
        }
        program::write(at, out, false, |code| {
            code.raw(&[0x31, 0xdb]); // xor ebx, ebx
            code.distance(&[0x4c, 0x8d, 0x25], at.rodata.at); // lea r12, [names]
            code.value(&[0x41, 0xbd], self.names.len() as u32); // mov r13d, count
            let next = code.at;
            code.raw(&[0x45, 0x85, 0xed]); // test r13d, r13d
            code.distance(&[0x0f, 0x84], next + 45); // jz done
            code.raw(&[0xff, 0xc3]); // inc ebx
            code.raw(&[0x4c, 0x89, 0xe7]); // mov rdi, r12
            code.value(&[0xbe], 2); // mov esi, RTLD_NOW
            code.distance(&[0xe8], plt::entry(0, at)); // call dlopen
            code.raw(&[0x48, 0x85, 0xc0]); // test rax, rax
            code.distance(&[0x0f, 0x84], program::fail(at)); // jz fail
            code.raw(&[0x49, 0x83, 0xc4, NAME_BYTES as u8]); // add r12, 32
            code.raw(&[0x41, 0xff, 0xcd]); // dec r13d
            code.distance(&[0xe9], next); // jmp next
        });
    }
}

//! A program of classes with virtual functions.

use super::bytes::Bytes;
use super::code::Code;
use super::image::{Body, Sizes, relative};
use super::layout::Layout;
use super::program::{self, BEFORE_ENTRY, FRAME_BYTES};
use crate::Dawson;

/// Vtables, type information and one object for each class, as the Itanium C++ ABI (2.5, 2.9)
/// lays them out; the type information's own class is a pointer into this image.
pub(super) struct Classes {
    dawson: Dawson,
    count: u64,
    functions: u64,
}

/// Bytes of one function: load its number, return.
const FUNCTION_BYTES: u64 = 16;
/// Room for the code that calls all.
const WORK_BYTES: u64 = 96;
/// The pointers that stand in for `__class_type_info`'s own vtable.
const TYPE_CLASS_BYTES: u64 = 16;
const TYPE_BYTES: u64 = 16;
/// Room for the longest mangled name.
const NAME_BYTES: u64 = 32;

impl Classes {
    pub(super) fn new(dawson: &Dawson) -> Classes {
        let (count, functions) = (dawson.all_classes(), dawson.functions.into());
        Classes { dawson: dawson.clone(), count, functions }
    }

    /// Bytes of a vtable: offset to top, type information, functions.
    fn table_bytes(&self) -> u64 {
        16 + 8 * self.functions
    }

    /// Relocations of one class: object, type information, its class and name, functions.
    pub(super) fn relatives_each(&self) -> u64 {
        4 + self.functions
    }

    fn functions_at(&self, at: &Layout) -> u64 {
        (at.text.at + FRAME_BYTES + WORK_BYTES).next_multiple_of(FUNCTION_BYTES)
    }

    fn write_class(&self, class: u64, at: &Layout, out: &mut Bytes) {
        let types = at.constants.at + TYPE_CLASS_BYTES;
        let own_type = types + TYPE_BYTES * class;
        let table = types + TYPE_BYTES * self.count + self.table_bytes() * class;
        let name = at.rodata.at + NAME_BYTES * class;
        let (source, number) =
            (class / u64::from(self.dawson.classes), class % u64::from(self.dawson.classes));
        let text = Dawson::class(source as u32 + 1, number as u32 + 1);
        out.put(name, text.as_bytes());

        let first = class * self.relatives_each();
        relative(first, own_type, at.constants.at, at, out);
        relative(first + 1, own_type + 8, name, at, out);
        relative(first + 2, table + 8, own_type, at, out);
        let functions = self.functions_at(at) + class * self.functions * FUNCTION_BYTES;
        for function in 0..self.functions {
            let start = functions + function * FUNCTION_BYTES;
            let mut code = Code { out, at: start };
            code.value(&[0xb8], (class * self.functions + function + 1) as u32); // mov eax, number
            code.raw(&[0xc3]); // ret
            relative(first + 3 + function, table + 16 + 8 * function, start, at, out);
        }
        let object = at.data.at + 8 * class;
        relative(first + 3 + self.functions, object, table + 16, at, out);
    }
}

impl Body for Classes {
    fn sizes(&self) -> Sizes {
        let functions = FUNCTION_BYTES * self.functions * self.count;
        Sizes {
            code: FRAME_BYTES + WORK_BYTES + FUNCTION_BYTES + functions,
            before_entry: BEFORE_ENTRY,
            rodata: NAME_BYTES * self.count,
            constants: TYPE_CLASS_BYTES + (TYPE_BYTES + self.table_bytes()) * self.count,
            data: 8 * self.count,
            relatives: self.relatives_each() * self.count,
        }
    }

    fn write(&self, at: &Layout, out: &mut Bytes) {
        program::write(at, out, true, |code| {
            code.raw(&[0x31, 0xdb]); // xor ebx, ebx
            code.distance(&[0x4c, 0x8d, 0x25], at.data.at); // lea r12, [objects]
            code.value(&[0x41, 0xbd], self.count as u32); // mov r13d, classes
            let next_class = code.at;
            code.raw(&[0x45, 0x85, 0xed]); // test r13d, r13d
            code.distance(&[0x0f, 0x84], next_class + 68); // jz done
            code.raw(&[0x4d, 0x8b, 0x34, 0x24]); // mov r14, [r12]
            code.value(&[0x41, 0xbf], self.functions as u32); // mov r15d, functions
            let next_function = code.at;
            code.raw(&[0x45, 0x85, 0xff]); // test r15d, r15d
            code.distance(&[0x0f, 0x84], next_function + 37); // jz class done
            code.raw(&[0xff, 0xc3]); // inc ebx
            code.raw(&[0x4c, 0x89, 0xe7]); // mov rdi, r12
            code.raw(&[0x41, 0xff, 0x16]); // call [r14]
            code.raw(&[0x39, 0xd8]); // cmp eax, ebx
            code.distance(&[0x0f, 0x85], program::fail(at)); // jne fail
            code.raw(&[0x49, 0x83, 0xc6, 0x08]); // add r14, 8
            code.raw(&[0x41, 0xff, 0xcf]); // dec r15d
            code.distance(&[0xe9], next_function); // jmp next function
            code.raw(&[0x49, 0x83, 0xc4, 0x08]); // class done: add r12, 8
            code.raw(&[0x41, 0xff, 0xcd]); // dec r13d
            code.distance(&[0xe9], next_class); // jmp next class
        });
        for class in 0..self.count {
            self.write_class(class, at, out);
        }
    }
}

//! The code of stubs.
//!
//! ```text
//! common:  push [loader's second entry]; jmp [loader's third entry]
//! stub:    endbr64; jmp [its entry]
//! late:    endbr64; push its number; jmp common
//! ```
//!
//! An entry leads to its own stub's late part until the loader has found the function, as in every program whose
//! functions are bound when they are first called (System V ABI for x86-64, "Procedure Linkage Table").

use super::{ENTRY_BYTES, Places, StubId};
use model::BundleVa;

/// Bytes of a stub, with its late part.
pub(crate) const STUB_BYTES: u64 = 32;
/// Bytes of what is common, before the first stub.
pub(crate) const FIRST_BYTES: u64 = 32;
/// Where the late part of a stub begins.
pub(crate) const LATE_FROM: u64 = 16;
/// Behind this instruction of the late part, and of what is common, there is a word more on the stack.
pub(crate) const LATE_PUSHED: u64 = LATE_FROM + 9;
pub(crate) const FIRST_PUSHED: u64 = 6;

const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
const JUMP_INDIRECT: [u8; 2] = [0xff, 0x25];
const PUSH_MEMORY: [u8; 2] = [0xff, 0x35];
const PUSH_NUMBER: u8 = 0x68;
const JUMP: u8 = 0xe9;
/// What is never run.
const TRAP: u8 = 0xcc;

/// Of so many stubs.
pub(super) fn code(places: &Places, count: u64) -> Vec<u8> {
    let mut code = Code { start: places.stubs, bytes: Vec::new() };
    code.relative(&PUSH_MEMORY, places.table + ENTRY_BYTES);
    code.relative(&JUMP_INDIRECT, places.table + 2 * ENTRY_BYTES);
    code.fill(FIRST_BYTES);
    for number in 0..count as u32 {
        let stub = FIRST_BYTES + STUB_BYTES * u64::from(number);
        debug_assert_eq!(code.start + stub, places.stub(StubId(number)));
        code.bytes.extend(ENDBR64);
        code.relative(&JUMP_INDIRECT, places.entries() + ENTRY_BYTES * u64::from(number));
        code.fill(stub + LATE_FROM);
        code.bytes.extend(ENDBR64);
        code.bytes.push(PUSH_NUMBER);
        code.bytes.extend(number.to_le_bytes());
        code.relative(&[JUMP], places.stubs);
        code.fill(stub + STUB_BYTES);
    }
    code.bytes
}

struct Code {
    start: BundleVa,
    bytes: Vec<u8>,
}

impl Code {
    /// An instruction that ends with the distance to an address.
    fn relative(&mut self, instruction: &[u8], to: BundleVa) {
        self.bytes.extend(instruction);
        let end = self.start + self.bytes.len() as u64 + 4;
        self.bytes.extend((to.0.wrapping_sub(end.0) as u32).to_le_bytes());
    }

    fn fill(&mut self, size: u64) {
        self.bytes.resize(size as usize, TRAP);
    }
}

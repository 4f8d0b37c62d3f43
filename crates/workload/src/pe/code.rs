//! Machine code of programs and libraries.
//!
//! Encodings: *Intel 64 and IA-32 Architectures Software Developer's Manual*, volume 2. What
//! serves both machines is written once: an operand `[disp32]` counts from the next instruction on
//! x86-64 and is an address on x86.

use super::machine::Machine;
use model::{Rva, Va};

/// Appends instructions to a section's bytes.
pub(super) struct Code<'a> {
    pub(super) out: &'a mut Vec<u8>,
    pub(super) machine: Machine,
    /// Base of the image: addresses in code of x86 are absolute.
    pub(super) base: Va,
    /// Address of the byte at `out[0]`, wrapping: code starts anywhere in the file.
    origin: Rva,
}

/// `je` and so on, by their condition codes.
#[derive(Clone, Copy)]
pub(super) enum If {
    Below = 0x2,
    AboveOrEqual = 0x3,
    Equal = 0x4,
    NotEqual = 0x5,
}

impl<'a> Code<'a> {
    /// Code whose next byte is at `rva`.
    pub(super) fn at(out: &'a mut Vec<u8>, rva: Rva, machine: Machine, base: Va) -> Self {
        let origin = rva.wrapping_add((out.len() as u32).wrapping_neg());
        Self { out, machine, base, origin }
    }

    /// Address of the next byte.
    pub(super) fn here(&self) -> Rva {
        self.origin.wrapping_add(self.out.len() as u32)
    }

    #[inline]
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.out.extend_from_slice(bytes);
        self
    }

    /// An instruction that has the prefix REX.W on x86-64, for operands of a pointer's size.
    pub(super) fn wide(&mut self, bytes: &[u8]) -> &mut Self {
        if self.machine.wide() {
            self.out.push(0x48);
        }
        self.bytes(bytes)
    }

    pub(super) fn number(&mut self, value: u32) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    /// An instruction with a ModRM byte for `[disp32]`, which is the variable at `rva`.
    #[inline]
    pub(super) fn memory(&mut self, opcode: &[u8], rva: Rva) -> &mut Self {
        self.bytes(opcode);
        if self.machine.wide() {
            return self.distance(rva);
        }
        self.number((self.base.0 as u32).wrapping_add(rva.0))
    }

    /// How far it is to an address from behind these four bytes.
    #[inline]
    fn distance(&mut self, target: Rva) -> &mut Self {
        let next = self.here().wrapping_add(4);
        self.number(target.0.wrapping_sub(next.0))
    }

    /// `call [slot]`.
    pub(super) fn call_slot(&mut self, rva: Rva) -> &mut Self {
        self.memory(&[0xff, 0x15], rva)
    }

    pub(super) fn jump_if(&mut self, condition: If, target: Rva) -> &mut Self {
        self.bytes(&[0x0f, 0x80 | condition as u8]).distance(target)
    }

    pub(super) fn jump(&mut self, target: Rva) -> &mut Self {
        self.bytes(&[0xe9]).distance(target)
    }

    /// Appends code that jumps forward: `part` appends it and returns the addresses of its labels. It is called
    /// twice, the first time with addresses that are not the real ones. The size of the code must not depend on them.
    pub(super) fn labeled<const N: usize>(
        &mut self,
        part: impl Fn(&mut Code, [Rva; N]) -> [Rva; N],
    ) {
        let (here, machine, base) = (self.here(), self.machine, self.base);
        let labels = part(&mut Code::at(&mut Vec::new(), here, machine, base), [here; N]);
        let found = part(self, labels);
        assert_eq!(found, labels, "code of the same length whatever the labels are");
    }

    /// Fills up with `int3` to a multiple of 16 bytes behind `start`.
    pub(super) fn align(&mut self, start: Rva) {
        while !self.here().0.wrapping_sub(start.0).is_multiple_of(16) {
            self.out.push(0xcc);
        }
    }
}

/// Address of `[disp32]` operands in an instruction that ends with a 32-bit immediate: x86-64
/// counts from behind it.
pub(super) fn before_immediate(machine: Machine, rva: Rva) -> Rva {
    if machine.wide() { Rva(rva.0.wrapping_sub(4)) } else { rva }
}

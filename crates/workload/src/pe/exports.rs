//! The export table of a generated DLL.

use super::headers::{push_rvas, push_u16, push_u32};
use super::names;
use model::Rva;

const DIRECTORY_BYTES: u32 = 40;

/// The export table of one of Pietrek's libraries.
///
/// Format: *The .edata Section*. Ordinals begin at 1; names are sorted by their bytes, as binary
/// search needs it. Without names (NONAME) the name tables are empty, but their addresses still
/// lie in the section: some readers look before they count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exports {
    /// Number of the library, from 1.
    pub(super) dll: u32,
    pub(super) functions: u32,
    pub(super) named: bool,
}

impl Exports {
    fn names(self) -> u32 {
        if self.named { self.functions } else { 0 }
    }

    /// Bytes of the whole table.
    pub(super) fn bytes(self) -> u64 {
        let digits = names::digits(self.dll);
        let texts: u64 = names::by_digits(self.names())
            .map(|(own, count)| count * (names::function_bytes(digits, own) + 1))
            .sum();
        self.before_names() + texts
    }

    /// Bytes up to the first function's name.
    fn before_names(self) -> u64 {
        let file = names::library(self.dll).len() as u64 + 1;
        u64::from(DIRECTORY_BYTES + 4 * self.functions + 6 * self.names()) + file
    }

    /// Appends the table, which is at `rva`; function `i`, counted from 1, is at
    /// `first + (i - 1) * stride`.
    pub(super) fn push(self, out: &mut Vec<u8>, rva: Rva, timestamp: u32, first: Rva, stride: u32) {
        let addresses = rva + DIRECTORY_BYTES;
        let pointers = addresses + 4 * self.functions;
        let ordinals = pointers + 4 * self.names();
        let file = ordinals + 2 * self.names();
        push_u32(out, &[0, timestamp, 0, file.0, 1, self.functions, self.names()]);
        push_rvas(out, &[addresses, pointers, ordinals]);
        for index in 0..self.functions {
            push_rvas(out, &[first + index * stride]);
        }
        let digits = names::digits(self.dll);
        let mut name = rva + self.before_names() as u32;
        for function in names::sorted(self.names()) {
            push_rvas(out, &[name]);
            name += names::function_bytes(digits, names::digits(function)) as u32 + 1;
        }
        for function in names::sorted(self.names()) {
            push_u16(out, &[(function - 1) as u16]);
        }
        out.extend_from_slice(names::library(self.dll).as_bytes());
        out.push(0);
        let prefix = names::prefix(self.dll);
        for function in names::sorted(self.names()) {
            out.extend_from_slice(prefix.as_bytes());
            names::push_decimal(out, function);
            out.push(0);
        }
    }
}

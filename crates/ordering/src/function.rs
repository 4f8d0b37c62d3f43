//! The functions of one image, and what one run called of them.

use model::{FunctionId, Rva};

/// A function of the image that is ordered. A list of them is in order of address, and a
/// [`FunctionId`] is an index into that list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedFunction {
    /// Where it begins.
    pub rva: Rva,
    /// Its size.
    pub bytes: u32,
    /// Power of two at which the linker places it, as far as that is known.
    pub alignment: u32,
    /// What the linker can do with it.
    pub movability: Movability,
    /// Whether it is in the input section of the function before it: the linker moves both.
    pub moves_with_previous: bool,
    /// Bytes behind it that are of no function and move with it: the end of its input section.
    pub bytes_behind: u32,
}

/// What a linker can do with a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Movability {
    /// It can be put anywhere in its section of the image.
    Free,
    /// It stays among those that no order names, as they follow each other.
    InLinkOrder,
    /// It stays where it is: in another section of the image than the one that is ordered.
    Fixed,
}

impl PlacedFunction {
    /// Whether an order can name it.
    pub fn is_free(&self) -> bool {
        self.movability == Movability::Free
    }
}

/// What one process called of the image's functions during one launch.
#[derive(Clone, Debug, PartialEq)]
pub struct CalledFunctions {
    /// How much this run counts among others.
    pub weight: f64,
    /// In order of first call, each once.
    pub first_calls: Vec<FunctionId>,
    /// How often each was called, parallel to `first_calls`; empty where nobody counted.
    pub counts: Vec<u64>,
}

/// For tests: functions of these sizes, one after the other from the second page on.
#[cfg(test)]
pub(crate) fn functions(sizes: &[u32]) -> Vec<PlacedFunction> {
    let mut rva = 0x1000;
    let place = |bytes: &u32| {
        let function = PlacedFunction {
            rva: Rva(rva),
            bytes: *bytes,
            alignment: 16,
            movability: Movability::Free,
            moves_with_previous: false,
            bytes_behind: 0,
        };
        rva += bytes.next_multiple_of(16);
        function
    };
    sizes.iter().map(place).collect()
}

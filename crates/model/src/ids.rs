//! Indices as types: which module, which symbol of it, which variant.

use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

macro_rules! id {
    ($(#[$about:meta])* $name:ident) => {
        $(#[$about])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The id of what is at this index.
            ///
            /// # Panics
            /// There are more than 2³² of them, which no input of headstart can have.
            pub fn at(index: usize) -> $name {
                $name(u32::try_from(index).expect("fewer than 2^32 of anything are numbered"))
            }

            /// Where it is in the list that it was numbered in.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl Display for $name {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    };
}

id! {
    /// A module of a program, numbered in the order of loading.
    ModuleId
}
id! {
    /// A symbol, by its index in the dynamic symbol table of its module.
    SymbolIndex
}
id! {
    /// A PE image of a set: those that were named first, in order.
    MemberId
}
id! {
    /// A function of an image, numbered in order of address.
    FunctionId
}
id! {
    /// A variant of an experiment, numbered in the order in which variants were given.
    VariantId
}

impl ModuleId {
    /// The program itself, which is loaded first.
    pub const PROGRAM: ModuleId = ModuleId(0);
}

/// A symbol of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SymbolRef {
    /// The module that has it.
    pub module: ModuleId,
    /// The symbol there.
    pub symbol: SymbolIndex,
}

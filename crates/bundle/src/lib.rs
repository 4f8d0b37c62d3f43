//! A program and the libraries that are loaded with it, merged after linking into one ELF file
//! that the unmodified loader loads.
//!
//! ```text
//! members (who is merged) ─► layout (where) ─► fixups (what every relocation becomes)
//!        ─► exports, versions, symbols, unwind, initialisers ─► plan ─► output
//! ```

mod bases;
mod bounds;
mod by_handle;
mod content;
mod debug_symbols;
mod debugger;
mod dynamic;
mod error;
mod exports;
mod fixups;
mod freshness;
mod headers;
mod initialisers;
pub mod kept;
mod layout;
mod left;
mod members;
mod names;
mod needs;
mod on_the_way;
pub mod original;
mod output;
mod own;
mod ownership;
mod plan;
mod preamble;
mod sections;
mod strings;
mod symbols;
mod system;
mod tables;
mod tls;
mod unsuitable;
mod unwind;
mod versions;

mod make;
mod manifest;
mod moving;
mod patch;
mod product;
mod proof;
mod publish;
mod read_only;
mod rerandomize;
pub mod sources;
mod spare;
mod verify;
mod workplace;

pub use debugger::SYMBOLS;
pub use error::BundleError;
pub use make::{Made, Options, RUN, make};
pub use manifest::{MANIFEST, check_schema, read_json};
pub use rerandomize::{Rerandomized, rerandomize};
pub use verify::{is_already, verify};

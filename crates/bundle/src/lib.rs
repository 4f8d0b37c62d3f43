//! A program and the libraries that are loaded with it, merged after linking into one ELF file
//! that the unmodified loader loads.
//!
//! ```text
//! choose (who is merged) ─► plan (where everything is, what every relocation becomes)
//!        ─► tables (what the loader and others read) ─► write (the file, its names) ─► prove
//! ```
//!
//! - `choose`: which modules are merged, and which stay outside, and why.
//! - `plan`: addresses, relocations, exports, the bundle's own data and its preamble: every byte is
//!   known before the first is written.
//! - `tables`: the dynamic table, symbols, versions, relocations, unwind information and headers.
//! - `write`: files in the bundle's folder, and which of them are headstart's own.
//! - `toolchain`: bundles of the programs that a compiler starts, in one folder.
//! - `plugins`: libraries that the program opens while it runs, merged in files beside the bundle.
//! - `prove`: the simulated launch of the bundle is that of the original, and nothing that it was
//!   made of has changed meanwhile.

mod carry;
mod choose;
mod error;
mod filled;
mod make;
mod plan;
mod plugins;
mod prove;
mod read_ahead;
mod recorded;
mod rerandomize;
mod start;
mod started;
mod tables;
mod toolchain;
mod verify;
mod warm;
mod write;

pub use carry::{Learnt, learn};
pub use choose::by_handle::BundleWarning;
pub use error::{BundleAdvice, BundleError, DeclineReason};
pub use filled::fills_table;
pub use make::{BundleOptions, Made, RUN, make};
pub use prove::{kept_files, original, sources};
pub use read_ahead::PagesAhead;
pub use recorded::{BundleRecording, make_recorded};
pub use rerandomize::{Rerandomized, rerandomize};
pub use start::{stale, used};
pub use toolchain::{
    MadeToolchain, TOOLCHAIN, ToolchainRequest, VerifiedToolchain, is_toolchain, make_toolchain,
    toolchain_bundles, verify_toolchain,
};
pub use verify::{MakeAgain, Verified, is_already, is_as_made, made, verify};
pub use warm::warm;
pub use write::debugger::SYMBOLS;
pub use write::manifest::{MANIFEST, check_schema, read_json};

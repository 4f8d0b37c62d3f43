//! The PE reader: files that Windows and Wine load. Tables are found through the data directory.
//!
//! Source: *PE Format*, Microsoft's specification of PE/COFF images
//! (learn.microsoft.com/windows/win32/debug/pe-format), and `winnt.h`.

mod addresses;
mod appended;
pub mod bound;
mod certificates;
pub mod checksum;
mod counts;
mod debug;
pub mod edit;
mod error;
pub mod exports;
mod facts;
mod fields;
mod file;
mod headers;
pub mod imports;
mod kind;
mod layout;
mod load_config;
mod offsets;
mod places;
mod read;
pub mod relocations;
pub mod spec;
mod strong_name;
mod tls;

pub use addresses::AddressField;
pub use error::PeError;
pub use facts::{facts, facts_of};
pub use file::PeFile;
pub use headers::{Directory, Headers, Section};
pub use kind::{machine, subsystem};
pub use load_config::LoadConfig;
pub use offsets::OffsetField;
pub use places::Places;
pub use read::{PAGE, Pe, SECTOR};
pub use strong_name::{State as StrongNameState, StrongName};

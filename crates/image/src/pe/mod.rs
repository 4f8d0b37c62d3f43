//! The PE reader: files that Windows and Wine load. Tables are found through the data directory.
//!
//! Source: *PE Format*, Microsoft's specification of PE/COFF images
//! (learn.microsoft.com/windows/win32/debug/pe-format), and `winnt.h`.

mod address_fields;
mod address_map;
mod appended;
pub mod bound;
mod build_id;
mod certificates;
pub mod checksum;
mod counts;
mod debug;
pub mod edit;
mod exception_table;
pub mod exports;
mod facts;
mod file;
mod function_places;
mod function_table;
mod header_fields;
mod headers;
pub mod imports;
mod kind;
mod layout;
mod load_config;
mod offset_fields;
mod pdb;
mod read;
pub mod relocations;
pub mod spec;
mod starts;
mod strong_name;
mod symbols;
mod tls;
mod write;

pub use address_fields::AddressField;
pub use address_map::AddressMap;
pub(crate) use build_id::of_bytes as build_id_of;
pub use exception_table::RuntimeFunction;
pub use facts::{facts, facts_of};
pub use file::PeFile;
pub(crate) use function_table::{function_table, placed, starting};
pub(crate) use headers::OPTIONAL;
pub use headers::{DataDirectory, Headers, SectionHeader};
pub use kind::{machine, subsystem};
pub use load_config::LoadConfig;
pub use offset_fields::OffsetField;
pub use pdb::{is_pdb, pdb_symbols, symbols_of_pdb};
pub use read::{PAGE, Pe, SECTOR};
pub(crate) use starts::starts;
pub use strong_name::{StrongName, StrongNameState};
pub use symbols::{PeSymbol, symbols};

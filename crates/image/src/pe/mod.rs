//! The PE reader: files that Windows and Wine load. Tables are found through the data directory.
//!
//! Source: *PE Format*, Microsoft's specification of PE/COFF images
//! (learn.microsoft.com/windows/win32/debug/pe-format), and `winnt.h`.

mod address_fields;
mod address_map;
mod appended;
pub mod bound;
mod certificates;
pub mod checksum;
mod counts;
mod debug;
pub mod edit;
pub mod exports;
mod facts;
mod file;
mod header_fields;
mod headers;
pub mod imports;
mod kind;
mod layout;
mod load_config;
mod offset_fields;
mod read;
pub mod relocations;
pub mod spec;
mod strong_name;
mod tls;
mod write;

pub use address_fields::AddressField;
pub use address_map::AddressMap;
pub use facts::{facts, facts_of};
pub use file::PeFile;
pub(crate) use headers::OPTIONAL;
pub use headers::{DataDirectory, Headers, SectionHeader};
pub use kind::{machine, subsystem};
pub use load_config::LoadConfig;
pub use offset_fields::OffsetField;
pub use read::{PAGE, Pe, SECTOR};
pub use strong_name::{StrongName, StrongNameState};

//! The facts of PE files that other readers state too.

use serde::Deserialize;
use std::collections::BTreeMap;

/// What a tool says of one file; `None` for what it does not state or could not read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Oracle {
    /// Name of the tool.
    pub tool: String,
    /// `IMAGE_FILE_MACHINE_*`.
    pub machine: Option<u16>,
    /// `ImageBase`.
    pub base: Option<u64>,
    /// `SizeOfImage`.
    pub size_of_image: Option<u32>,
    /// `SectionAlignment`.
    pub section_alignment: Option<u32>,
    /// `FileAlignment`.
    pub file_alignment: Option<u32>,
    /// `TimeDateStamp`.
    pub time_stamp: Option<u32>,
    /// `DllCharacteristics`.
    pub dll_characteristics: Option<u16>,
    /// `CheckSum`.
    pub checksum_stored: Option<u32>,
    /// As the tool computes it from the file.
    pub checksum_computed: Option<u32>,
    /// By the number of the type.
    pub relocations: Option<BTreeMap<u8, u64>>,
    /// DLLs with their functions and those by ordinal.
    pub imports: Option<Vec<(String, u64, u64)>>,
    /// The same, delayed.
    pub delay_imports: Option<Vec<(String, u64, u64)>>,
    /// Functions, those without names, those forwarded.
    pub exports: Option<(u64, u64, u64)>,
    /// Guard CF functions, and `GuardFlags`.
    pub guard: Option<(u64, u32)>,
    /// Address-taken imports, long-jump targets, exception continuations.
    pub guard_others: Option<(u64, u64, u64)>,
    /// Bound DLLs with their time stamps and numbers of forwarders.
    pub bound: Option<Vec<(String, u32, u64)>>,
    /// Template bytes and zero bytes.
    pub tls: Option<(u64, u64)>,
    /// Paths of PDB files and their GUIDs with ages.
    pub pdb: Option<Vec<(String, String)>>,
    /// What the tool complained about.
    pub complaints: String,
}

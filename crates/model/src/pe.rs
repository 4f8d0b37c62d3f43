//! Static facts of PE images.

use crate::{FileOffset, Rva, Va};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a PE image is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PeKind {
    /// A program.
    Program,
    /// A dynamic-link library: `IMAGE_FILE_DLL` is set.
    Library,
    /// A kernel driver, or a program that runs without the Windows subsystem (native).
    Native,
    /// A program or driver of the firmware (EFI).
    Firmware,
}

/// What the headers ask of the loader and the memory manager.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeFlags {
    /// The loader may choose another base (ASLR).
    pub dynamic_base: bool,
    /// Addresses above 4 GiB may be chosen.
    pub high_entropy_va: bool,
    /// The signature is checked before anything runs.
    pub force_integrity: bool,
    /// Data cannot be executed.
    pub nx_compatible: bool,
    /// No side-by-side manifest is looked for.
    pub no_isolation: bool,
    /// No structured exception handlers.
    pub no_seh: bool,
    /// Must not be bound.
    pub no_bind: bool,
    /// Runs in an app container only.
    pub app_container: bool,
    /// A WDM driver.
    pub wdm_driver: bool,
    /// Calls are checked by Control Flow Guard.
    pub guard_cf: bool,
    /// Knows of terminal servers.
    pub terminal_server_aware: bool,
    /// Has no base relocations, so it cannot be moved.
    pub relocations_stripped: bool,
    /// Can use addresses above 2 GiB.
    pub large_address_aware: bool,
    /// Is copied to the swap file when it is started from removable media.
    pub swap_run_removable: bool,
    /// Is copied to the swap file when it is started from the network.
    pub swap_run_net: bool,
}

/// One section of a PE image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeSection {
    /// Name, looked up in the string table where it is longer than 8 bytes.
    pub name: String,
    /// Address, relative to the base.
    pub rva: Rva,
    /// Bytes in memory.
    pub memory_bytes: u32,
    /// Offset in the file.
    pub offset: FileOffset,
    /// Bytes in the file.
    pub file_bytes: u32,
    /// Of `rwxs`, those that hold: read, write, execute, shared between processes.
    pub access: String,
}

/// Imports from one DLL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedDll {
    /// As written in the image.
    pub name: String,
    /// Functions imported.
    pub functions: u64,
    /// Of these, by ordinal.
    pub by_ordinal: u64,
    /// Loaded at the first call.
    pub delayed: bool,
}

/// A DLL whose addresses were written into the import address table beforehand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundDll {
    /// As written in the image.
    pub name: String,
    /// `TimeDateStamp` of the DLL that was bound to.
    pub time_stamp: u32,
    /// DLLs that exports of it are forwarded to, with theirs.
    pub forwarders: Vec<BoundForwarder>,
    /// Whether loaders would take the addresses as they are; `None` where that is not known.
    pub valid: Option<bool>,
    /// The same, and why.
    #[serde(default)]
    pub state: BoundState,
}

/// What loaders make of addresses that were written beforehand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BoundState {
    /// They take them.
    Valid,
    /// They look the imports up: the DLL is another than the one that was bound to.
    Stale,
    /// They look the imports up: the DLL is the same, and ASLR moves it.
    Moved,
    /// No address was written: the DLL was not found when the others were bound.
    Unbound,
    /// The DLL was not found.
    #[default]
    Unknown,
}

impl BoundState {
    /// Whether loaders take the addresses; `None` where that is not known.
    pub fn valid(self) -> Option<bool> {
        match self {
            BoundState::Valid => Some(true),
            BoundState::Stale | BoundState::Moved => Some(false),
            BoundState::Unbound | BoundState::Unknown => None,
        }
    }
}

/// A DLL that a bound DLL forwards to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundForwarder {
    /// As written in the image.
    pub name: String,
    /// `TimeDateStamp` of the DLL that was bound to.
    pub time_stamp: u32,
}

/// Tables of Control Flow Guard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardFacts {
    /// Functions that may be called indirectly.
    pub functions: u64,
    /// Bytes of an entry beyond the four of an address: `flags >> 28`.
    pub stride: u8,
    /// `GuardFlags`.
    pub flags: u32,
    /// Entries follow each other in ascending order, as the format demands.
    pub sorted: bool,
    /// Entries that are not in code.
    pub outside_code: u64,
    /// Bytes of the bitmap that the kernel sets bits in: two bits for each 16 bytes from the first
    /// function to the last.
    pub bitmap_bytes: u64,
    /// Slots of the import address table whose address is taken.
    pub address_taken_imports: u64,
    /// Targets of long jumps.
    pub long_jump_targets: u64,
    /// Targets of exceptions.
    pub exception_continuations: u64,
}

impl GuardFacts {
    /// Entries from which on the square is worth a warning.
    pub const MANY: u64 = 180_000;

    /// How many times the work that [`GuardFacts::MANY`] entries make these entries make where it
    /// grows with their square: `(functions / 180,000)²`.
    ///
    /// An estimate. Windows 10 before 1903 (and before the fix was brought to older versions)
    /// copied the table into the kernel's bitmap in a time that grew so, at each start of a
    /// program. Source of the law: Dawson, *O(n²) in CreateProcess*, 2019.
    pub fn quadratic_cost(&self) -> f64 {
        (self.functions as f64 / Self::MANY as f64).powi(2)
    }
}

/// How far a .NET assembly is signed with a strong name. Whether a signature is right is not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StrongNameFacts {
    /// It has a signature.
    Signed,
    /// It says that it is signed, but its signature is all zero.
    PublicSigned,
    /// It has room for a signature that was not made yet.
    DelaySigned,
}

/// Thread-local storage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsFacts {
    /// Bytes copied for each thread.
    pub template_bytes: u64,
    /// Bytes set to zero behind them.
    pub zero_bytes: u64,
    /// Functions called at the start and end of threads.
    pub callbacks: u64,
}

/// An entry of the debug directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DebugEntry {
    /// `codeview`, `pogo`, `repro`, …; `type N` where unknown.
    pub kind: String,
    /// Bytes of its data.
    pub bytes: u32,
    /// Path of the PDB file, of a CodeView entry.
    pub pdb: Option<String>,
    /// GUID and age of the PDB file, as symbol servers write them.
    pub build_id: Option<String>,
}

/// `CheckSum` of the optional header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checksum {
    /// As stored; 0 where none was computed.
    pub stored: u32,
    /// As it would be right.
    pub computed: u32,
}

/// Static facts of one PE image, as its tables state them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeFacts {
    /// The file, as it was named.
    pub path: String,
    /// What the image is for.
    pub kind: PeKind,
    /// `x86_64`, `i386`, `aarch64`, `arm`, …; `machine 0xN` where unknown.
    pub machine: String,
    /// 32 (PE32) or 64 (PE32+).
    pub bits: u8,
    /// Size of the file.
    pub file_bytes: u64,
    /// `console`, `gui`, `native`, …; `subsystem N` where unknown.
    pub subsystem: String,
    /// Preferred base.
    pub base: Va,
    /// Bytes of address space that it takes.
    pub size_of_image: u32,
    /// Unit of places in the file.
    pub file_alignment: u32,
    /// Unit of places in memory.
    pub section_alignment: u32,
    /// `TimeDateStamp`: seconds since 1970, or a hash of the content.
    pub time_stamp: u32,
    /// What it asks of the loader.
    pub flags: PeFlags,
    /// Whether it was changed since the checksum was made.
    pub checksum: Checksum,
    /// Its sections, in order.
    pub sections: Vec<PeSection>,
    /// Base relocations by type, named as in `winnt.h`, without `IMAGE_REL_BASED_`; those that
    /// only fill a block (ABSOLUTE) among them.
    pub relocations: BTreeMap<String, u64>,
    /// Bytes of the relocation table.
    pub relocation_table_bytes: u64,
    /// 4 KiB pages that base relocations write to.
    pub relocated_pages: u64,
    /// Functions imported when the image is loaded.
    pub imports: u64,
    /// Of these, by ordinal.
    pub imports_by_ordinal: u64,
    /// Functions imported at their first call.
    pub delay_imports: u64,
    /// Hints that are not the export's position, among those checked; `None` where none was.
    pub wrong_hints: Option<u64>,
    /// Imports by name whose DLL was at hand.
    pub hints_checked: u64,
    /// DLLs imported from, in order, those loaded later at the end.
    pub imported: Vec<ImportedDll>,
    /// Exported functions and variables.
    pub exports: u64,
    /// Of these, without a name.
    pub ordinals_only: u64,
    /// Of these, forwarded to another DLL.
    pub forwarders: u64,
    /// Names of exports.
    pub export_names: u64,
    /// The name that it has in its own export table.
    pub export_name: Option<String>,
    /// Control Flow Guard.
    pub guard: Option<GuardFacts>,
    /// Bound imports.
    pub bound: Vec<BoundDll>,
    /// Thread-local storage.
    pub tls: Option<TlsFacts>,
    /// Bytes of the load configuration.
    pub load_configuration_bytes: u32,
    /// Entries of the debug directory.
    pub debug: Vec<DebugEntry>,
    /// Functions in the exception table.
    pub exception_functions: u64,
    /// Certificates (Authenticode signatures) behind the image.
    pub certificates: u64,
    /// How far a .NET assembly is signed with a strong name; `None` without one.
    #[serde(default)]
    pub strong_name: Option<StrongNameFacts>,
    /// Bytes that were appended to the image, and that no header leads to.
    #[serde(default)]
    pub overlay_bytes: u64,
    /// It is of .NET.
    pub clr: bool,
    /// Parts of the file that contradict the format; what was read is still reported.
    pub problems: Vec<String>,
}

impl PeFacts {
    /// Sections whose place in the file is no multiple of 4096: Wine reads these into the memory
    /// of each process, and maps the others.
    pub fn unmapped_sections(&self) -> impl Iterator<Item = &PeSection> {
        let sections = self.sections.iter().filter(|section| section.file_bytes > 0);
        sections.filter(|section| !section.offset.0.is_multiple_of(4096))
    }

    /// Base relocations that change something: all but those that only fill a block.
    pub fn relocation_count(&self) -> u64 {
        let applied = self.relocations.iter().filter(|(name, _)| *name != "ABSOLUTE");
        applied.map(|(_, count)| count).sum()
    }
}

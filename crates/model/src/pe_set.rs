//! PE images that are loaded together.

use crate::PeFacts;
use serde::{Deserialize, Serialize};

/// Version of [`PeSet`] as JSON.
pub const PE_SET_SCHEMA: u32 = 1;

/// PE images that are loaded together, and what stands in each other's way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeSet {
    /// [`PE_SET_SCHEMA`].
    pub schema: u32,
    /// Facts of every image, in the order in which they were named.
    pub files: Vec<PeFacts>,
    /// Preferred bases that overlap.
    pub collisions: Collisions,
    /// DLLs that Wine takes for the same at first.
    pub twins: Vec<StampTwins>,
    /// What can be done better, what costs most first.
    pub findings: Vec<SetFinding>,
}

/// DLLs that do not get their preferred bases where the others do.
///
/// Images take their bases in the order in which they were named, programs first; who comes too
/// late is moved. Programs are in processes of their own, and not in each other's way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collisions {
    /// One entry for each image that is moved.
    pub moved: Vec<Collision>,
    /// Base relocations that moving them applies.
    pub relocations: u64,
    /// 4 KiB pages that these write to, which are then private to each process.
    pub pages: u64,
    /// Of those moved, images that cannot be: they have no relocations, and are not loaded.
    pub immovable: Vec<String>,
}

/// An image that is moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collision {
    /// The image.
    pub path: String,
    /// The first image that has a part of its address range.
    pub by: String,
}

/// DLLs of one machine with the same `TimeDateStamp` and the same `CheckSum`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StampTwins {
    /// `TimeDateStamp` of all of them.
    pub time_stamp: u32,
    /// `CheckSum` of all of them.
    pub checksum: u32,
    /// The DLLs.
    pub files: Vec<String>,
    /// System calls that comparing each pair adds in Wine: a write and a read.
    pub extra_system_calls: u64,
}

/// Something that can be done better, with the command that does it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetFinding {
    /// `immovable`, `guard`, `collisions`, `wrong-hints`, `file-alignment`, `same-stamps`,
    /// `stale-bindings`, `run-from-swap`, `checksums`, `problems`.
    pub id: String,
    /// What is the matter, a sentence.
    pub cause: String,
    /// What was found, a sentence each.
    pub evidence: Vec<String>,
    /// The images concerned.
    pub files: Vec<String>,
    /// What to do.
    pub remedy: String,
}

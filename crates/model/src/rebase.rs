//! Where the images of a set are put.

use crate::Va;
use serde::{Deserialize, Serialize};

/// Version of what `rebase --json` prints.
pub const SCHEMA: u32 = 1;

/// A set of images, laid out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RebaseMap {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The images, as they were named.
    pub images: Vec<RebasedImage>,
    /// What a user should know, a sentence each.
    pub notes: Vec<String>,
}

/// One image of the set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RebasedImage {
    /// Its path.
    pub file: String,
    /// Preferred base before.
    pub old_base: Va,
    /// Preferred base from now on.
    pub new_base: Va,
    /// Bytes from its base to its end.
    pub size_of_image: u64,
    /// Bytes of address space that are its own, in slots of 64 KiB.
    pub slot_bytes: u64,
    /// Relocations that were applied; where it is not moved, that there are.
    pub relocations: u64,
    /// Its imports were bound, and are not any more.
    pub unbound: bool,
    /// Its Authenticode signature was removed.
    #[serde(default)]
    pub signature_removed: bool,
    /// The signature of its strong name (.NET) was cleared.
    #[serde(default)]
    pub strong_name_removed: bool,
    /// What was written, if anything.
    pub written: Option<String>,
    /// Why it stays where it is although the set is laid out, if so.
    pub stays: Option<String>,
    /// Why it cannot be rewritten, if so; it stays, and is not written.
    pub refused: Option<String>,
}

impl RebasedImage {
    /// Whether it gets another base.
    pub fn moves(&self) -> bool {
        self.refused.is_none() && self.old_base != self.new_base
    }
}

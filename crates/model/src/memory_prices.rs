//! What the kernel takes for parts of a file in memory.

use serde::{Deserialize, Serialize};

/// What the kernel takes on this machine, warm, in microseconds each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryPrices {
    /// To map a part of a file.
    pub map_us: f64,
    /// To unmap it.
    pub unmap_us: f64,
    /// To copy a page of a file when it is first written to.
    pub copy_us: f64,
    /// To free that copy.
    pub free_us: f64,
}

//! A module of a Windows launch.

use crate::{Reading, Va};
use serde::{Deserialize, Serialize};

/// What is known of the loading of a Windows program or DLL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeModule {
    /// The process that loaded it.
    pub pid: u32,
    /// When the loader had mapped it, within the launch; of the program, when its process had been created.
    pub loaded_us: f64,
    /// Until then since the DLL before it was mapped, or since the process was created: the loader finds and
    /// maps this one, and goes on relocating and binding others.
    pub load_us: Reading<f64>,
    /// It was loaded when the entry point of the program had been reached.
    pub late: bool,
    /// It came with the system, not with the program.
    pub of_system: bool,
    /// Address that it was loaded at.
    pub base: Va,
    /// Address that it was linked for.
    pub preferred_base: Reading<Va>,
    /// Base relocations that the loader applied: none where it was loaded at its preferred base.
    pub relocations: Reading<u64>,
    /// Functions that it imports when it is loaded.
    pub imports: Reading<u64>,
}

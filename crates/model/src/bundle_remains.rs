//! What the start of a bundle still does, and what is done at its end.

use crate::{PartWork, Reading};
use serde::{Deserialize, Serialize};

/// What every start of a bundle does, and what that takes. Counts are those of one start; times are those of
/// all starts in the launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BundleRemains {
    /// It is at fixed addresses.
    pub fixed: bool,
    /// How often the launch starts it.
    pub starts: u64,
    /// From execve to the program's `main`: the sum of the phases exec, map, relocate and initialize.
    pub start_us: f64,
    /// The phase exec.
    pub exec_us: f64,
    /// Parts of its file that the kernel maps in it.
    pub kernel_parts: Reading<u64>,
    /// Estimated time of that, a part of `exec_us`.
    pub map_parts_us: Reading<f64>,
    /// Parts that the process's memory consists of when the program's `main` begins, with those of libraries
    /// outside, stack and heap.
    pub parts: Reading<u64>,
    /// Relocating the bundle, with reading it ahead; a part of the phase relocate.
    pub relocate_us: Reading<f64>,
    /// What is relocated and initialized, in the whole file.
    pub work: PartWork,
    /// Of the addresses that are adjusted, those that it adjusts itself, and not the loader.
    pub adjusts_itself: u64,
    /// Functions outside that it finds itself while it makes its check.
    pub found_functions: u64,
    /// Pages of its file that are copied because they are written to.
    pub copied: Reading<CopiedPages>,
    /// Estimated time of copying those that are copied before `main`, a part of relocating and initializing.
    pub copy_us: Reading<f64>,
    /// The initializers of the merged libraries, a part of the phase initialize.
    pub init_us: Reading<f64>,
    /// The phase exit.
    pub exit_us: f64,
    /// Functions that finalize the merged libraries, which the bundle calls.
    pub finalizers: u64,
    /// Functions that finalize the program, which the loader calls; and the merged libraries, where one outside
    /// may still use them.
    pub loader_finalizers: u64,
    /// What the first ones take, a part of `exit_us`.
    pub finalize_us: Reading<f64>,
    /// Estimated time in which the kernel frees the copied pages and unmaps the parts, a part of `exit_us`.
    pub free_us: Reading<f64>,
    /// The same by merged library, costliest first, and last what is of no library.
    pub by_library: Vec<LibraryRemains>,
}

/// A library in a bundle, or what belongs to none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LibraryRemains {
    /// Its file; none for the program and headstart's own tables.
    pub path: Option<String>,
    /// What is relocated and initialized in it.
    pub work: PartWork,
    /// Pages of it that are copied.
    pub copied: Reading<CopiedPages>,
    /// Its part of `relocate_us`, estimated by the pages copied meanwhile.
    pub relocate_us: Reading<f64>,
    /// Its initializers; those of the program for what is of no library, with the program's start code.
    pub init_us: Reading<f64>,
    /// Functions that finalize it, which the bundle calls.
    pub finalizers: u64,
    /// What they take.
    pub finalize_us: Reading<f64>,
}

/// Pages that a process has copies of, by when they were copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopiedPages {
    /// While the bundle was relocated, and before.
    pub relocate: u64,
    /// From then to `main`.
    pub initialize: u64,
    /// From `main` to the call of `exit`; none where that was not seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub main: Option<u64>,
}

impl CopiedPages {
    /// Those that are copied before `main`.
    pub fn before_main(&self) -> u64 {
        self.relocate + self.initialize
    }

    /// All of them.
    pub fn all(&self) -> u64 {
        self.before_main() + self.main.unwrap_or(0)
    }
}

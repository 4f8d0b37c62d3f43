//! The ways in which headstart makes a program start faster, and the proof that each does no more
//! than that: each plans and builds a changed copy, and none touches an original.
//!
//! ```text
//! Baseline ─► trials: build each in BuildFolders, verify ─► measure (lab) ─► choose ─► keep
//! ```

mod baseline;
mod build_folders;
pub mod choose;
mod error;
pub mod keep;
mod launches;
mod not_built;
mod optimization;
mod optimizations;
pub mod registry;
pub mod trials;
pub mod verify;

pub use baseline::{Baseline, Terms};
pub use build_folders::BuildFolders;
pub use error::OptimizeError;
pub use keep::ResultFolder;
pub use launches::{Launches, Observed, StreamOutput};
pub use not_built::NotBuilt;
pub use optimization::{BindingProof, Built, MadeOf, Optimization, Program};
pub use trials::{Trial, TrialOutcome};
pub use verify::Verifier;

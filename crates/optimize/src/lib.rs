//! The ways in which headstart makes a program start faster, and the proof that each does no more
//! than that: each plans and builds a changed copy, and none touches an original.
//!
//! ```text
//! optimize: Baseline ─► trials: build each in BuildFolders, verify ─► measure (lab) ─► choose ─► keep
//! ```

mod baseline;
mod build_folders;
pub mod choose;
mod error;
mod follow;
pub mod keep;
mod launches;
mod measure;
mod not_built;
mod opened;
mod optimization;
mod optimizations;
mod optimize;
pub mod registry;
mod report;
mod scattered;
pub mod trials;
mod variant_reason;
pub mod verify;

pub use baseline::{Baseline, Terms};
pub use build_folders::BuildFolders;
pub use error::{BuildRemedy, OptimizeError};
pub use follow::{interpreter_of, is_script, last_exec, programs_of};
pub use keep::ResultFolder;
pub use launches::{Launches, Observed, StreamOutput};
pub use not_built::NotBuilt;
pub use optimization::{BindingProof, Build, Built, MadeOf, Optimization, Program};
pub use optimize::{Launchers, OptimizeEvent, OptimizeRequest, Optimized, optimize};
pub use trials::{Trial, TrialOutcome};
pub use variant_reason::VariantReason;
pub use verify::Verifier;

//! The ways in which headstart makes a program start faster, and the proof that each does no more
//! than that: each plans and builds a changed copy, and none touches an original.
//!
//! ```text
//! Subject ─► search: build each in a Scratch folder, verify ─► measure (lab) ─► choose ─► Place
//! ```

pub mod exec;
mod optimisation;
pub mod relr;
mod draft;
mod link_error;
mod optimisation;
pub mod order_needed;
mod origin;
mod proof;
pub mod selfbind;

pub use link_error::LinkError;
pub use optimisation::{Built, Declined, Optimisation, Program};
pub use proof::Changed;
pub mod choice;
mod error;
mod launches;
mod optimisation;
pub mod place;
pub mod registry;
mod scratch;
pub mod search;
mod subject;
pub mod verify;

pub use error::OptimizeError;
pub use launches::{Launches, Observed};
pub use optimisation::{BindingProof, Built, Declined, Optimisation, Program};
pub use place::Place;
pub use scratch::Scratch;
pub use search::{Outcome, Trial};
pub use subject::{Subject, Terms};
pub use verify::Verifier;

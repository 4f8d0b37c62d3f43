//! The ways in which headstart makes a program start faster, and the proof that each does no more
//! than that: each plans and builds a changed copy, and none touches an original.
//!
//! ```text
//! Subject ─► search: build each in a Scratch folder, verify ─► measure (lab) ─► choose ─► Place
//! ```

pub mod bundle;
pub mod choice;
mod copy;
mod draft;
mod error;
mod launches;
pub mod left;
mod link_error;
pub mod no_pie;
mod no_pie_order;
mod not_built;
mod optimisation;
pub mod order_needed;
pub mod origin;
pub mod place;
mod proof;
pub mod registry;
pub mod relr;
mod scratch;
pub mod search;
pub mod selfbind;
mod subject;
pub mod verify;

pub use error::OptimizeError;
pub use launches::{Launches, Observed, Written};
pub use link_error::LinkError;
pub use not_built::NotBuilt;
pub use optimisation::{BindingProof, Built, Declined, MadeOf, Optimisation, Program};
pub use place::Place;
pub use proof::Changed;
pub use scratch::Scratch;
pub use search::{Outcome, Trial};
pub use subject::{Subject, Terms};
pub use verify::Verifier;

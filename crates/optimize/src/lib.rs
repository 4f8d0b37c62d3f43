//! The ways in which headstart makes a program start faster: each plans and builds a changed
//! copy, and none touches an original.

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

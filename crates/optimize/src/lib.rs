//! The ways in which headstart makes a program start faster: each plans and builds a changed
//! copy, and none touches an original.

mod copy;
mod draft;
pub mod exec;
mod link_error;
mod optimisation;
pub mod order_needed;
mod origin;
mod proof;
pub mod relr;
pub mod selfbind;

pub use link_error::LinkError;
pub use optimisation::{Built, Declined, Optimisation, Program};
pub use proof::Changed;

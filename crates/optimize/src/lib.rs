//! The ways in which headstart makes a program start faster: each plans and builds a changed
//! copy, and none touches an original.

mod copy;
pub mod exec;
mod optimisation;
pub mod relr;

pub use optimisation::{Built, Declined, Optimisation, Program};

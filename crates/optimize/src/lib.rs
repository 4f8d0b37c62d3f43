//! The ways in which headstart makes a program start faster: each plans and builds a changed
//! copy, and none touches an original.

mod optimisation;

pub use optimisation::{Built, Declined, Optimisation, Program};

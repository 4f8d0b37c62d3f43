//! Bound imports: the addresses of imported functions, written into the file beforehand.

mod state;

pub use state::{BoundTo, State, state};

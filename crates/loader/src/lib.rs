//! What the dynamic loader would do with a program, without running it: which files it maps, in
//! which order, which definition every reference binds to, in which order initializers run, and
//! how much work that is. The rules are those of glibc.
//!
//! ```text
//! search ─► graph: modules in the order of their loading ─► order: of initialization
//!                    └─► lookup, by scope ─► bindings, counted work
//! ```

pub mod bindings;
mod environment;
pub mod graph;
pub mod log;
pub mod lookup;
pub mod order;
pub mod origin;
pub mod search;
mod unique;

pub use bindings::{Binding, Relocated, bindings, bindings_in};
pub use environment::Environment;
pub use graph::{Graph, GraphError, Module, Opener, load, load_at, load_in};

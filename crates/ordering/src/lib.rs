//! The order of functions in a file: traces of what a launch calls, orders made of them, what an
//! order would save, and order files for linkers.

pub mod attempt;
pub mod called_code;
pub mod counted_traces;
pub mod ended;
pub mod function;
pub mod launched;
mod lines;
pub mod maps;
pub mod openoffice;
pub mod orders;
pub mod pages;
pub mod plan;
pub mod predict;
pub mod reads;
pub mod record;
mod shell;
pub mod snippets;
pub mod subject;
pub mod summary;
pub mod trace;
pub mod verify;
pub mod windows;
pub mod write;

pub use function::{CalledFunctions, Movability, PlacedFunction};
pub use lines::LineError;
pub use orders::{Algorithm, order};

//! The order of functions in a file: traces of what a launch calls, orders made of them, what an
//! order would save, and order files for linkers.

#[cfg(target_os = "linux")]
pub mod attempt;
pub mod called_code;
pub mod counted_traces;
#[cfg(target_os = "linux")]
pub mod ended;
pub mod function;
pub mod launched;
mod lines;
pub mod maps;
#[cfg(target_os = "linux")]
pub mod openoffice;
pub mod orders;
#[cfg(target_os = "linux")]
pub mod pages;
pub mod plan;
pub mod predict;
#[cfg(target_os = "linux")]
pub mod reads;
pub mod record;
#[cfg(target_os = "linux")]
mod shell;
pub mod snippets;
pub mod subject;
pub mod summary;
pub mod trace;
#[cfg(target_os = "linux")]
pub mod verify;
#[cfg(target_os = "linux")]
pub mod windows;
pub mod write;

pub use function::{CalledFunctions, Movability, PlacedFunction};
pub use lines::LineError;
pub use orders::{Algorithm, order};

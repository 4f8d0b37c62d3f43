//! Hints: where among a DLL's names an import was when the image was linked. A right one spares
//! the loader the search.

mod check;
mod repair;
mod set;

pub use check::{HintCheck, check};
pub use repair::{Repaired, repair};
pub use set::repair_set;

//! Results in the formats of other programs.

mod csv;
pub mod hyperfine;
mod json;
mod markdown;

pub use csv::csv;
pub(crate) use csv::quoted;
pub use json::json;
pub use markdown::markdown;

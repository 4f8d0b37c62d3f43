//! Results in the formats of other programs.

mod csv;
mod hyperfine;
mod json;
mod markdown;

pub use csv::csv;
pub(crate) use csv::quoted;
pub use hyperfine::hyperfine;
pub use json::json;
pub use markdown::markdown;

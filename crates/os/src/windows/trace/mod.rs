//! Traced launches: which functions a program calls.

mod functions;

pub use crate::functions::{
    FunctionRequest, RecordUntil, RecordedCall, RecordedFunctions, RecordedModule,
};
pub use functions::{SPARE_SIGNALS, functions_until_interrupt};

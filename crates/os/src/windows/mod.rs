//! What headstart needs of Windows.

pub mod host;
pub mod interrupt;
pub mod program;

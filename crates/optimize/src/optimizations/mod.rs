//! One file for each optimization of the registry.

pub mod bundle;
pub mod no_pie;
pub mod no_pie_and_order;
pub mod order;
mod program_copy;
pub mod relr;
pub mod selfbind_and_order;

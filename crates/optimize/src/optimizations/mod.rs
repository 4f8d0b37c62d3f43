//! One file for each optimization of the registry.

mod bundle;
mod no_pie;
mod no_pie_and_order;
mod order;
mod program_copy;
mod relr;
mod selfbind_and_order;

pub use bundle::Bundle;
pub use no_pie::NoPie;
pub use no_pie_and_order::NoPieAndOrder;
pub use order::OrderNeeded;
pub use relr::Relr;
pub use selfbind_and_order::SelfBindAndOrder;

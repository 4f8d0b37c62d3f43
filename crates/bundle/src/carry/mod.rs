//! What a sealed bundle carries in a folder beside it: libraries that cannot be merged, and those that the
//! program opens while it runs, with what these need. The C library and the loader are the system's.

mod choose;
mod copy;
mod learn;
mod left;
mod place;
mod warnings;

pub(crate) use choose::{Carry, choose, is_of_c_library};
pub use learn::{Learnt, learn};
pub(crate) use place::{Placed, UNNAMED, changed, is_ours, named, placed, remove_old};
pub(crate) use warnings::{of_launch, of_launcher, warnings};

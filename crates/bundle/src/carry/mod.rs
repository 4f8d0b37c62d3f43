//! What a sealed bundle carries in a folder beside it: libraries that cannot be merged, and those that the
//! program opens while it runs, with what these need. The C library and the loader are the system's.

mod choose;
mod copy;
mod learn;
mod left;
mod place;
mod unfinished;
mod warnings;

pub(crate) use choose::{Carry, choose, is_of_c_library};
pub use learn::{Learnt, learn};
pub(crate) use left::folder_of;
pub(crate) use place::{Placed, add_changed, changed, is_ours, named, placed, remove_old};
pub(crate) use unfinished::{UNFINISHED, check, clear, start};
pub(crate) use warnings::{of_launch, of_launcher, warnings};

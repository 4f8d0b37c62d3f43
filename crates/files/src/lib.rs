//! Files that are replaced whole or not at all, and restored to the byte.
//!
//! - [`Edited`] is a file with changes over it, held in as much memory as has changed;
//! - [`write_new`], [`write_over`] and [`Batch`] write files that nobody sees before they are whole
//!   and on the disk;
//! - [`Draft`] is such a file that is looked at by a path before it gets its name;
//! - [`in_place`] and [`undo`] rewrite a file and take that back;
//! - [`privilege`] and [`may_be_replaced`] say which files must stay as they are;
//! - [`Locked`] keeps other runs out of a folder;
//! - `unix` and `windows` have what systems do differently, such as locks and attributes;
//! - [`Stamp`] tells whether a file was touched; [`reasons`] puts the system's errors into words.

mod batch;
mod before;
mod content;
mod draft;
mod edited;
mod error;
mod folder;
mod lock;
mod mapped;
mod new_file;
mod overlay;
mod policy;
mod real;
pub mod reasons;
mod stamp;
mod undo;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;
mod write;

#[cfg(unix)]
use unix as host;
#[cfg(windows)]
use windows as host;

pub use batch::Batch;
pub use draft::Draft;
pub use edited::Edited;
pub use error::{WriteAdvice, WriteError, is_of_disk, is_without_room};
pub use folder::folder_of;
#[cfg(windows)]
pub use host::kind::is_device;
pub use host::kind::kind_name;
pub use host::lock::is_lock;
pub use host::permissions::{create_new, mode};
pub use host::position::{open_for_few_reads, read_at, read_exact_at};
pub use host::real::name_key;
#[cfg(windows)]
pub use host::real::without_prefix;
#[cfg(unix)]
pub use host::{
    attributes::Attributes, descriptors::grow_descriptor_table, folder::exchange, lock::Lock,
    position::data,
};
pub use lock::Locked;
pub use mapped::{MapError, map};
pub use overlay::Overlay;
pub use policy::{
    Privilege, Writers, is_of_package, may_be_replaced, may_be_replaced_beside, privilege,
};
pub use real::real_path;
pub use stamp::Stamp;
pub use undo::{Replacement, UNDO, in_place, undo, undo_beside, undo_file};
pub use write::{
    Permit, sync_folder_of, write_into, write_named, write_new, write_new_edited, write_over,
};

//! Bound imports: the addresses of imported functions, written into the file beforehand.
//!
//! Source: *Binding* in *An In-Depth Look into the Win32 Portable Executable File Format* (Pietrek,
//! 2002); `IMAGE_BOUND_IMPORT_DESCRIPTOR` of `winnt.h`.

mod addresses;
mod advice;
mod binding;
mod directory;
mod room;
mod set;
mod state;
mod unbind;

pub use addresses::{DllBinding, Left};
pub use binding::{Bound, bind};
pub use set::bind_set;
pub use state::{BoundTo, state};
pub use unbind::{Unbound, unbind};

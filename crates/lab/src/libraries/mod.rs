//! Lists of libraries, loaded one after the other: what LoadDlls does.
//!
//! [`load_libraries`] takes a [`LoadListRequest`] and gives a `model::LibraryLoadReport`, and
//! [`load_dlls`] does so for libraries of Windows;
//! [`sample`] makes a list of libraries of this system.

mod dll_words;
mod dlls;
mod files_ahead;
mod list;
mod load;
mod packages;
mod sample;
mod words;

pub use dll_words::is_dll_name;
pub use dlls::{DllListRequest, WINE_LOADER, load_dlls};
pub(crate) use files_ahead::{RECORDED, WHOLE};
pub use list::{LARGEST_LIST_BYTES, LibraryListError, library_names};
pub use load::{LoadListRequest, load_libraries};
pub(crate) use load::{Loaded, Session};
pub use sample::{Sampled, sample};
pub(crate) use words::error as load_error;

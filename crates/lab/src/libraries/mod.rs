//! Lists of libraries, loaded one after the other: what LoadDlls does.
//!
//! `load_libraries` takes a `LoadListRequest` and gives a `model::LibraryLoadReport`, and
//! [`load_dlls`] does so for libraries of Windows, which Wine loads on Linux;
//! `sample` makes a list of libraries of this system.

mod dll_arrivals;
#[cfg(target_os = "linux")]
mod dll_host;
#[cfg(windows)]
#[path = "../windows/dll_host.rs"]
mod dll_host;
mod dll_words;
mod dlls;
#[cfg(target_os = "linux")]
mod dlopen_words;
#[cfg(target_os = "linux")]
mod files_ahead;
mod list;
#[cfg(target_os = "linux")]
mod load;
#[cfg(target_os = "linux")]
mod packages;
#[cfg(target_os = "linux")]
mod sample;
mod words;

#[cfg(target_os = "linux")]
pub use dll_host::is_dll_name;
pub use dlls::{DllListRequest, load_dlls};
#[cfg(target_os = "linux")]
pub(crate) use dlopen_words::error as load_error;
#[cfg(target_os = "linux")]
pub(crate) use files_ahead::{RECORDED, WHOLE};
pub(crate) use list::decoded;
pub use list::{LARGEST_LIST_BYTES, LibraryListError, library_names};
#[cfg(target_os = "linux")]
pub use load::{LoadListRequest, load_libraries};
#[cfg(target_os = "linux")]
pub(crate) use load::{Loaded, Session};
#[cfg(target_os = "linux")]
pub use sample::{Sampled, sample};

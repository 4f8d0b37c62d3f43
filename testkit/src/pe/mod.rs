//! PE images built by real compilers and linkers: clang and lld without any Windows SDK, and
//! mingw-w64's gcc; and Wine to run them.
//!
//! ```
//! # let folder = std::path::Path::new("/tmp");
//! use testkit::pe::{Image, Tools};
//! let Some(tools) = Tools::find() else { return };
//! # if true { return }
//! let dll = Image::new("a.dll", "int one(void) { return 1; }").exports("one");
//! let path = tools.build(folder, &dll);
//! ```

mod image;
mod mingw;
mod samples;
pub mod sources;
mod tools;
mod wine;

pub use image::{Image, Machine};
pub use mingw::{mingw, mingw_cpp};
pub use samples::samples;
pub use tools::Tools;
pub use wine::{Printed, Run, Wine, libraries};

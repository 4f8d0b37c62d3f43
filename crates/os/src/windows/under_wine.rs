//! Whether this Windows is Wine, which accepts some calls and does nothing.

use super::system_file::function;
use std::ffi::{CStr, c_char};
use std::mem::transmute;

/// Wine's version, such as `8.0`; `None` on Windows.
pub(super) fn version() -> Option<String> {
    let get_version = function(c"ntdll.dll", c"wine_get_version")?;
    // SAFETY: Wine's function of this name takes nothing and gives a static text.
    let text = unsafe {
        let get_version: unsafe extern "C" fn() -> *const c_char = transmute(get_version);
        CStr::from_ptr(get_version())
    };
    Some(text.to_string_lossy().into_owned())
}

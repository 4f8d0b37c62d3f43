//! Functions of the DLLs that every process has loaded.

use std::ffi::CStr;
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleA, GetProcAddress};

/// A function of a loaded DLL; `None` where it does not have it.
pub(super) fn function(file: &CStr, name: &CStr) -> Option<unsafe extern "system" fn() -> isize> {
    // SAFETY: both texts end with NUL and outlive the calls; a missing DLL is a null handle, of which
    // no function is found.
    unsafe {
        let module = GetModuleHandleA(file.as_ptr().cast());
        if module.is_null() { None } else { GetProcAddress(module, name.as_ptr().cast()) }
    }
}

/// How far behind the begin of a loaded DLL its function is; `None` where it does not have it.
pub(super) fn place(file: &CStr, name: &CStr) -> Option<usize> {
    let function = function(file, name)? as *const ();
    // SAFETY: the text ends with NUL and outlives the call; the DLL has been found already.
    let module = unsafe { GetModuleHandleA(file.as_ptr().cast()) };
    function.addr().checked_sub(module.addr())
}

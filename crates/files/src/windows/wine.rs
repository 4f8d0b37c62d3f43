//! Whether this is Windows, or Wine on another system.

use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleA, GetProcAddress};

/// Whether it is Wine, which says so by a function of its own in ntdll.
pub(crate) fn is_here() -> bool {
    // SAFETY: both names are NUL-terminated; ntdll is in every process and stays.
    #[allow(unsafe_code)]
    unsafe {
        let ntdll = GetModuleHandleA(c"ntdll.dll".as_ptr().cast());
        GetProcAddress(ntdll, c"wine_get_version".as_ptr().cast()).is_some()
    }
}

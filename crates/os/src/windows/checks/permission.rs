//! What this user may do, and whether a debugger is attached.

use super::{Outcome, under_wine};
use crate::phrases::Phrase;
use model::Check;
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::{null, null_mut};
use windows_sys::Win32::Foundation::LUID;
use windows_sys::Win32::Security::{
    GetTokenInformation, LUID_AND_ATTRIBUTES, LookupPrivilegeValueW, SE_INC_BASE_PRIORITY_NAME,
    TOKEN_PRIVILEGES, TOKEN_QUERY, TokenPrivileges,
};
use windows_sys::Win32::System::Diagnostics::Debug::{
    CheckRemoteDebuggerPresent, IsDebuggerPresent,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

/// Whether the real-time priority class is permitted, for which a privilege is needed. It is not tried, because that
/// would change headstart's own class.
pub(super) fn realtime() -> Check {
    let realtime = Phrase::Realtime.words();
    let wine = under_wine(
        "accepts every priority class but does nothing",
        format!("{realtime} is refused; launches may be interrupted by other programs"),
    );
    let outcome = wine.unwrap_or_else(|| match holds_privilege() {
        Ok(true) => Outcome::good(
            "the privilege for the real-time class is held",
            format!("{realtime} is permitted"),
        ),
        Ok(false) => Outcome::note(
            "the privilege for the real-time class is not held",
            format!(
                "{realtime} is refused unless headstart is run as administrator; launches may be \
                 interrupted by other programs"
            ),
        ),
        Err(error) => Outcome::unknown(error.to_string(), format!("{realtime} may not work")),
    });
    outcome.named("realtime")
}

/// Whether headstart's token has SeIncreaseBasePriorityPrivilege, enabled or not.
fn holds_privilege() -> io::Result<bool> {
    let mut wanted = LUID::default();
    let mut handle = null_mut();
    // SAFETY: the name is a constant of the system's; `wanted` and `handle` outlive the calls.
    let token = unsafe {
        if LookupPrivilegeValueW(null(), SE_INC_BASE_PRIORITY_NAME, &mut wanted) == 0
            || OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &mut handle) == 0
        {
            return Err(io::Error::last_os_error());
        }
        OwnedHandle::from_raw_handle(handle)
    };
    let mut needed = 0;
    // SAFETY: nothing is written but the size, which outlives the call.
    unsafe {
        GetTokenInformation(token.as_raw_handle(), TokenPrivileges, null_mut(), 0, &mut needed)
    };
    // Words of the alignment of the structure.
    let mut held = vec![0_u32; needed.div_ceil(4) as usize + 1];
    let bytes = (held.len() * 4) as u32;
    let into = held.as_mut_ptr().cast();
    // SAFETY: `held` has so many bytes and outlives the call.
    let told = unsafe {
        GetTokenInformation(token.as_raw_handle(), TokenPrivileges, into, bytes, &mut needed)
    };
    if told == 0 {
        return Err(io::Error::last_os_error());
    }
    let first = std::mem::offset_of!(TOKEN_PRIVILEGES, Privileges) / 4;
    let each = size_of::<LUID_AND_ATTRIBUTES>() / 4;
    // A count, then pairs of a number of 64 bits, lower half first, and attributes.
    let privileges = held[first..].chunks_exact(each).take(held[0] as usize);
    let number = [wanted.LowPart, wanted.HighPart.cast_unsigned()];
    Ok(privileges.into_iter().any(|privilege| privilege[..2] == number))
}

/// Whether a debugger is attached to headstart.
pub(super) fn debugger() -> Check {
    let mut remote = 0;
    // SAFETY: `remote` outlives the call, and the other takes nothing.
    let is_there = unsafe {
        CheckRemoteDebuggerPresent(GetCurrentProcess(), &mut remote);
        IsDebuggerPresent() != 0 || remote != 0
    };
    let outcome = if is_there {
        Outcome::warning(
            "a debugger is attached to headstart",
            "it can stop headstart, and slows launches down if it follows child processes",
        )
    } else {
        Outcome::good(
            "no debugger is attached to headstart",
            "none stops headstart or its launches",
        )
    };
    outcome.named("debugger")
}

//! Privileges that a file grants to whoever executes it (execve(2), capabilities(7)).

use crate::linux::LaunchError;
use rustix::fs::getxattr;
use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Whether the file has capabilities (capabilities(7), "File capabilities").
pub(in crate::linux) fn has_capabilities(path: &CString) -> bool {
    // The kernel's structure of them has 24 bytes.
    let mut value = [0_u8; 64];
    getxattr(path.as_c_str(), c"security.capability", &mut value).is_ok_and(|bytes| bytes > 0)
}

/// Refuses a program that executes with more privileges than its user has: a traced launch would
/// run without them, and so do something else.
///
/// # Errors
/// [`LaunchError::NotPermitted`].
pub(in crate::linux) fn check_not_privileged(program: &Path) -> Result<(), LaunchError> {
    let Some(found) = granted(program, |_| true) else { return Ok(()) };
    Err(LaunchError::NotPermitted {
        mechanism: "recording the functions of a program with privileges",
        reason: format!(
            "'{}' has {found}, which has no effect in a traced launch, so it would behave \
             differently; trace a copy without that, if it works",
            program.display()
        ),
    })
}

/// What `program` grants that this user, in this group, does not have.
pub(in crate::linux) fn missing(program: &Path, user: u32, group: u32) -> Option<&'static str> {
    granted(program, |privilege| match privilege {
        Privilege::User(owner) => owner != user,
        Privilege::Group(owner) => owner != group,
        Privilege::Capabilities => user != 0,
    })
}

/// What a file grants.
enum Privilege {
    User(u32),
    Group(u32),
    Capabilities,
}

/// What `program` grants, in words, if that `counts`.
fn granted(program: &Path, counts: impl Fn(Privilege) -> bool) -> Option<&'static str> {
    let data = fs::metadata(program).ok();
    let has = |bit: u32| data.as_ref().filter(|data| data.mode() & bit != 0);
    if has(0o4000).is_some_and(|data| counts(Privilege::User(data.uid()))) {
        return Some("its set-user-ID bit");
    }
    if has(0o2000).is_some_and(|data| counts(Privilege::Group(data.gid()))) {
        return Some("its set-group-ID bit");
    }
    let path = CString::new(program.as_os_str().as_bytes()).ok()?;
    (has_capabilities(&path) && counts(Privilege::Capabilities)).then_some("file capabilities")
}

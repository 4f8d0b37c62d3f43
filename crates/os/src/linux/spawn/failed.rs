//! From what the kernel refused to an error that names it.

use super::child::{Failure, Step};
use super::prepared::Prepared;
use crate::linux::error::LaunchError;
use crate::linux::phrases::Phrase;
use crate::linux::program::explain_exec_failure;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// MAX_ARG_STRLEN of the kernel: no argument or variable may be longer, whatever the limits.
const LONGEST_STRING_BYTES: usize = 32 * 4096;

/// No child could be made.
pub(super) fn clone(prepared: &Prepared, source: io::Error) -> LaunchError {
    LaunchError::Start { program: prepared.located(), source }
}

/// The child was made and could not go on.
pub(super) fn explain(prepared: &Prepared, failure: Failure) -> LaunchError {
    let source = io::Error::from_raw_os_error(failure.errno);
    let system = |action: &'static str, remedy: Cow<'static, str>| LaunchError::System {
        action: action.into(),
        source: io::Error::from_raw_os_error(failure.errno),
        remedy,
    };
    let not_permitted = |mechanism| {
        let check = Phrase::CheckMachine.words();
        let source = io::Error::from_raw_os_error(failure.errno);
        LaunchError::NotPermitted { mechanism, reason: format!("{source}; allow it ({check})") }
    };
    match failure.step {
        Step::Execute if failure.errno == libc::E2BIG => too_long(prepared),
        Step::Execute => explain_exec_failure(&prepared.located(), source),
        Step::Directory => {
            let directory = prepared.directory.as_ref().map_or(&b""[..], |path| path.as_bytes());
            LaunchError::Directory {
                directory: PathBuf::from(OsStr::from_bytes(directory)),
                source,
            }
        }
        Step::Stdio => system(
            "the program's stdin, stdout and stderr could not be connected",
            "none of the three may be closed".into(),
        ),
        Step::Cpu => system(
            "the program could not be pinned to the requested CPU",
            Phrase::ChooseCpu.words().into(),
        ),
        Step::Trace => not_permitted("ptrace"),
        Step::Filter => not_permitted("a seccomp filter"),
        Step::Lifetime | Step::Mask => system(
            "the program's process could not be set up",
            "run the command again, outside a container".into(),
        ),
    }
}

fn too_long(prepared: &Prepared) -> LaunchError {
    let (total_bytes, longest_bytes) = prepared.sizes();
    let found = if longest_bytes > LONGEST_STRING_BYTES {
        format!(
            "one argument or variable has {longest_bytes} bytes, but the kernel allows at most \
             {LONGEST_STRING_BYTES}"
        )
    } else {
        format!(
            "its arguments and environment have {total_bytes} bytes, more than the kernel allows \
             (getconf ARG_MAX)"
        )
    };
    LaunchError::TooLong { program: prepared.located(), found }
}

//! Programs that gain privileges when they are executed, and would not gain them under the trace of a user who has
//! none: a process is let go before it executes one.

use super::tracee;
use crate::linux::trace::arch;
use crate::linux::trace::ptrace::{self, Tid};
use model::MappedVa;
use model::text::name;
use std::path::{Path, PathBuf};

/// What the kernel has for the result of a system call that has not been made.
const NOT_MADE: i64 = -(libc::ENOSYS as i64);
/// The folder of a path is the working folder.
const WORKING_FOLDER: i32 = libc::AT_FDCWD;

/// The program that the thread is about to execute, if it is one that would gain privileges. The thread is stopped
/// before a system call, or behind it.
pub fn about_to_gain(tid: Tid) -> Option<PathBuf> {
    let registers = ptrace::registers(tid).ok()?;
    if arch::is_32_bit(&registers) || arch::syscall_result(&registers) != NOT_MADE {
        return None;
    }
    let arguments = arch::syscall_arguments(&registers);
    let (folder, path) = match arch::syscall_number(&registers) {
        libc::SYS_execve => (WORKING_FOLDER, arguments[0]),
        libc::SYS_execveat => (arguments[0] as i32, arguments[1]),
        _ => return None,
    };
    let path = ptrace::read_string(tid, MappedVa(path))?;
    let seen = seen_by(tid, folder, Path::new(&name(&path)));
    tracee::grants_privileges(&seen).then(|| PathBuf::from(name(&path)))
}

/// The path as the tracer reaches it.
fn seen_by(tid: Tid, folder: i32, path: &Path) -> PathBuf {
    let of = |name: String| PathBuf::from(ptrace::proc_path(tid, &name));
    if let Ok(below) = path.strip_prefix("/") {
        return of("root".to_owned()).join(below);
    }
    let folder = match folder {
        WORKING_FOLDER => of("cwd".to_owned()),
        number => of(format!("fd/{number}")),
    };
    // An empty path is the descriptor itself.
    if path.as_os_str().is_empty() { folder } else { folder.join(path) }
}

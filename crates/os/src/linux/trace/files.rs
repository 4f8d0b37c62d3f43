//! Calls on the file system, taken apart at their entry.

use super::arch::{self, Registers};
use super::ptrace::{self, Tid};
use model::{FileOperation, MappedVa};

/// Error numbers from here on tell the kernel to make the call again; no program sees them.
const ERESTARTSYS: i64 = 512;
const LARGEST_ERROR: i64 = 4095;

/// A call that has been entered and not yet answered.
pub struct Pending {
    /// What for.
    pub operation: FileOperation,
    /// Absolute path where it could be made one.
    pub path: String,
    /// When it was entered, microseconds since the launch.
    pub at_us: f64,
}

/// How a call names its file.
enum Named {
    /// By a path relative to the working directory.
    Path(u64),
    /// By a path relative to a folder's descriptor.
    At(u64, u64),
    /// By a descriptor.
    Descriptor(u64),
}

/// Takes apart the call that `tid` is about to make; `None` for one that looks nothing up.
pub fn entered(tid: Tid, registers: &Registers, at_us: f64) -> Option<Pending> {
    let [first, second, ..] = arch::syscall_arguments(registers);
    let (operation, named) = match arch::syscall_number(registers) {
        libc::SYS_open => (FileOperation::Open, Named::Path(first)),
        libc::SYS_openat | libc::SYS_openat2 => (FileOperation::Open, Named::At(first, second)),
        libc::SYS_stat | libc::SYS_lstat => (FileOperation::Stat, Named::Path(first)),
        libc::SYS_newfstatat | libc::SYS_statx => (FileOperation::Stat, Named::At(first, second)),
        libc::SYS_access => (FileOperation::Access, Named::Path(first)),
        libc::SYS_faccessat | libc::SYS_faccessat2 => {
            (FileOperation::Access, Named::At(first, second))
        }
        libc::SYS_readlink => (FileOperation::ReadLink, Named::Path(first)),
        libc::SYS_readlinkat => (FileOperation::ReadLink, Named::At(first, second)),
        libc::SYS_getdents64 => (FileOperation::ReadFolder, Named::Descriptor(first)),
        libc::SYS_execve => (FileOperation::Execute, Named::Path(first)),
        libc::SYS_execveat => (FileOperation::Execute, Named::At(first, second)),
        _ => return None,
    };
    Some(Pending { operation, path: path(tid, named)?, at_us })
}

fn path(tid: Tid, named: Named) -> Option<String> {
    let folder = |descriptor: u64| match descriptor as i32 {
        libc::AT_FDCWD => ptrace::proc_link(tid, "cwd"),
        descriptor => ptrace::proc_link(tid, &format!("fd/{descriptor}")),
    };
    let (descriptor, address) = match named {
        Named::Descriptor(descriptor) => return folder(descriptor),
        Named::Path(address) => (libc::AT_FDCWD as u64, MappedVa(address)),
        Named::At(descriptor, address) => (descriptor, MappedVa(address)),
    };
    // A null path means the descriptor itself (execveat, readlinkat and stat with flags).
    let path = match address {
        MappedVa::ZERO => String::new(),
        address => ptrace::read_string(tid, address)?,
    };
    if path.starts_with('/') {
        return Some(path);
    }
    let Some(folder) = folder(descriptor) else { return Some(path) };
    let path = path.strip_prefix("./").unwrap_or(&path);
    Some(match (path, folder.as_str()) {
        ("" | ".", _) => folder,
        (_, "/") => format!("/{path}"),
        _ => format!("{folder}/{path}"),
    })
}

/// The error number (0: none) that a call of `operation` ended with; `None` where there is
/// nothing to record: it will be made again, or a folder's end was read.
pub fn answer(operation: FileOperation, registers: &Registers) -> Option<i32> {
    match arch::syscall_result(registers) {
        0 if operation == FileOperation::ReadFolder => None,
        result if !(-LARGEST_ERROR..0).contains(&result) => Some(0),
        result if result <= -ERESTARTSYS => None,
        result => i32::try_from(-result).ok(),
    }
}

//! Whether what a program needs is in memory already.

use super::reader::{opened, same_time};
use super::{AheadPlan, AheadSample};
use crate::linux::residency;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, StatxFlags, openat2, statx};
use rustix::io::Errno;
use std::fs::{File, Metadata};
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::path::Path;

/// What a look at one page tells.
#[derive(PartialEq, Eq)]
enum Look {
    InMemory,
    OnDisk,
    /// The file system does not tell, or the file is another one now.
    Unknown,
}

/// Whether all samples of the plan are in memory: then reading ahead is of no use. The first that is
/// not decides, so a cold start waits for one look. Where no file system tells, the answer is no.
///
/// Looking at a page that is not in memory makes the kernel read it. The look then finds it in memory if the disk is
/// faster than the kernel's second check. So the answer is also no if anything was read meanwhile, where
/// the kernel counts that for threads (CONFIG_TASK_IO_ACCOUNTING, and file systems on block devices).
pub fn is_warm(plan: &AheadPlan, program: &Path) -> bool {
    let before = blocks_read();
    all_found(plan, program) && blocks_read() == before
}

/// Blocks that were read from storage for this thread, by system calls or page faults (getrusage(2), `ru_inblock`).
pub(super) fn blocks_read() -> libc::c_long {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the structure outlives the call, and all zeros are a valid value of it.
    unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init().ru_inblock
    }
}

/// Whether no look finds its page absent, and at least one finds it in memory.
fn all_found(plan: &AheadPlan, program: &Path) -> bool {
    // It answers, or nothing could be started.
    let device = device_of(program).unwrap_or_default();
    let (mut any, mut last): (bool, Option<(usize, Option<File>)>) = (false, None);
    for sample in &plan.samples {
        let file = match last.take() {
            Some((index, file)) if index == sample.file => file,
            _ => match file_of(plan, sample, device) {
                Ok(file) => file,
                Err(NotInMemory) => return false,
            },
        };
        match file.as_ref().map_or(Look::Unknown, |file| look(file, sample.offset)) {
            Look::OnDisk => return false,
            Look::InMemory => any = true,
            Look::Unknown => {}
        }
        last = Some((sample.file, file));
    }
    any
}

/// The kernel would have to wait for a path.
struct NotInMemory;

/// Opens a file that is still as it was recorded, without waiting. A server or a FUSE may not answer: a file
/// that is on no block device is only opened if the program is there, too.
fn file_of(
    plan: &AheadPlan,
    sample: &AheadSample,
    device: (u32, u32),
) -> Result<Option<File>, NotInMemory> {
    let Some(wanted) = plan.files.get(sample.file) else { return Ok(None) };
    match device_of(&wanted.path) {
        Err(Errno::AGAIN) => return Err(NotInMemory),
        Ok(on) if on.0 == 0 && on != device => return Ok(None),
        // Kernels before 5.12 cannot say, and others what is wrong when it is opened.
        _ => {}
    }
    let same = |(file, data): (File, Metadata)| {
        let same = data.len() == wanted.size_bytes && same_time(&data, wanted.modified_ns);
        same.then_some(file)
    };
    Ok(opened(&wanted.path).ok().and_then(same))
}

/// Major and minor number of the device of a file, without waiting for any file system (openat2(2),
/// RESOLVE_CACHED; statx(2), AT_STATX_DONT_SYNC).
fn device_of(path: &Path) -> Result<(u32, u32), Errno> {
    let (flags, none) = (OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
    let file = openat2(CWD, path, flags, none, ResolveFlags::CACHED)?;
    let dont_wait = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
    let data = statx(&file, c"", dont_wait, StatxFlags::BASIC_STATS)?;
    Ok((data.stx_dev_major, data.stx_dev_minor))
}

/// Reads a byte if that needs no input: preadv2(2), RWF_NOWAIT. Overlays and squashfs cannot; of what is on them, and
/// not known to be in memory, it is taken that it is not.
fn look(file: &File, offset: u64) -> Look {
    let mut byte = 0_u8;
    let part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let Ok(offset) = libc::off_t::try_from(offset) else { return Look::Unknown };
    // SAFETY: one part, which describes one byte that outlives the call.
    let read =
        unsafe { libc::preadv2(file.as_raw_fd(), &raw const part, 1, offset, libc::RWF_NOWAIT) };
    let error = std::io::Error::last_os_error();
    match read {
        1 => Look::InMemory,
        -1 if error.raw_os_error() == Some(libc::EAGAIN) => Look::OnDisk,
        -1 if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {
            match residency::is_known_resident(file, offset.cast_unsigned()) {
                true => Look::InMemory,
                false => Look::OnDisk,
            }
        }
        _ => Look::Unknown,
    }
}

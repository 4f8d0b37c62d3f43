//! Whether what the program needs is in memory already.

use crate::format::{Data, FileEntry, PlanEntry};
use crate::system;

/// Whether all samples are in memory: then reading ahead is of no use. The first that is not decides.
/// Where no file system tells, the answer is no.
///
/// Looking at a page that is not in memory makes the kernel read it. The look then finds it in memory if the disk is
/// faster than the kernel's second check. So the answer is also no if anything was read meanwhile, where
/// the kernel counts that for threads (CONFIG_TASK_IO_ACCOUNTING, and file systems on block devices).
#[inline(never)] // As with `is_of`.
pub fn is_warm(data: Data<'static>, plan: &PlanEntry) -> bool {
    let before = system::blocks_read();
    all_found(data, plan) && system::blocks_read() == before
}

/// Whether no look finds its page absent, and at least one finds it in memory.
fn all_found(data: Data<'static>, plan: &PlanEntry) -> bool {
    let (mut any, mut file, mut index) = (false, None, u32::MAX);
    let device = device_of(data);
    for at in plan.samples.places() {
        let sample = data.part(at);
        if sample.file != index {
            if let Some(last) = file.take() {
                system::close(last);
            }
            index = sample.file;
            file = match looked_at(data, plan, index, device) {
                Seen::File(file) => Some(file),
                Seen::NotInMemory => return false,
                Seen::Unknown => None,
            };
        }
        match file.map(|file| system::look(file, sample.offset)) {
            // The last descriptor is closed by exec, and by the reader in its own process.
            Some(system::EAGAIN) => return false,
            Some(1) => any = true,
            _ => {}
        }
    }
    any
}

/// A file that is looked at.
enum Seen {
    File(i32),
    NotInMemory,
    Unknown,
}

/// The device of the program, which answers, or nothing could be started.
fn device_of(data: Data<'static>) -> u64 {
    match data.0.get(data.program()..).map(system::look_at) {
        Some(system::Looked::Data(_, device)) => device,
        _ => 0,
    }
}

/// Opens a file without waiting. A server or a FUSE may not answer: a file that is on no block device is
/// only opened if the program is there, too.
fn looked_at(data: Data<'static>, plan: &PlanEntry, index: u32, device: u64) -> Seen {
    let wanted = plan.files.at(index).map(|at| data.file(at));
    let Some(wanted) = wanted else { return Seen::Unknown };
    let Some(path) = data.0.get(wanted.path..) else { return Seen::Unknown };
    match system::look_at(path) {
        system::Looked::NotInMemory => Seen::NotInMemory,
        system::Looked::Data(found, on)
            if is_same(&found, &wanted) && (is_block_device(on) || on == device) =>
        {
            system::open(path, system::O_QUIET).map_or(Seen::Unknown, Seen::File)
        }
        _ => Seen::Unknown,
    }
}

/// By its major number, which stands first.
fn is_block_device(device: u64) -> bool {
    device & 0xffff_ffff != 0
}

/// Opens a file that is still as it was recorded. Nothing but a regular file is opened: that can
/// do something to a device.
pub fn open(data: Data<'static>, wanted: &FileEntry) -> Option<i32> {
    let path = data.0.get(wanted.path..)?;
    if !system::stat(path)?.is_file {
        return None;
    }
    let file = system::open(path, system::O_QUIET)?;
    if system::fstat(file).is_some_and(|found| is_same(&found, wanted)) {
        system::read_only_what_is_asked_for(file);
        return Some(file);
    }
    system::close(file);
    None
}

/// Archives and images of containers keep whole seconds.
fn is_same(found: &system::FileData, wanted: &FileEntry) -> bool {
    const SECOND: i64 = 1_000_000_000;
    let (seconds, part) =
        (wanted.modified_ns.div_euclid(SECOND), wanted.modified_ns.rem_euclid(SECOND));
    found.is_file
        && found.size_bytes == wanted.size_bytes
        && found.seconds == seconds
        && (found.nanoseconds == part || found.nanoseconds == 0 || part == 0)
}

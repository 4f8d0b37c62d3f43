//! Files: looked at, opened, read, and read ahead.

use super::{MMAP, ask, call, own_user, plain};

pub const O_RDWR: usize = 2;
/// Read only, without waiting for a pipe, without a terminal, closed on exec.
pub const O_QUIET: usize = 0o4000 | 0o400 | 0o2_000_000;
const EINVAL: isize = -22;
const ENOSYS: isize = -38;
pub const EAGAIN: isize = -11;
const EOPNOTSUPP: isize = -95;
const READ: usize = 0;
const WRITE: usize = 1;
const OPEN: usize = 2;
const CLOSE: usize = 3;
const STAT: usize = 4;
const FSTAT: usize = 5;
const PREAD: usize = 17;
const MINCORE: usize = 27;
const FCNTL: usize = 72;
const READAHEAD: usize = 187;
const FADVISE: usize = 221;
const PREADV2: usize = 327;
const CLOSE_RANGE: usize = 436;
const OPENAT2: usize = 437;
const STATX: usize = 332;
const RWF_NOWAIT: usize = 8;

/// What stat(2) tells, as far as it is of use here.
pub struct FileData {
    /// Its device and inode.
    pub identity: (u64, u64),
    pub is_file: bool,
    /// The user to whom it belongs.
    pub owner: u32,
    pub size_bytes: u64,
    pub seconds: i64,
    pub nanoseconds: i64,
}

/// What is at a path, which ends with NUL.
pub fn stat(path: &[u8]) -> Option<FileData> {
    // SAFETY: paths of the data end with NUL.
    unsafe { told(STAT, path.as_ptr() as usize) }
}

pub fn fstat(descriptor: i32) -> Option<FileData> {
    // SAFETY: it is no pointer.
    unsafe { told(FSTAT, descriptor as usize) }
}

/// What the call with this number says about a file (a path or a descriptor) in `struct stat` of x86-64.
///
/// # Safety
/// `file` is fit for that call: a descriptor, or the address of a path that ends with NUL.
#[inline(never)] // Two copies would make the launcher larger than two pages.
unsafe fn told(number: usize, file: usize) -> Option<FileData> {
    let mut words = [0; 18];
    // SAFETY: the caller's; the structure is `struct stat`.
    let known = unsafe { ask(number, file, &mut words) };
    known.then_some(FileData {
        identity: (words[0], words[1]),
        is_file: words[3] & 0o170_000 == 0o100_000,
        owner: (words[3] >> 32) as u32,
        size_bytes: words[6],
        seconds: words[11].cast_signed(),
        nanoseconds: words[12].cast_signed(),
    })
}

/// Opens a path, which ends with NUL.
pub fn open(path: &[u8], flags: usize) -> Option<i32> {
    // SAFETY: paths of the data end with NUL.
    let result = unsafe { call(OPEN, [path.as_ptr() as usize, flags, 0, 0, 0, 0]) };
    i32::try_from(result).ok().filter(|descriptor| *descriptor >= 0)
}

/// What [`look_at`] finds.
pub enum Looked {
    /// The kernel would have to wait for its path.
    NotInMemory,
    /// Nothing, or nothing that could be told.
    Unknown,
    /// What it is, and the number of the device that it is on.
    Data(FileData, u64),
}

/// What is at a path of which all is in memory, without waiting for any file system (openat2(2),
/// RESOLVE_CACHED; statx(2), AT_STATX_DONT_SYNC).
pub fn look_at(path: &[u8]) -> Looked {
    const O_PATH: u64 = 0o10_000_000;
    const O_CLOEXEC: u64 = 0o2_000_000;
    let descriptor = match open_cached(path, O_PATH | O_CLOEXEC) {
        EAGAIN => return Looked::NotInMemory,
        // Kernels before 5.12 cannot say.
        EINVAL | ENOSYS => return stat(path).map_or(Looked::Unknown, |data| Looked::Data(data, 0)),
        descriptor if descriptor < 0 => return Looked::Unknown,
        descriptor => descriptor as i32,
    };
    let mut told = [0_u64; 32];
    const AT_EMPTY_PATH: usize = 0x1000;
    const DONT_SYNC: usize = 0x4000;
    const BASIC_STATS: usize = 0x7ff;
    // SAFETY: a string and a structure of 256 bytes.
    let result = unsafe {
        let (path, flags) = (c"".as_ptr() as usize, AT_EMPTY_PATH | DONT_SYNC);
        let at = (&raw mut told) as usize;
        call(STATX, [descriptor as usize, path, flags, BASIC_STATS, at, 0])
    };
    close(descriptor);
    if result != 0 { Looked::Unknown } else { extended(&told) }
}

/// From `struct statx`: the owner at 20, the mode at 28, the size at 40, the time of the last change at 112, the device
/// at 136.
fn extended(words: &[u64; 32]) -> Looked {
    let data = FileData {
        identity: (words[17], words[4]),
        is_file: (words[3] >> 32) & 0o170_000 == 0o100_000,
        owner: (words[2] >> 32) as u32,
        size_bytes: words[5],
        seconds: words[14].cast_signed(),
        nanoseconds: (words[15] & 0xffff_ffff).cast_signed(),
    };
    Looked::Data(data, words[17])
}

/// Opens a path of which all is in memory: a descriptor, or a negative error.
fn open_cached(path: &[u8], flags: u64) -> isize {
    const RESOLVE_CACHED: u64 = 0x20;
    const AT_FDCWD: usize = -100_isize as usize;
    let how = [flags, 0, RESOLVE_CACHED];
    // SAFETY: paths of the data end with NUL; the structure has the size that is passed with it.
    unsafe {
        let (at, path) = ((&raw const how) as usize, path.as_ptr() as usize);
        call(OPENAT2, [AT_FDCWD, path, at, size_of_val(&how), 0, 0])
    }
}

pub fn close(descriptor: i32) {
    plain(CLOSE, [descriptor as usize, 0, 0]);
}

/// Makes the table of descriptors as large as it will be, while one process has it. Where several have
/// it, Linux waits for all processors whenever it grows: 5 to 15 ms each time.
pub fn grow_table(descriptors: u32) {
    const F_DUPFD: usize = 0;
    let highest = plain(FCNTL, [0, F_DUPFD, descriptors as usize]);
    if highest > 0 {
        close(highest as i32);
    }
}

/// Closes all descriptors of a range.
pub fn close_range(first: u32, last: u32) {
    plain(CLOSE_RANGE, [first as usize, last as usize, 0]);
}

/// How many bytes were read.
pub fn read(descriptor: i32, into: &mut [u8]) -> Option<usize> {
    // SAFETY: the slice is memory that may be written.
    let result = unsafe {
        call(READ, [descriptor as usize, into.as_mut_ptr() as usize, into.len(), 0, 0, 0])
    };
    usize::try_from(result).ok()
}

/// Reads a byte if that needs no input: 1, or a negative error. [`EAGAIN`] also where nobody tells whether it
/// needs input.
pub fn look(descriptor: i32, offset: u64) -> isize {
    let mut byte = 0_u8;
    let part = [(&raw mut byte) as usize, 1];
    let part = (&raw const part) as usize;
    // SAFETY: one part, which describes one byte that outlives the call.
    match unsafe { call(PREADV2, [descriptor as usize, part, 1, offset as usize, 0, RWF_NOWAIT]) } {
        // Overlays and squashfs.
        EOPNOTSUPP if is_known_resident(descriptor, offset) => 1,
        EOPNOTSUPP => EAGAIN,
        result => result,
    }
}

/// Whether a page is in memory, if that is known: mincore(2) tells it only to the owner of a file, and others that all
/// is there. What is mapped for that stays so until the program is executed.
fn is_known_resident(descriptor: i32, offset: u64) -> bool {
    const READABLE: usize = 1;
    const PRIVATE: usize = 2;
    let mut answer = 0_u8;
    // SAFETY: the kernel chooses the place; mincore(2) writes one byte, or fails where nothing is mapped.
    unsafe {
        let page = offset as usize & !4095;
        let at = call(MMAP, [0, 1, READABLE, PRIVATE, descriptor as usize, page]);
        call(MINCORE, [at.cast_unsigned(), 1, (&raw mut answer) as usize, 0, 0, 0]);
    }
    answer & 1 != 0 && fstat(descriptor).is_some_and(|data| data.owner == own_user())
}

pub fn readahead(descriptor: i32, offset: u64, bytes: u32) {
    plain(READAHEAD, [descriptor as usize, offset as usize, bytes as usize]);
}

/// Waits until the last byte is in memory. Its page is read if nobody has asked for it, and no other.
pub fn await_end(descriptor: i32, offset: u64, bytes: u32) {
    let mut byte = 0_u8;
    let into = (&raw mut byte) as usize;
    let last = offset.wrapping_add(u64::from(bytes)).wrapping_sub(1);
    // SAFETY: one byte, which outlives the call.
    unsafe { call(PREAD, [descriptor as usize, into, 1, last as usize, 0, 0]) };
}

/// The kernel reads nothing of it but what is asked for.
pub fn read_only_what_is_asked_for(descriptor: i32) {
    const POSIX_FADV_RANDOM: usize = 1;
    // SAFETY: no memory is passed.
    unsafe { call(FADVISE, [descriptor as usize, 0, 0, POSIX_FADV_RANDOM, 0, 0]) };
}

/// Writes to standard error.
pub fn say(words: &[u8]) {
    // SAFETY: the slice is memory that may be read.
    unsafe { call(WRITE, [2, words.as_ptr() as usize, words.len(), 0, 0, 0]) };
}

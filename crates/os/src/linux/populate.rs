//! Mapping many ranges of pages with one call: process_madvise(2) for the calling process, which does
//! MADV_POPULATE_READ and MADV_POPULATE_WRITE since Linux 6.13, and has PIDFD_SELF_THREAD since Linux 6.15.

use super::residency::page_bytes;
use std::io;

/// The calling thread, without a descriptor (`linux/pidfd.h`).
const PIDFD_SELF_THREAD: libc::c_long = -10_000;

/// Whether a process may do that here, tried with a page of this one.
///
/// # Errors
/// The kernel's answer: it is older, or a filter of system calls refuses it.
pub fn permitted() -> io::Result<()> {
    // What is on this page is there already, and stays as it is.
    static BYTE: u8 = 1;
    let page = page_bytes() as usize;
    let start = (&raw const BYTE).map_addr(|address| address / page * page);
    let range = libc::iovec { iov_base: start.cast_mut().cast(), iov_len: page };
    let (vector, advice) = (&raw const range, libc::MADV_POPULATE_READ);
    // SAFETY: the kernel reads one iovec, and maps a page that is mapped.
    let done = unsafe {
        libc::syscall(libc::SYS_process_madvise, PIDFD_SELF_THREAD, vector, 1usize, advice, 0u32)
    };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn new_kernels_permit_it() {
        let release = rustix::system::uname().release().to_string_lossy().into_owned();
        let mut numbers = release.split(['.', '-']).map(|word| word.parse().unwrap_or(0));
        let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0u32));
        if version < (6, 15) {
            testkit::skip("the kernel is older than 6.15");
            return;
        }
        super::permitted().unwrap();
    }
}

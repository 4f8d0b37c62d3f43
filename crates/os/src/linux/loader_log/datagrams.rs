//! A datagram socket pair whose messages carry the kernel's time stamp and their sender.
//! See unix(7), socket(7) and cmsg(3).

use crate::linux::error::LaunchError;
use crate::stdio::Stream;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Room for messages in flight, for root.
const BUFFER_BYTES: libc::c_int = 8 << 20;
/// Room that an ordinary user asks for; the kernel cuts it to `net.core.wmem_max`.
const MODEST_BUFFER_BYTES: libc::c_int = 4 << 20;
/// No message of a loader is longer; the rest of a longer one is the program's and is dropped.
const MESSAGE_BYTES: usize = 64 * 1024;
const CONTROL_BYTES: usize = 256;

/// The receiving end.
pub(super) struct Datagrams {
    fd: OwnedFd,
    buffer: Vec<u8>,
}

/// One message.
pub(super) struct Datagram<'a> {
    /// Process that sent it, in our numbering.
    pub(super) pid: Option<u32>,
    /// CLOCK_REALTIME at which it was sent.
    pub(super) at_ns: u64,
    pub(super) bytes: &'a [u8],
}

/// The sending end, for the child, and the receiving end. Both close on execve.
pub(super) fn pair() -> Result<(Stream, Datagrams), LaunchError> {
    let failed = LaunchError::failed(
        "creating the socket for the loader's log",
        "raise the limit: ulimit -n 4096",
    );
    let mut fds: [RawFd; 2] = [-1; 2];
    let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC;
    // SAFETY: the call writes two descriptors into `fds`, which we then own.
    let (sender, fd) = unsafe {
        check(libc::socketpair(libc::AF_UNIX, kind, 0, fds.as_mut_ptr())).map_err(failed)?;
        (OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1]))
    };
    set_option(&fd, libc::SO_TIMESTAMPNS, 1).map_err(failed)?;
    set_option(&fd, libc::SO_PASSCRED, 1).map_err(failed)?;
    // AF_UNIX counts messages in flight against the sender's buffer alone.
    if set_option(&sender, libc::SO_SNDBUFFORCE, BUFFER_BYTES).is_err() {
        set_option(&sender, libc::SO_SNDBUF, MODEST_BUFFER_BYTES).map_err(failed)?;
    }
    Ok((sender.into(), Datagrams { fd, buffer: vec![0; MESSAGE_BYTES] }))
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn set_option(fd: &OwnedFd, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
    // SAFETY: `value` is an int that outlives the call, as these options take.
    check(unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            libc::SOL_SOCKET,
            option,
            (&raw const value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    })
}

impl AsRawFd for Datagrams {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

/// Control messages need the alignment of their header.
#[repr(C, align(8))]
struct Control([u8; CONTROL_BYTES]);

impl Datagrams {
    /// The next message, or `None` where there is none at the moment.
    pub(super) fn next(&mut self) -> Option<Datagram<'_>> {
        let mut control = Control([0; CONTROL_BYTES]);
        let mut part =
            libc::iovec { iov_base: self.buffer.as_mut_ptr().cast(), iov_len: self.buffer.len() };
        // SAFETY: an all-zero msghdr is valid, and every buffer that it names outlives the call.
        let (header, length) = unsafe {
            let mut header: libc::msghdr = std::mem::zeroed();
            header.msg_iov = &mut part;
            header.msg_iovlen = 1;
            header.msg_control = control.0.as_mut_ptr().cast();
            header.msg_controllen = CONTROL_BYTES;
            let length = loop {
                let length = libc::recvmsg(self.fd.as_raw_fd(), &mut header, libc::MSG_DONTWAIT);
                let interrupted =
                    || io::Error::last_os_error().kind() == io::ErrorKind::Interrupted;
                if length >= 0 || !interrupted() {
                    break length;
                }
            };
            (header, length)
        };
        let length = usize::try_from(length).ok()?;
        let (pid, at_ns) = labels(&header);
        Some(Datagram { pid, at_ns, bytes: &self.buffer[..length] })
    }
}

/// Sender and time of a received message.
fn labels(header: &libc::msghdr) -> (Option<u32>, u64) {
    let (mut pid, mut at_ns) = (None, 0);
    // SAFETY: `header` was filled by recvmsg; CMSG_FIRSTHDR and CMSG_NXTHDR stay within its
    // control buffer, and the kernel wrote the payload that belongs to each type.
    unsafe {
        let mut item = libc::CMSG_FIRSTHDR(header);
        while !item.is_null() {
            let data = libc::CMSG_DATA(item);
            match ((*item).cmsg_level, (*item).cmsg_type) {
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => {
                    let time = data.cast::<libc::timespec>().read_unaligned();
                    at_ns = time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64;
                }
                (libc::SOL_SOCKET, libc::SCM_CREDENTIALS) => {
                    let sender = data.cast::<libc::ucred>().read_unaligned();
                    pid = u32::try_from(sender.pid).ok().filter(|&pid| pid != 0);
                }
                _ => {}
            }
            item = libc::CMSG_NXTHDR(header, item);
        }
    }
    (pid, at_ns)
}

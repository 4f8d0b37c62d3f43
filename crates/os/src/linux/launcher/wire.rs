//! Messages between headstart and its launcher: a length, then JSON; descriptors ride along.

use super::{Configuration, LaunchSpec, Once, Started};
use crate::linux::error::FailureKind;
use model::{Command, Launch};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::ptr;

/// What headstart asks.
#[derive(Serialize, Deserialize)]
pub enum Request {
    /// How to run.
    Configure(Configuration),
    /// Keep a command; three descriptors come with it.
    Prepare {
        /// The command.
        command: Command,
        /// Variables set for this preparation only.
        environment: Vec<(String, String)>,
        /// The kept command whose place it takes.
        instead_of: Option<usize>,
    },
    /// Launch a kept command.
    Launch {
        /// Which, in order of preparation.
        slot: usize,
        /// How.
        spec: LaunchSpec,
    },
    /// Launch a kept command exactly once and wait for its end or its entry point.
    Once {
        /// Which, in order of preparation.
        slot: usize,
        /// How.
        spec: LaunchSpec,
    },
    /// Run a kept command, and leave running what it leaves running.
    Aside {
        /// Which, in order of preparation.
        slot: usize,
        /// How.
        spec: LaunchSpec,
    },
    /// Launch a kept command several times.
    LaunchMany {
        /// Which, in order of preparation.
        slot: usize,
        /// How.
        spec: LaunchSpec,
        /// How often.
        count: u32,
    },
}

/// What the launcher answers.
#[derive(Serialize, Deserialize)]
pub enum Reply {
    /// Done.
    Done,
    /// The launch and its cost.
    Launched(Box<Launch>),
    /// The launch, its process and its start.
    LaunchedOnce(Box<Once>),
    /// The launches and their cost.
    LaunchedMany(Vec<Started>),
    /// What failed.
    Failed {
        /// The error in words.
        message: String,
        /// Its kind.
        kind: FailureKind,
    },
}

/// No message is larger: a command line and environment have at most a few megabytes.
const MAX_BYTES: usize = 64 << 20;
const MAX_FDS: usize = 3;

#[repr(C, align(8))]
struct Control([u8; 64]);

/// Sends `message` with at most three descriptors.
pub fn send(stream: &UnixStream, message: &impl Serialize, fds: &[RawFd]) -> io::Result<()> {
    let body = serde_json::to_vec(message)?;
    let length = (body.len() as u64).to_le_bytes();
    send_with_fds(stream, &length, &fds[..fds.len().min(MAX_FDS)])?;
    let mut stream = stream;
    stream.write_all(&body)
}

/// Receives a message and the descriptors that came with it; `None` at the end of the stream.
pub fn receive<T: DeserializeOwned>(
    stream: &mut UnixStream,
) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let mut length = [0; 8];
    let (got, fds) = receive_with_fds(stream, &mut length)?;
    if got == 0 {
        return Ok(None);
    }
    stream.read_exact(&mut length[got..])?;
    let length = u64::from_le_bytes(length) as usize;
    if length > MAX_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "message too long"));
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(Some((serde_json::from_slice(&body)?, fds)))
}

fn send_with_fds(stream: &UnixStream, bytes: &[u8], fds: &[RawFd]) -> io::Result<()> {
    let mut control = Control([0; 64]);
    let mut iov = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: `message` points to `iov` and `control`, which outlive the call; the control
    // buffer holds one header and at most MAX_FDS descriptors (CMSG_SPACE(12) = 32 bytes).
    let sent = unsafe {
        let mut message: libc::msghdr = zeroed();
        message.msg_iov = &mut iov;
        message.msg_iovlen = 1;
        if !fds.is_empty() {
            let payload = size_of_val(fds) as u32;
            message.msg_control = control.0.as_mut_ptr().cast();
            message.msg_controllen = libc::CMSG_SPACE(payload) as usize;
            let header = libc::CMSG_FIRSTHDR(&message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(payload) as usize;
            ptr::copy_nonoverlapping(fds.as_ptr(), libc::CMSG_DATA(header).cast(), fds.len());
        }
        libc::sendmsg(stream.as_raw_fd(), &message, libc::MSG_NOSIGNAL)
    };
    match sent {
        -1 => Err(io::Error::last_os_error()),
        count if count as usize == bytes.len() => Ok(()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

fn receive_with_fds(stream: &UnixStream, bytes: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut control = Control([0; 64]);
    let mut iov = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let mut fds = Vec::new();
    // SAFETY: as in `send_with_fds`; descriptors received are ours to own.
    let got = unsafe {
        let mut message: libc::msghdr = zeroed();
        message.msg_iov = &mut iov;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = control.0.len();
        let got = loop {
            let got = libc::recvmsg(stream.as_raw_fd(), &mut message, libc::MSG_CMSG_CLOEXEC);
            if got >= 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                break got;
            }
            if super::leave::told_to_leave() {
                break 0;
            }
        };
        let header = if got > 0 { libc::CMSG_FIRSTHDR(&message) } else { ptr::null_mut() };
        if !header.is_null() && (*header).cmsg_type == libc::SCM_RIGHTS {
            let payload = (*header).cmsg_len - libc::CMSG_LEN(0) as usize;
            for index in 0..payload / size_of::<RawFd>() {
                let fd = libc::CMSG_DATA(header).cast::<RawFd>().add(index).read_unaligned();
                fds.push(OwnedFd::from_raw_fd(fd));
            }
        }
        got
    };
    if got < 0 { Err(io::Error::last_os_error()) } else { Ok((got as usize, fds)) }
}

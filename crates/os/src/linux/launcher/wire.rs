//! Messages between headstart and its launcher: a length, then JSON; descriptors ride along.

use super::{Configuration, CopiesRequest, Held, LaunchRecord, LaunchSpec};
use crate::linux::error::FailureKind;
use crate::linux::place::PlacedFiles;
use model::Command;
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// What headstart asks its launcher to do.
#[derive(Serialize, Deserialize)]
pub enum Order {
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
        /// What for.
        purpose: LaunchPurpose,
    },
    /// Launch copies of a kept command and hold them.
    Hold {
        /// Which, in order of preparation.
        slot: usize,
        /// How.
        request: CopiesRequest,
    },
    /// End the copies that are held.
    Release,
    /// Put files in the place of others, for all launches from now on.
    Enter(PlacedFiles),
}

/// What a kept command is launched for.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub enum LaunchPurpose {
    /// Its time, so often, one after the other; a launch that fails is the last. An untimed one
    /// may follow to learn its peak RSS.
    Timing(u32),
    /// Exactly one launch, to its end or its entry point.
    Once,
    /// What belongs to its processes alone, at their ends.
    Followed,
    /// What it does; it leaves running what it leaves running.
    Aside,
}

/// What the launcher answers.
#[derive(Serialize, Deserialize)]
pub enum Reply {
    /// Done.
    Done,
    /// The launches.
    Launched(Vec<LaunchRecord>),
    /// The copies that are held.
    Held(Held),
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

/// Sends `message` with at most three descriptors.
pub fn send(
    stream: &UnixStream,
    message: &impl Serialize,
    fds: &[BorrowedFd<'_>],
) -> io::Result<()> {
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

fn send_with_fds(stream: &UnixStream, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(fds));
    }
    match sendmsg(stream, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL)? {
        sent if sent == bytes.len() => Ok(()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

fn receive_with_fds(stream: &UnixStream, bytes: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        let part = &mut [IoSliceMut::new(bytes)];
        match recvmsg(stream, part, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Err(Errno::INTR) if super::leave::told_to_leave() => return Ok((0, Vec::new())),
            Err(Errno::INTR) => {}
            received => break received?.bytes,
        }
    };
    let fds = control.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(fds) => fds.collect(),
        _ => Vec::new(),
    });
    Ok((received, fds.collect()))
}

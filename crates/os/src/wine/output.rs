//! A program under Wine, heard until it ends or falls silent.

use super::{Wine, WineError};
use crate::launcher::{HeardOutput, Stdio};
use crate::processes::{self, ALL_KINDS};
use crate::spawn::{Child, Prepared, Setup, spawn};
use crate::{LaunchError, interrupt};
use model::Ending;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, WaitStatus};
use std::io::{self, PipeReader, Read};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long to wait between two looks at whether the user wants to stop.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// What a pipe holds: an ended program has left no more in it.
const PIPE_BYTES: usize = 1 << 16;

impl Wine {
    /// Launches the PE file `program` and hears it until it ends, or until it makes no progress for
    /// `first` at the beginning or `silence` later, or until it has written more than `limit` bytes.
    /// `heard` is shown all that was written whenever something comes, and says whether that is
    /// progress. What it writes to standard error is lost.
    ///
    /// # Errors
    /// It cannot be launched, or the user wants to stop.
    pub fn output(
        &self,
        program: &Path,
        [first, silence]: [Duration; 2],
        limit: usize,
        heard: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<HeardOutput, WineError> {
        let failed = LaunchError::failed(
            "the output of a program could not be read",
            "check the limit on open files (ulimit -n)",
        );
        let null = Stdio::null()?;
        let (reader, writer) = io::pipe().map_err(failed)?;
        let prepared = Prepared::new(&self.command(program), &[])?;
        let stdio = null.with_stdout(writer);
        let child = spawn(&prepared, Setup::with_stdio(&stdio))?;
        // The end of the output is seen only where nobody here can write to it.
        drop(stdio);
        let mut hearing =
            Hearing { child, reader, bytes: Vec::new(), quiet: Instant::now(), open: true };
        let mut allowed = first;
        loop {
            if interrupt::requested() {
                return Err(LaunchError::Interrupted.into());
            }
            let ended = hearing.wait().map_err(failed)?;
            if hearing.hear(heard).map_err(failed)? {
                allowed = silence;
            }
            if ended {
                let ending = hearing.ending();
                return Ok(HeardOutput { bytes: std::mem::take(&mut hearing.bytes), ending });
            }
            if hearing.quiet.elapsed() > allowed || hearing.bytes.len() > limit {
                let bytes = std::mem::take(&mut hearing.bytes);
                return Ok(HeardOutput { bytes, ending: None });
            }
        }
    }
}

/// A program that is heard; it ends with this value.
struct Hearing {
    child: Child,
    reader: PipeReader,
    bytes: Vec<u8>,
    /// When it has made progress last.
    quiet: Instant,
    /// Whether anybody can still write.
    open: bool,
}

impl Hearing {
    /// Waits for the program to write or to end; whether it has ended.
    fn wait(&self) -> io::Result<bool> {
        let mut both = [
            PollFd::new(&self.child.pidfd, PollFlags::IN),
            PollFd::new(&self.reader, PollFlags::IN),
        ];
        let watched = if self.open { &mut both[..] } else { &mut both[..1] };
        match poll(watched, Some(&LOOK)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(!both[0].revents().is_empty())
    }

    /// Reads what is there, at most a pipe's worth; whether that is progress.
    fn hear(&mut self, heard: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<bool> {
        let (before, mut part) = (self.bytes.len(), [0; 1 << 14]);
        while self.open && self.bytes.len() - before < PIPE_BYTES && is_readable(&self.reader)? {
            match self.reader.read(&mut part) {
                Ok(count) => {
                    self.open = count > 0;
                    self.bytes.extend_from_slice(&part[..count]);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => break,
                Err(error) => return Err(error),
            }
        }
        let any = self.bytes.len() > before && heard(&self.bytes);
        if any {
            self.quiet = Instant::now();
        }
        Ok(any)
    }

    /// How the program has ended.
    fn ending(&self) -> Option<Ending> {
        let status = processes::wait_for(self.child.pid, ALL_KINDS)?;
        let code = WaitStatus::exit_status(status).map(Ending::Code);
        code.or_else(|| status.terminating_signal().map(Ending::Signal))
    }
}

fn is_readable(reader: &PipeReader) -> io::Result<bool> {
    let mut one = [PollFd::new(reader, PollFlags::IN)];
    let none = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut one, Some(&none))?;
    Ok(!one[0].revents().is_empty())
}

impl Drop for Hearing {
    fn drop(&mut self) {
        // Where it was waited for already its number may be another's: signals go by descriptor.
        let _ = rustix::process::pidfd_send_signal(&self.child.pidfd, Signal::KILL);
        processes::wait_for(self.child.pid, ALL_KINDS);
    }
}

//! The dynamic loader's own account of a launch (`LD_DEBUG`), with kernel time stamps.
//!
//! The child's stderr is one end of a datagram socket pair: each message of the loader arrives
//! on its own, stamped by the kernel when it was sent (SO_TIMESTAMPNS) and labeled with its
//! sender (SCM_CREDENTIALS). The sender waits when the socket is full, so nothing is lost.
//!
//! musl, static programs and set-user-id programs ignore `LD_DEBUG`: their log is empty.
//! Two things differ for the launched program: a single write to stderr larger than the socket
//! buffer (8 MiB for root, else twice `net.core.wmem_max`) fails with EMSGSIZE or ENOBUFS, and `/dev/stderr`
//! cannot be opened anew, as with every socket.

mod datagrams;
mod lines;

use super::attend::{AttendOptions, attend, on_own_thread};
use super::clock::{ClockOffset, Instant};
use super::error::LaunchError;
use super::launcher::Source;
use datagrams::Datagrams;
use lines::Lines;
use model::{Command, LoaderLine, LoaderLog};
use std::os::fd::{AsRawFd, RawFd};

/// Launches `command` with `LD_DEBUG=what` (such as `files,reloc`) and records what the loaders
/// of it and of its children say. stdin and stdout are `/dev/null`.
///
/// # Errors
/// Where the program cannot be started or the socket cannot be made.
pub fn record(
    command: &Command,
    what: &str,
    options: &AttendOptions,
) -> Result<LoaderLog, LaunchError> {
    on_own_thread(options, || {
        let offset = ClockOffset::measure(libc::CLOCK_REALTIME);
        let (sender, receiver) = datagrams::pair()?;
        let mut source = Log { receiver, lines: Lines::default() };
        // An inherited LD_DEBUG_OUTPUT would send the log to files instead.
        let mut command = command.clone();
        command.environment.retain(|(name, _)| name != "LD_DEBUG" && name != "LD_DEBUG_OUTPUT");
        command.environment.push(("LD_DEBUG_OUTPUT".to_owned(), None));
        let stderr = Some(&sender);
        let once = attend(&command, &[("LD_DEBUG", what)], stderr, options, &mut source)?;
        let started = Instant::from_ticks(once.ticks);
        let lines = source.lines.finish().into_iter().map(|line| LoaderLine {
            pid: line.pid,
            at_us: offset.us_since(started, line.at_ns),
            text: line.text,
        });
        Ok(LoaderLog { total_us: once.launch.total_us, pid: once.pid, lines: lines.collect() })
    })
}

struct Log {
    receiver: Datagrams,
    lines: Lines,
}

/// Messages taken between two looks at whether the launch has ended.
const BATCH: usize = 64;

impl Source for Log {
    fn descriptors(&self) -> Vec<RawFd> {
        vec![self.receiver.as_raw_fd()]
    }

    fn drain(&mut self) -> bool {
        for _ in 0..BATCH {
            match self.receiver.next() {
                Some(datagram) => self.lines.add(&datagram),
                None => return false,
            }
        }
        true
    }
}

#[cfg(test)]
mod tests;

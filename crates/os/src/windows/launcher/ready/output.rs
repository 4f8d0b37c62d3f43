//! Output that is read by a thread of its own, as a pipe cannot be waited for on Windows.

use crate::stdio::{Stdio, Stream};
use crate::windows::LaunchError;
use crate::windows::clock::Instant;
use crate::windows::launcher::new_event;
use regex::bytes::Regex;
use std::io::{self, PipeReader, Read};
use std::os::windows::io::{AsRawHandle, OwnedHandle, RawHandle};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use windows_sys::Win32::System::Threading::SetEvent;

/// Output kept for matching; a longer text is matched on its last part.
const WINDOW_BYTES: usize = 1 << 20;

/// The output of a program, which is matched as it comes.
pub(in crate::windows) struct WatchedOutput {
    write_end: Option<Stream>,
    found: Arc<Found>,
    /// Ends when everybody has closed the pipe.
    ended: Receiver<()>,
}

struct Found {
    at: OnceLock<Instant>,
    event: OwnedHandle,
}

impl WatchedOutput {
    /// Begins to read. The thread ends when nobody can write to the pipe any more.
    ///
    /// # Errors
    /// There is no room for another pipe.
    pub(super) fn new(pattern: Regex) -> Result<WatchedOutput, LaunchError> {
        let failed = LaunchError::failed("creating a pipe for the output", "close other programs");
        let (read_end, write_end) = io::pipe().map_err(failed)?;
        let found = Arc::new(Found { at: OnceLock::new(), event: new_event()? });
        let (sender, ended) = channel();
        let told = Arc::clone(&found);
        let thread = std::thread::Builder::new();
        thread.spawn(move || read(read_end, &pattern, &told, sender)).map_err(failed)?;
        Ok(WatchedOutput { write_end: Some(write_end.into()), found, ended })
    }

    /// The streams with which the program is launched, once.
    pub(super) fn watched(&mut self, stdio: Stdio) -> Stdio {
        match self.write_end.take() {
            Some(write_end) => stdio.with_output(write_end),
            None => stdio,
        }
    }

    /// Set when the output matches.
    pub(super) fn matched(&self) -> RawHandle {
        self.found.event.as_raw_handle()
    }

    /// When it matched.
    pub(super) fn matched_at(&self) -> Option<Instant> {
        self.found.at.get().copied()
    }

    /// Waits until all has been read that there will ever be.
    pub(super) fn hear_out(&self, most: Duration) {
        // Nothing is sent: it ends with the thread or with the time.
        let _ = self.ended.recv_timeout(most);
    }
}

/// Reads to the end, so that the program is never held up by a full pipe.
fn read(mut pipe: PipeReader, pattern: &Regex, found: &Found, _ended: Sender<()>) {
    let (mut seen, mut chunk) = (Vec::new(), vec![0; 1 << 16]);
    while let Ok(count @ 1..) = pipe.read(&mut chunk) {
        if found.at.get().is_some() {
            continue;
        }
        seen.extend_from_slice(&chunk[..count]);
        if pattern.is_match(&seen) {
            found.at.get_or_init(Instant::now);
            // SAFETY: the event is open.
            unsafe { SetEvent(found.event.as_raw_handle()) };
        }
        let surplus = seen.len().saturating_sub(WINDOW_BYTES);
        seen.drain(..surplus);
    }
}

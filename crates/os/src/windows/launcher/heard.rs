//! A program that is heard until it ends or falls silent.

use super::child::Child;
use super::job::Job;
use super::prepared::Prepared;
use super::ready::LAST_WORDS;
use super::waiting::{Waited, wait};
use super::{Configuration, HeardOutput, Stdio, schedule};
use crate::windows::{LaunchError, interrupt};
use model::{Command, Ending};
use std::io::{self, PipeReader, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// How long to wait between two looks at whether the user wants to stop.
const LOOK: Duration = Duration::from_millis(100);
/// Parts of the output that wait to be heard; then the program waits.
const WAITING: usize = 4;

/// Launches a program and hears it until it ends, or until it makes no progress for `first` at the
/// beginning or `silence` later, or until it has written more than `limit` bytes. `heard` is shown all that
/// was written whenever something comes, and says whether that is progress. What it writes to standard
/// error is lost, and what it leaves running is ended.
///
/// # Errors
/// It cannot be launched, or the user wants to stop.
pub fn heard(
    command: &Command,
    [first, silence]: [Duration; 2],
    limit: usize,
    heard: &mut dyn FnMut(&[u8]) -> bool,
) -> Result<HeardOutput, LaunchError> {
    let failed =
        LaunchError::failed("the output of a program could not be read", "close other programs");
    schedule::no_error_windows();
    let (reader, writer) = io::pipe().map_err(failed)?;
    let prepared = Prepared::new(command, &Stdio::null()?.with_stdout(writer), &[])?;
    let job = Job::new()?;
    let mut child = Child::create(&prepared, &prepared.stdio, &job, Configuration::default(), 0)?;
    // Its output has an end only where nobody here can write to it.
    drop(prepared);
    child.resume()?;
    let (sender, parts) = sync_channel(WAITING);
    // It ends when nobody can write any more, or nobody hears.
    std::thread::Builder::new().spawn(move || read(reader, &sender)).map_err(failed)?;
    let mut hearing = Hearing { parts, bytes: Vec::new(), limit };
    let ending = hearing.until_over(&child, [first, silence], heard)?;
    // Its file can be removed only then.
    job.end_everything(child.pid)?;
    Ok(HeardOutput { bytes: hearing.bytes, ending })
}

/// A program's output, as far as it was heard.
struct Hearing {
    parts: Receiver<Vec<u8>>,
    bytes: Vec<u8>,
    limit: usize,
}

impl Hearing {
    /// How the program has ended; none where it is to be given up.
    fn until_over(
        &mut self,
        child: &Child,
        [first, silence]: [Duration; 2],
        heard: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<Option<Ending>, LaunchError> {
        let (mut allowed, mut progress) = (first, Instant::now());
        loop {
            if interrupt::requested() {
                return Err(LaunchError::Interrupted);
            }
            let open = match self.parts.recv_timeout(LOOK) {
                Ok(part) => {
                    self.bytes.extend(part);
                    if heard(&self.bytes) {
                        (allowed, progress) = (silence, Instant::now());
                    }
                    true
                }
                Err(RecvTimeoutError::Timeout) => true,
                Err(RecvTimeoutError::Disconnected) => false,
            };
            if self.bytes.len() > self.limit || progress.elapsed() > allowed {
                return Ok(None);
            }
            // With its output closed there is nothing else to wait for.
            let until = if open { Instant::now() } else { Instant::now() + LOOK };
            if wait(&[child.process()], Some(until))? == Waited::For(0) {
                self.last_words(heard);
                return child.ending().map(Some);
            }
        }
    }

    /// What the program has left in the pipe. Another one may have it open still.
    fn last_words(&mut self, heard: &mut dyn FnMut(&[u8]) -> bool) {
        let ended = Instant::now();
        while let Ok(part) = self.parts.recv_timeout(LAST_WORDS.saturating_sub(ended.elapsed())) {
            self.bytes.extend(part);
            heard(&self.bytes);
            if self.bytes.len() > self.limit {
                return;
            }
        }
    }
}

fn read(mut pipe: PipeReader, heard: &SyncSender<Vec<u8>>) {
    let mut part = vec![0; 1 << 16];
    while let Ok(count @ 1..) = pipe.read(&mut part) {
        if heard.send(part[..count].to_vec()).is_err() {
            return;
        }
    }
}

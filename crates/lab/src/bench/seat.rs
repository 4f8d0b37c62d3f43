//! What one variant is launched with: its command, prepared, and its streams.

use super::hooks::inherited;
use crate::{LabError, StreamKind};
use model::{Command, OutputTo, Variant};
use os::launcher::{Launcher, Slot};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The variable that hyperfine sets to the number of the launch.
const ITERATION: &str = "HYPERFINE_ITERATION";

/// A variant, ready to be launched.
pub struct Seat {
    /// Its command.
    pub slot: Slot,
    /// Nothing may be launched but what was asked for: the launches have effects.
    pub exactly: bool,
    input: Option<File>,
    output: Option<File>,
    /// Kept open as long as the launches write to it.
    _pipe: Option<OwnedFd>,
    stdio: [RawFd; 3],
    counts: bool,
}

impl Seat {
    /// Opens the streams and prepares the command.
    pub fn new(launcher: &mut Launcher, variant: &Variant, null: RawFd) -> Result<Seat, LabError> {
        let streams = &variant.streams;
        let input =
            streams.input.as_deref().map(|path| opened(StreamKind::Input, path)).transpose()?;
        let (mut file, mut pipe) = (None, None);
        let [stdout, stderr] = match &streams.output {
            OutputTo::Inherit => inherited(),
            OutputTo::Null => [null; 2],
            OutputTo::Pipe => {
                let end = pipe.insert(drained()?);
                [end.as_raw_fd(), null]
            }
            OutputTo::File(path) => {
                let file = file.insert(opened(StreamKind::Output, path)?);
                [file.as_raw_fd(), null]
            }
        };
        let stdio = [input.as_ref().map_or(null, AsRawFd::as_raw_fd), stdout, stderr];
        let slot = launcher.prepare(&variant.command, stdio, &[])?;
        let hooks = &variant.hooks;
        let effects = hooks.prepare.is_some() || hooks.conclude.is_some();
        let counts = counts(&variant.command);
        let exactly = effects || counts || input.is_some() || file.is_some();
        Ok(Seat { slot, exactly, input, output: file, _pipe: pipe, stdio, counts })
    }

    /// Makes the streams what they were before the first launch. `number` says which launch comes.
    pub fn renew(
        &mut self,
        launcher: &mut Launcher,
        command: &Command,
        number: impl Fn() -> String,
    ) -> Result<(), LabError> {
        if let Some(file) = &mut self.input {
            // A pipe or a device has no beginning to go back to.
            let _ = file.rewind();
        }
        if let Some(file) = &mut self.output {
            let _ = file.set_len(0);
            let _ = file.rewind();
        }
        if self.counts {
            launcher.replace(self.slot, command, self.stdio, &[(ITERATION, &number())])?;
        }
        Ok(())
    }
}

/// Whether the command asks for the number of its launch.
fn counts(command: &Command) -> bool {
    let asks = |word: &OsStr| {
        word.as_bytes().windows(ITERATION.len()).any(|part| part == ITERATION.as_bytes())
    };
    command.argv.iter().any(|word| asks(word))
}

fn opened(stream: StreamKind, path: &Path) -> Result<File, LabError> {
    let file = match stream {
        StreamKind::Input => File::open(path),
        StreamKind::Output => File::create(path),
    };
    file.map_err(|source| LabError::Stream { stream, path: path.to_owned(), source })
}

/// The end of a pipe that is written to; what comes out of the other is discarded.
fn drained() -> Result<OwnedFd, LabError> {
    let failed = |source| os::LaunchError::System {
        action: "creating a pipe for the output".into(),
        source,
        remedy: "raise the limit on open files: ulimit -n".into(),
    };
    let (mut reader, writer) = std::io::pipe().map_err(failed)?;
    std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        // Ends when the last writer has gone.
        while matches!(reader.read(&mut buffer), Ok(1..)) {}
    });
    Ok(writer.into())
}

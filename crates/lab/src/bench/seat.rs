//! What one variant is launched with: its command, prepared, and its streams.

use crate::{LabError, StreamKind};
use model::{Command, OutputTo, Variant};
use os::launcher::{Launcher, Slot, Stdio, Stream};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{PipeWriter, Read, Seek};
use std::path::Path;
use std::sync::Arc;

/// The variable that hyperfine sets to the number of the launch.
const ITERATION: &str = "HYPERFINE_ITERATION";

/// A variant, ready to be launched.
pub struct Seat {
    /// Its command.
    pub slot: Slot,
    /// Nothing may be launched but what was asked for: the launches have effects.
    pub exactly: bool,
    input: Option<Arc<File>>,
    output: Option<Arc<File>>,
    stdio: Stdio,
    counts: bool,
}

impl Seat {
    /// Opens the streams and prepares the command. Those that nobody asks for stay those of `null`.
    pub fn new(launcher: &mut Launcher, variant: &Variant, null: Stdio) -> Result<Seat, LabError> {
        let streams = &variant.streams;
        let (mut input, mut file, mut stdio) = (None, None, null);
        if let Some(path) = &streams.input {
            let opened = input.insert(opened(StreamKind::Input, path)?);
            stdio = stdio.with_stdin(Arc::clone(opened));
        }
        let stdio = match &streams.output {
            OutputTo::Inherit => stdio.with_stdout(Stream::stdout()).with_stderr(Stream::stderr()),
            OutputTo::Null => stdio,
            OutputTo::Pipe => stdio.with_stdout(drained()?),
            OutputTo::File(path) => {
                let opened = file.insert(opened(StreamKind::Output, path)?);
                stdio.with_stdout(Arc::clone(opened))
            }
        };
        let slot = launcher.prepare(&variant.command, &stdio, &[])?;
        let hooks = &variant.hooks;
        let effects = hooks.prepare.is_some() || hooks.conclude.is_some();
        let counts = counts(&variant.command);
        let exactly = effects || counts || input.is_some() || file.is_some();
        Ok(Seat { slot, exactly, input, output: file, stdio, counts })
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
            launcher.replace(self.slot, command, &self.stdio, &[(ITERATION, &number())])?;
        }
        Ok(())
    }
}

/// Whether the command asks for the number of its launch.
fn counts(command: &Command) -> bool {
    let asks = |word: &OsStr| {
        word.as_encoded_bytes().windows(ITERATION.len()).any(|part| part == ITERATION.as_bytes())
    };
    command.argv.iter().any(|word| asks(word))
}

fn opened(stream: StreamKind, path: &Path) -> Result<Arc<File>, LabError> {
    let file = match stream {
        StreamKind::Input => File::open(path),
        StreamKind::Output => File::create(path),
    };
    file.map(Arc::new).map_err(|source| LabError::Stream { stream, path: path.to_owned(), source })
}

/// The end of a pipe that is written to; what comes out of the other is discarded.
fn drained() -> Result<PipeWriter, LabError> {
    let failed = |source| os::LaunchError::System {
        action: "creating a pipe for the output".into(),
        source,
        remedy: os::host::MORE_FILES.into(),
    };
    let (mut reader, writer) = std::io::pipe().map_err(failed)?;
    std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        // Ends when the last writer has gone.
        while matches!(reader.read(&mut buffer), Ok(1..)) {}
    });
    Ok(writer)
}

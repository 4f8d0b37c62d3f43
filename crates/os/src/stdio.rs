//! stdin, stdout and stderr of launched programs.

use crate::LaunchError;

pub use crate::Stream;

/// stdin, stdout and stderr of a launched program. A clone costs next to nothing.
#[derive(Clone, Debug)]
pub struct Stdio {
    pub(crate) stdin: Stream,
    pub(crate) stdout: Stream,
    pub(crate) stderr: Stream,
}

impl Stdio {
    /// The same for all three.
    pub fn all(stream: impl Into<Stream>) -> Stdio {
        let stream = stream.into();
        Stdio { stdin: stream.clone(), stdout: stream.clone(), stderr: stream }
    }

    /// The null device for all three.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn null() -> Result<Stdio, LaunchError> {
        Stream::null().map(Stdio::all)
    }

    /// headstart's own.
    pub fn inherited() -> Stdio {
        Stdio { stdin: Stream::stdin(), stdout: Stream::stdout(), stderr: Stream::stderr() }
    }

    /// The same with another stdin.
    #[must_use]
    pub fn with_stdin(self, stream: impl Into<Stream>) -> Stdio {
        Stdio { stdin: stream.into(), ..self }
    }

    /// The same with another stdout.
    #[must_use]
    pub fn with_stdout(self, stream: impl Into<Stream>) -> Stdio {
        Stdio { stdout: stream.into(), ..self }
    }

    /// The same with another stderr.
    #[must_use]
    pub fn with_stderr(self, stream: impl Into<Stream>) -> Stdio {
        Stdio { stderr: stream.into(), ..self }
    }

    /// The same with stdout and stderr in one.
    #[must_use]
    pub fn with_output(self, stream: impl Into<Stream>) -> Stdio {
        let stream = stream.into();
        Stdio { stdout: stream.clone(), stderr: stream, ..self }
    }
}

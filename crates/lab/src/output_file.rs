//! What launched programs write, in a file without a name.

use os::LaunchError;
use os::host::{MORE_FILES, OTHER_TEMPORARY_FOLDER, TOO_MANY_FILES};
use os::launcher::Stream;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::sync::Arc;

/// Lines quoted of what a program wrote.
const QUOTED_LINES: usize = 8;

/// A file that a launched program writes to.
pub struct OutputFile(Arc<File>);

impl OutputFile {
    /// An empty one.
    ///
    /// # Errors
    /// There is no room for it.
    pub fn new() -> Result<OutputFile, LaunchError> {
        Ok(OutputFile(Arc::new(tempfile::tempfile().map_err(failed)?)))
    }

    /// For a program that writes to it.
    pub fn stream(&self) -> Stream {
        Arc::clone(&self.0).into()
    }

    /// The first bytes that were written, up to `most`, and how many there are in all.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn written(&mut self, most: u64) -> Result<(Vec<u8>, u64), LaunchError> {
        self.read(most).map_err(failed)
    }

    fn read(&mut self, most: u64) -> io::Result<(Vec<u8>, u64)> {
        let length = self.0.metadata()?.len();
        let mut file = &*self.0;
        file.rewind()?;
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok((bytes, length))
    }

    /// The last lines for an error to quote; empty where there are none.
    pub(crate) fn quoted(&mut self) -> String {
        self.written(1 << 20).map_or(String::new(), |(bytes, _)| quoted_end(&bytes))
    }
}

fn failed(source: io::Error) -> LaunchError {
    let remedy = match source.raw_os_error() {
        Some(TOO_MANY_FILES) => MORE_FILES,
        _ => OTHER_TEMPORARY_FOLDER,
    };
    let action = "a temporary file for the program's output".into();
    LaunchError::System { action, source, remedy: remedy.into() }
}

/// The last lines of what a program wrote, to follow how it ended; empty where it wrote none.
pub fn quoted_end(written: &[u8]) -> String {
    let text = String::from_utf8_lossy(written);
    if text.trim().is_empty() {
        return String::new();
    }
    let lines: Vec<_> = text.trim_end().lines().collect();
    let left_out = lines.len().saturating_sub(QUOTED_LINES);
    let mark = if left_out > 0 { "\n  | …" } else { "" };
    let last = lines.iter().skip(left_out);
    let quoted: String = last.map(|line| format!("\n  | {line}")).collect();
    format!("; it wrote:{mark}{quoted}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_of_a_quotation_is_marked() {
        assert_eq!(quoted_end(b" \n"), "");
        assert_eq!(quoted_end(b"one\ntwo\n"), "; it wrote:\n  | one\n  | two");
        let many: String = (1..=9).map(|n| format!("{n}\n")).collect();
        let quoted = quoted_end(many.as_bytes());
        assert!(quoted.starts_with("; it wrote:\n  | …\n  | 2\n"), "{quoted}");
        assert!(quoted.ends_with("\n  | 9"), "{quoted}");
    }
}

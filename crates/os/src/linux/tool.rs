//! Programs of the system that are asked or told something, with their output.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a program answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutput {
    /// It ended with exit code 0.
    pub success: bool,
    /// What it wrote.
    pub stdout: String,
    /// What it wrote to stderr.
    pub stderr: String,
}

impl ToolOutput {
    /// The last line that it wrote, to say what went wrong.
    pub fn last_line(&self) -> String {
        let lines = [&self.stderr, &self.stdout].map(|text| text.lines().next_back());
        lines.into_iter().flatten().next().unwrap_or("it wrote nothing").trim().to_owned()
    }
}

/// Runs a program to its end, without input, in the plain locale.
///
/// # Errors
/// It cannot be started.
pub fn run<Word: AsRef<OsStr>>(program: &Path, arguments: &[Word]) -> io::Result<ToolOutput> {
    let mut command = Command::new(program);
    command.args(arguments).env("LC_ALL", "C").stdin(Stdio::null());
    let output = command.output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    Ok(ToolOutput { success: output.status.success(), stdout, stderr })
}

/// A program of that name, in PATH or where administrators' programs are, which PATH may lack.
pub fn find(name: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].map(Into::into);
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).chain(system);
    let mut found = folders.map(|folder| folder.join(name));
    found.find(|path| path.metadata().is_ok_and(|data| data.is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_writes_and_how_it_ends_is_told() {
        let shell = find("sh").unwrap();
        let said = run(&shell, &["-c", "echo $LC_ALL; echo no >&2; cat; exit 3"]).unwrap();
        let wanted =
            ToolOutput { success: false, stdout: "C\n".to_owned(), stderr: "no\n".to_owned() };
        assert_eq!(said, wanted);
        assert_eq!(said.last_line(), "no");
        assert!(run(Path::new("/nowhere/sh"), &["-c"]).is_err() && find("no-such-tool").is_none());
    }
}

//! Other readers of images, and where headstart's facts differ from theirs.

pub mod elf;
pub mod pe;

use std::fmt;

/// One fact on which the two disagree.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The file.
    pub path: String,
    /// The other reader.
    pub tool: String,
    /// Which fact.
    pub fact: &'static str,
    /// What the other reader says.
    pub oracle: String,
    /// What headstart says.
    pub headstart: String,
    /// What the other reader complained about.
    pub complaints: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{}: {}", self.path, self.fact)?;
        writeln!(out, "    {:<12} {}", self.tool, shortened(&self.oracle))?;
        write!(out, "    {:<12} {}", "headstart", shortened(&self.headstart))?;
        match self.complaints.lines().next() {
            Some(line) => write!(out, "\n    {line}"),
            None => Ok(()),
        }
    }
}

/// The beginning of a long text.
pub fn shortened(text: &str) -> String {
    let short: String = text.chars().take(300).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}

//! Which ELF file to rewrite, and where to.

use clap::{ArgGroup, Args};
use std::path::PathBuf;

/// A file, and what becomes of it.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("target").required(true).multiple(false))]
pub struct RewriteArgs {
    /// An ELF file, by path
    pub file: PathBuf,
    /// Write the result to a new file
    #[arg(long, value_name = "PATH", group = "target")]
    pub out: Option<PathBuf>,
    /// Replace the file itself, if it is yours and not in a folder of packages; FILE.headstart-undo
    /// keeps the original
    #[arg(long, group = "target")]
    pub in_place: bool,
    /// Restore what --in-place replaced
    #[arg(long, group = "target")]
    pub undo: bool,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

impl RewriteArgs {
    /// Where the result is written to.
    pub fn target(&self) -> rewrite::WriteTo<'_> {
        self.out.as_deref().map_or(rewrite::WriteTo::InPlace, rewrite::WriteTo::New)
    }
}

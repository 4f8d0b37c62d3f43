//! What to rewrite, and where to.

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
    /// Replace the file itself: one of your own, outside of packages' folders; FILE.headstart-undo
    /// keeps what was there before
    #[arg(long, group = "target")]
    pub in_place: bool,
    /// Restore what --in-place has replaced
    #[arg(long, group = "target")]
    pub undo: bool,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

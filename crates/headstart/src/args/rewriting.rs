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

/// PE files, and what becomes of them.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("dll_target").required(true).multiple(true))]
pub struct DllArgs {
    /// Programs and DLLs, by path
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Write the results into this folder, under the same names; it is made where it is missing
    #[arg(long, value_name = "DIR", group = "dll_target")]
    pub out: Option<PathBuf>,
    /// Replace the files themselves: your own, outside of packages' folders;
    /// FILE.headstart-undo keeps what was there before
    #[arg(long, group = "dll_target", conflicts_with = "out")]
    pub in_place: bool,
    /// Restore what --in-place has replaced
    #[arg(long, group = "dll_target", conflicts_with_all = ["out", "in_place", "dry_run"])]
    pub undo: bool,
    /// Only say what would be done
    #[arg(long, group = "dll_target")]
    pub dry_run: bool,
    /// Rewrite signed files too, without their signature, which would be wrong
    #[arg(long)]
    pub strip_signature: bool,
    /// Make CheckSum right also where it was 0 or wrong
    #[arg(long)]
    pub checksum: bool,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

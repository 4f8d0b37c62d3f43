//! Which PE files to rewrite, and where to.

use crate::find;
use clap::{ArgGroup, Args};
use dlls::ordinal::{RECORD, Record};
use dlls::rewrite::{Destination, RewriteMode, RewriteRequest};
use std::path::{Path, PathBuf};

/// PE files, and what becomes of them.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("dll_target").required(true).multiple(true))]
pub struct DllArgs {
    /// Programs and DLLs, by path
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write the results into this folder under the same names; created if missing
    #[arg(long, value_name = "DIR", group = "dll_target")]
    pub out: Option<PathBuf>,
    /// Replace the files themselves, if they are yours and not in folders of packages;
    /// FILE.headstart-undo keeps each original
    #[arg(long, group = "dll_target", conflicts_with = "out")]
    pub in_place: bool,
    /// Restore what --in-place replaced
    #[arg(long, group = "dll_target", conflicts_with_all = ["out", "in_place", "dry_run"])]
    pub undo: bool,
    /// Only show what would be done
    #[arg(long, group = "dll_target")]
    pub dry_run: bool,
    /// Also rewrite signed files, without the signatures, which would no longer be valid: an
    /// Authenticode signature is removed, and that of a .NET strong name is cleared
    #[arg(long)]
    pub strip_signature: bool,
    /// Also correct a CheckSum that was 0 or wrong
    #[arg(long)]
    pub checksum: bool,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

impl DllArgs {
    /// The files that are named, but for headstart's own among them, which `*` matches too.
    pub fn files(&self) -> Vec<PathBuf> {
        let files = find::named_or_fitting(&self.files);
        let others: Vec<PathBuf> = files.iter().filter(|file| !is_own(file)).cloned().collect();
        // Where there is nothing else, what it is will be said.
        if others.is_empty() { files } else { others }
    }

    /// The same as data.
    pub fn request(&self) -> RewriteRequest {
        let destination = match &self.out {
            Some(folder) => Some(Destination::Folder(folder.clone())),
            None => self.in_place.then_some(Destination::InPlace),
        };
        RewriteRequest {
            files: self.files(),
            mode: match destination {
                Some(destination) if !self.dry_run => RewriteMode::Write(destination),
                destination => RewriteMode::DryRun(destination),
            },
            strip_signature: self.strip_signature,
            checksum: self.checksum,
        }
    }
}

/// Whether headstart has put the file beside a set.
fn is_own(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default();
    name.as_encoded_bytes().ends_with(files::UNDO.as_bytes())
        || name == RECORD && Record::read(file).is_ok()
}

//! What to rewrite, and where to.

use clap::{ArgGroup, ArgMatches, Args, Command, FromArgMatches};
use dlls::ordinal::{RECORD, Record};
use dlls::rewrite::{Destination, RewriteMode, RewriteRequest};
use std::path::{Path, PathBuf};

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

/// PE files, and what becomes of them.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("dll_target").required(true).multiple(true))]
pub struct DllArgs {
    #[command(flatten)]
    pub files: DllFiles,
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
    /// The same as data.
    pub fn request(&self) -> RewriteRequest {
        let destination = match &self.out {
            Some(folder) => Some(Destination::Folder(folder.clone())),
            None => self.in_place.then_some(Destination::InPlace),
        };
        RewriteRequest {
            files: self.files.to_vec(),
            mode: match destination {
                Some(destination) if !self.dry_run => RewriteMode::Write(destination),
                destination => RewriteMode::DryRun(destination),
            },
            strip_signature: self.strip_signature,
            checksum: self.checksum,
        }
    }
}

/// The files that are named, but for headstart's own among them, which `*` matches too.
#[derive(Debug)]
pub struct DllFiles(Vec<PathBuf>);

#[derive(Debug, Args)]
struct Named {
    /// Programs and DLLs, by path
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl std::ops::Deref for DllFiles {
    type Target = [PathBuf];

    fn deref(&self) -> &[PathBuf] {
        &self.0
    }
}

impl DllFiles {
    fn of(named: Named) -> DllFiles {
        let mut files = named.files;
        // Where there is nothing else, what it is will be said.
        if !files.iter().all(|file| is_own(file)) {
            files.retain(|file| !is_own(file));
        }
        DllFiles(files)
    }
}

/// Whether headstart has put the file beside a set.
fn is_own(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default();
    name.as_encoded_bytes().ends_with(files::UNDO.as_bytes())
        || name == RECORD && Record::read(file).is_ok()
}

impl Args for DllFiles {
    fn augment_args(command: Command) -> Command {
        Named::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Named::augment_args_for_update(command)
    }
}

impl FromArgMatches for DllFiles {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Named::from_arg_matches(matches).map(DllFiles::of)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = DllFiles::from_arg_matches(matches)?;
        Ok(())
    }
}

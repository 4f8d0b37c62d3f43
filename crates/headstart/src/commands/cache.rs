//! What `cache status` and `cache evict` share: which files are meant.

use crate::args::one_command_found;
use crate::exit::Usage;
use crate::progress::StatusLine;
use anyhow::Result;
use clap::Args;
use model::{SkippedPath, text};
use os::attend::AttendOptions;
use os::cache::{self, MOST_FILES};
use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

/// The files that are meant.
#[derive(Debug, Args)]
pub struct CachedFilesArgs {
    /// Files and folders; folders are searched recursively, without following symbolic links
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// The files of a launch of this command, which is launched twice for that
    #[arg(last = true, value_name = "CMD", conflicts_with = "files")]
    command: Vec<OsString>,

    /// End a launch that takes longer
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = crate::args::seconds)]
    timeout: Duration,
}

/// Files, and how they were found.
pub struct ChosenFiles {
    /// Regular files, without links.
    pub files: Vec<PathBuf>,
    /// The command, as one would type it.
    pub command: Option<String>,
    /// How its files were found.
    pub files_from: Option<String>,
    /// What was named and cannot be read.
    pub skipped: Vec<SkippedPath>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

impl CachedFilesArgs {
    /// Looks for the files.
    pub fn find(&self) -> Result<ChosenFiles> {
        if self.command.is_empty() {
            return self.named();
        }
        os::interrupt::install();
        let command = one_command_found(&self.command, ordering::windows::find)?;
        let line = StatusLine::new();
        line.show(0.0, "finding the files of a launch".to_owned());
        let options = AttendOptions {
            timeout: self.timeout,
            cpu: Some(os::host::quiet_cpu()),
            to_entry: false,
        };
        let mut found = cache::mapped_files(&command, &options)?;
        line.clear();
        // Two names of one file have the same pages.
        let mut seen = HashSet::new();
        found.files.retain(|path| {
            path.metadata().map_or(true, |data| seen.insert((data.dev(), data.ino())))
        });
        Ok(ChosenFiles {
            command: Some(command.line()),
            files_from: Some(found.source),
            skipped: Vec::new(),
            notes: overlay_note(&found.files).into_iter().collect(),
            files: found.files,
        })
    }

    fn named(&self) -> Result<ChosenFiles> {
        if self.files.is_empty() {
            let text = "name files or folders, or a command behind --";
            return Err(Usage(text.to_owned()).into());
        }
        let found = cache::named_files(&self.files);
        let mut notes = Vec::new();
        if found.links > 0 {
            notes.push(format!(
                "{} below the folders not followed: name what they lead to, if it is meant",
                if found.links == 1 {
                    "1 symbolic link was".to_owned()
                } else {
                    format!("{} symbolic links were", model::figures::count(found.links))
                }
            ));
        }
        if found.is_cut {
            notes.push(format!(
                "there are more than {} files: the others were left out; name fewer folders",
                model::figures::count(MOST_FILES as u64)
            ));
        }
        notes.extend(overlay_note(&found.files));
        Ok(ChosenFiles {
            files: found.files,
            command: None,
            files_from: None,
            skipped: found.skipped,
            notes,
        })
    }

    /// Whether it was named, so that not reading it is a failure.
    pub fn is_named(&self, skipped: &SkippedPath) -> bool {
        self.files.iter().any(|path| {
            text::text(path) == skipped.path
                || path.canonicalize().is_ok_and(|path| text::text(&path) == skipped.path)
        })
    }
}

/// Pages that the sums have twice.
fn overlay_note(files: &[PathBuf]) -> Option<String> {
    let shared = cache::shared_with_layers(files);
    (shared > 0).then(|| {
        format!(
            "{} on an overlay {} in memory with the file of the layer below, which is among these \
             files, too: the sums count such pages twice",
            model::figures::plural(shared, "file", "files"),
            if shared == 1 { "shares its pages" } else { "share their pages" }
        )
    })
}

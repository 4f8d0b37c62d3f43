//! What a bundle is to read ahead: from a recording, from a launch of the bundle itself, or from the
//! bundle that it replaces.

use crate::error::BundleError;
use crate::make::RUN;
use crate::tables::ahead::LIST_SECTION;
use image::elf::Loadable;
use model::bundle::BundleReadAhead;
use model::text::{name, text};
use model::{Disk, FileOffset, FilePages, FileRange, Recording, RecordingMode, TouchedFile};
use startup::{AheadList, AheadRange, BesideFile};
use std::collections::HashMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What launches touched of which files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PagesAhead {
    /// How it was recorded.
    pub mode: RecordingMode,
    /// Of which command.
    pub command: String,
    pub(crate) files: Vec<TouchedSource>,
    /// Ranges in order of first touch, and the file of each.
    pub(crate) touched: Vec<(usize, FileRange)>,
    /// What it will be read from.
    pub disk: Disk,
    /// Recorded files that are not any more what they were, and are left out.
    pub stale: Vec<String>,
    /// How the recorded launch ended, in words, if not with exit code 0.
    pub ended: Option<String>,
}

/// A file of which something was touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TouchedSource {
    pub(crate) path: PathBuf,
    /// It is the bundle's own file, with the same layout as the next one.
    pub(crate) own: bool,
    pub(crate) inode: u64,
    pub(crate) size: u64,
    /// Seconds and nanoseconds.
    pub(crate) modified: (i64, i64),
}

const NS: i64 = 1_000_000_000;

impl TouchedSource {
    fn of(path: &Path, run: Option<&Path>) -> io::Result<TouchedSource> {
        let data = path.metadata()?;
        Ok(TouchedSource {
            path: path.to_owned(),
            own: run.is_some_and(|run| run == path),
            inode: data.ino(),
            size: data.size(),
            modified: (data.mtime(), data.mtime_nsec()),
        })
    }

    /// What a bundle's list says of another file.
    fn listed(file: BesideFile) -> TouchedSource {
        let BesideFile { path, inode, size, modified } = file;
        TouchedSource { path, own: false, inode, size, modified }
    }

    /// The same for a list.
    pub(crate) fn beside(&self) -> BesideFile {
        let TouchedSource { path, inode, size, modified, .. } = self.clone();
        BesideFile { path, inode, size, modified }
    }
}

impl PagesAhead {
    /// Nothing yet: the bundle gets the layout of one that reads ahead.
    pub(crate) fn nothing(command: &str) -> PagesAhead {
        let mode = RecordingMode::Exact;
        let command = command.to_owned();
        PagesAhead {
            mode,
            command,
            files: Vec::new(),
            touched: Vec::new(),
            disk: Disk::Flash,
            stale: Vec::new(),
            ended: None,
        }
    }

    /// Whether a launch of the bundle itself was recorded.
    pub(crate) fn is_of_bundle(&self) -> bool {
        self.files.iter().any(|file| file.own)
    }

    /// What was recorded, of `program` or of the bundle of it in `folder`, as far as the files are
    /// still those that were recorded.
    ///
    /// # Errors
    /// It is of neither, or that has changed since.
    pub fn of_recording(
        recording: &Recording,
        program: &Path,
        folder: &Path,
    ) -> Result<PagesAhead, BundleError> {
        let run = folder.join(RUN).canonicalize().ok();
        let mut ahead =
            PagesAhead { mode: recording.mode, ..PagesAhead::nothing(&recording.command) };
        ahead.disk = Disk::of(recording);
        let mut touched = Vec::new();
        for file in &recording.files {
            let path = PathBuf::from(name(&file.path));
            let was = &file.identity;
            let then = (was.modified_ns.div_euclid(NS), was.modified_ns.rem_euclid(NS));
            let now = TouchedSource::of(&path, run.as_deref()).ok().filter(|now| {
                (now.inode, now.size, now.modified) == (was.inode, was.size_bytes, then)
            });
            let Some(now) = now else {
                ahead.stale.push(file.path.clone());
                continue;
            };
            let number = ahead.files.len();
            ahead.files.push(now);
            let times = file.touched_us.iter().copied().chain(std::iter::repeat(f64::INFINITY));
            touched.extend(file.ranges.iter().zip(times).map(|(range, at)| (at, number, *range)));
        }
        touched.sort_by(|a, b| a.0.total_cmp(&b.0));
        ahead.touched = touched.into_iter().map(|(_, file, range)| (file, range)).collect();
        let path = program.canonicalize().map_err(|error| BundleError::io(program, error))?;
        if ahead.is_of_bundle() || ahead.files.iter().any(|file| file.path == path) {
            return Ok(ahead);
        }
        let program = program.display().to_string();
        let changed = ahead.stale.iter().any(|stale| name(stale) == path.as_os_str());
        Err(BundleError::OtherRecording { program, command: ahead.command, changed })
    }

    /// The same for another disk than the one that is known, if it is given.
    pub(crate) fn for_disk(self, disk: Option<Disk>) -> PagesAhead {
        PagesAhead { disk: disk.unwrap_or(self.disk), ..self }
    }

    /// What a cold launch of the bundle `run` touched.
    pub(crate) fn of_pages(pages: &FilePages, command: &str, run: &Path) -> PagesAhead {
        let mut ahead = PagesAhead::nothing(command);
        let mut touched = Vec::new();
        let times = |file: &TouchedFile| -> Vec<f64> {
            let touched = file.touched.value().map(Vec::as_slice).unwrap_or_default();
            touched.iter().map(|page| page.at_us).collect()
        };
        for file in &pages.files {
            let Some(found) = file.touched.value().filter(|found| !found.is_empty()) else {
                continue;
            };
            let path = PathBuf::from(name(&file.path));
            let Ok(source) = TouchedSource::of(&path, Some(run)) else { continue };
            touched.extend(found.iter().map(|page| (page.order, ahead.files.len(), page.page)));
            ahead.files.push(source);
        }
        touched.sort_unstable();
        let times: Vec<f64> = pages.files.iter().flat_map(times).collect();
        let count = times.len() as u64;
        ahead.disk = Disk::of_launch(times, count);
        let bytes = pages.page_bytes;
        let range = |page: u64| FileRange { offset: FileOffset(page * bytes), bytes };
        ahead.touched = touched.into_iter().map(|(_, file, page)| (file, range(page))).collect();
        ahead
    }

    /// What the bundle `run` reads ahead: for one with the same layout.
    pub(crate) fn kept(run: &Path, said: &BundleReadAhead) -> Option<PagesAhead> {
        let image = Loadable::open(run).ok()?;
        let list = list(&image)?;
        let nothing = PagesAhead::nothing(&said.command);
        let mut ahead = PagesAhead { mode: said.recorded, disk: said.disk, ..nothing };
        ahead.files.push(TouchedSource::of(run, Some(run)).ok()?);
        let mut numbers = HashMap::new();
        for part in list.parts {
            let number = match part.file {
                None => 0,
                Some(file) => *numbers.entry(file.path.clone()).or_insert_with(|| {
                    ahead.files.push(TouchedSource::listed(file));
                    ahead.files.len() - 1
                }),
            };
            ahead.touched.extend(part.ranges.iter().map(|range| (number, file_range(range))));
        }
        Some(ahead)
    }
}

fn file_range(range: &AheadRange) -> FileRange {
    FileRange { offset: FileOffset(range.offset), bytes: range.length }
}

/// What an image reads ahead.
fn list(image: &Loadable) -> Option<AheadList> {
    let sections = image.sections();
    let header = &sections.iter().find(|section| section.name == LIST_SECTION)?.header;
    let start = header.offset.index();
    let end = start.checked_add(usize::try_from(header.size).ok()?)?;
    AheadList::read(image.bytes().get(start..end)?)
}

/// What a bundle says that it reads ahead, without the other files that have changed since: those come
/// second, by name.
pub(crate) fn still_read(run: &Path, said: BundleReadAhead) -> (BundleReadAhead, Vec<String>) {
    let known = Loadable::open(run).ok().and_then(|image| list(&image));
    let Some(list) = known else { return (said, Vec::new()) };
    let is_same = |file: &BesideFile| {
        TouchedSource::of(&file.path, None).is_ok_and(|now| now.beside() == *file)
    };
    let (same, changed): (Vec<_>, Vec<_>) =
        list.files().into_iter().partition(|(file, _)| is_same(file));
    let now = BundleReadAhead {
        files: same.len() as u64,
        bytes_of_files: same.iter().map(|(_, bytes)| bytes).sum(),
        ..said
    };
    (now, changed.into_iter().map(|(file, _)| text(&file.path)).collect())
}

/// Words for a launch that may have failed.
pub(crate) fn ended_warning(ahead: &PagesAhead) -> Option<String> {
    ahead.ended.as_deref().map(ended_otherwise)
}

/// The same of a launch that ended so.
pub(crate) fn ended_otherwise(ended: &str) -> String {
    format!(
        "The recorded launch {ended}. If that is a failure, make the bundle again with another launch."
    )
}

/// Words for what is left out, if anything is.
pub(crate) fn stale_warning(ahead: &PagesAhead) -> Option<String> {
    let first = ahead.stale.first()?;
    let more = match ahead.stale.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "{first}{more} changed after the launch was recorded, and is not read ahead; record the \
         launch again."
    ))
}

//! A launch of a bundle that was made just now, and what is learned from it.

use super::BundleRecording;
use crate::error::BundleError;
use crate::make::BundleOptions;
use crate::plan::layout::PAGE;
use crate::read_ahead::{PagesAhead, ended_otherwise};
use model::bundle::BundlePopulate;
use model::text::{name, text};
use model::{Command, Ending, FileOffset, Reading};
use os::attend::AttendOptions;
use os::file_pages::{HeldFiles, PagesRequest};
use os::launcher::Stdio;
use os::trace::TraceRequest;
use std::ops::Range;
use std::path::Path;

/// What launches have shown.
#[derive(Default)]
pub(super) struct Learned {
    pub(super) read_ahead: Option<PagesAhead>,
    pub(super) populate: Option<BundlePopulate>,
    /// What is to be told of the launches.
    pub(super) notes: Vec<String>,
}

impl Learned {
    /// Options with it. What was told to be read ahead stays.
    pub(super) fn with(self, options: &BundleOptions) -> BundleOptions {
        let read_ahead = self.read_ahead.or_else(|| options.read_ahead.clone());
        let (populate, of_launches) = (self.populate, self.notes);
        BundleOptions { read_ahead, populate, of_launches, ..options.clone() }
    }
}

/// Why there is no record of a launch.
pub(super) enum NoRecord {
    Refused(os::LaunchError),
    /// What became of the launch, in words.
    Launch(String),
}

/// Whether such launches can be recorded here.
///
/// # Errors
/// Why not.
pub(super) fn permitted(what: BundleRecording) -> Result<(), BundleError> {
    if what.read_ahead {
        os::file_pages::permitted().map_err(BundleError::NotRecorded)?;
    }
    if what.populate {
        os::populate::permitted().map_err(BundleError::NotPopulated)?;
        os::trace::permitted().map_err(BundleError::NotRecorded)?;
    }
    Ok(())
}

/// Records launches of the bundle `run`, of which the last one is warm.
pub(super) fn recorded(
    command: &Command,
    line: &str,
    run: &Path,
    what: BundleRecording,
) -> Result<Learned, NoRecord> {
    let read_ahead = what.read_ahead.then(|| pages_ahead(command, line, run)).transpose()?;
    let mut notes = Vec::new();
    let populate = match what.populate {
        true => Some(pages_in_memory(command, line, run, &mut notes)?),
        false => None,
    };
    Ok(Learned { read_ahead, populate, notes })
}

/// What a cold launch reads.
fn pages_ahead(command: &Command, line: &str, run: &Path) -> Result<PagesAhead, NoRecord> {
    let attend = AttendOptions { cpu: Some(os::host::quiet_cpu()), ..AttendOptions::default() };
    let files = os::cache::mapped_files(command, &attend).map_err(NoRecord::Refused)?;
    let request = PagesRequest {
        until: model::Until::Exit,
        first: None,
        with_read_ahead: false,
        held: HeldFiles::Used,
        options: attend,
    };
    let pages = os::file_pages::record(command, &files.files, &request);
    let pages = pages.map_err(NoRecord::Refused)?;
    ended(pages.ending)?;
    let own = pages.files.iter().find(|file| Path::new(&name(&file.path)) == run);
    if let Some(Reading::Unavailable { reason, .. }) = own.map(|file| &file.touched) {
        let what = format!("could not be recorded, as its pages are not known: {reason}");
        return Err(NoRecord::Launch(what));
    }
    let ended = (pages.ending != Ending::Code(0)).then(|| pages.ending.words());
    Ok(PagesAhead { ended, ..PagesAhead::of_pages(&pages, line, run) })
}

/// What a warm launch has in memory of the bundle at its end.
fn pages_in_memory(
    command: &Command,
    line: &str,
    run: &Path,
    notes: &mut Vec<String>,
) -> Result<BundlePopulate, NoRecord> {
    let mut request = TraceRequest::new(Stdio::null().map_err(NoRecord::Refused)?);
    request.pages_at_exit = Some(text(run));
    let launch = || os::trace::trace(command, &request).map_err(NoRecord::Refused);
    // The first one may read from storage, and has other pages then.
    ended(launch()?.ending)?;
    let launch = launch()?;
    ended(launch.ending)?;
    if launch.ending != Ending::Code(0) {
        notes.push(ended_otherwise(&launch.ending.words()));
    }
    notes.extend(match launch.left_running {
        0 => None,
        1 => Some(
            "The recorded launch left a process running, which headstart has ended.".to_owned(),
        ),
        many => Some(format!(
            "The recorded launch left {many} processes running, which headstart has ended."
        )),
    });
    let pages = match launch.pages {
        Some(Reading::Value(pages)) => pages,
        Some(Reading::Unavailable { reason, .. }) => {
            return Err(NoRecord::Launch(format!("could not be recorded: {reason}")));
        }
        None => {
            let what = "ended as another program, so what it used of the bundle is not known";
            return Err(NoRecord::Launch(what.to_owned()));
        }
    };
    let runs = |ranges: &[Range<FileOffset>]| {
        let run = |range: &Range<FileOffset>| {
            (range.start.0 / PAGE, (range.end.0 - range.start.0) / PAGE)
        };
        ranges.iter().map(run).collect()
    };
    let (shared, copied) = (runs(&pages.shared), runs(&pages.copied));
    Ok(BundlePopulate { command: line.to_owned(), shared, copied, ..BundlePopulate::default() })
}

/// Says where a launch did not end by itself. What a program means by its exit code is its own affair.
fn ended(ending: Ending) -> Result<(), NoRecord> {
    if os::interrupt::requested() {
        return Err(NoRecord::Launch("was interrupted".to_owned()));
    }
    match ending {
        Ending::Code(_) => Ok(()),
        Ending::TimedOut => Err(NoRecord::Launch("did not end within a minute".to_owned())),
        other => Err(NoRecord::Launch(other.words())),
    }
}

//! The places that are looked at before anything else of a recording is read.

use super::{SAMPLES, parts};
use crate::plan::{Amount, plan};
use model::{Disk, Recording, text};
use os::prefetch::{AheadPlan, AheadSample, PlannedFile};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Samples take no more of the beginning of a file.
pub const MOST_SAMPLE_BYTES: usize = 16 << 10;

/// A file that is looked at.
#[derive(Serialize, Deserialize)]
struct SampledFile<'a> {
    path: &'a str,
    size_bytes: u64,
    modified_ns: i64,
}

/// Files, and places in them by the index of the file.
type Samples<'a> = (Vec<SampledFile<'a>>, Vec<(u32, u64)>);

/// The samples of a recording; none where they would take too much room.
pub(super) fn write(recording: &Recording) -> Vec<u8> {
    let plan = plan(recording, Amount::Recorded, Disk::Flash);
    let (mut files, mut indices, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for sample in &plan.samples {
        let place = indices.iter().position(|index| *index == sample.file);
        let place = place.unwrap_or_else(|| {
            let file = &recording.files[sample.file];
            files.push(SampledFile {
                path: &file.path,
                size_bytes: file.identity.size_bytes,
                modified_ns: file.identity.modified_ns,
            });
            indices.push(sample.file);
            indices.len() - 1
        });
        places.push((place as u32, sample.offset));
    }
    let samples: Samples = (files, places);
    let bytes = postcard::to_stdvec(&samples).unwrap_or_default();
    if bytes.len() > MOST_SAMPLE_BYTES { Vec::new() } else { bytes }
}

/// A plan that has samples and asks for nothing, from the first bytes of a recording's file. `None`
/// where that has none, or is no recording. The checksum is not looked at: the worst that wrong samples
/// do is that nothing is read ahead, or for nothing.
pub fn read(beginning: &[u8]) -> Option<AheadPlan> {
    let parts = parts(beginning).ok()?;
    let bytes = parts.rest.get(SAMPLES..)?.get(..parts.samples)?;
    let (files, places): Samples = postcard::from_bytes(bytes).ok()?;
    let file = |file: &SampledFile| PlannedFile {
        path: PathBuf::from(text::name(file.path)),
        size_bytes: file.size_bytes,
        modified_ns: file.modified_ns,
    };
    let sample = |(file, offset)| AheadSample { file: file as usize, offset };
    Some(AheadPlan {
        files: files.iter().map(file).collect(),
        samples: places.into_iter().map(sample).collect(),
        ..AheadPlan::default()
    })
}

//! The images of the set: what they are, and where they go.

use super::moving::{Examined, RebaseOptions, examine};
use super::problem::Problem;
use super::read::read;
use super::remember::Memory;
use super::request::{RebaseRequest, RebasedFile};
use super::set::{Candidate, Mobility, Placement, Policy, Recorded, is_cygwin_runtime, lay_out};
use crate::{Advice, RewriteError};
use image::ImageError;
use image::pe::{Pe, PeFile};
use model::Va;
use model::rebase::RebasedImage;
use rayon::prelude::*;
use std::ops::Range;
use std::path::Path;

/// Smaller files are read sooner than they are mapped.
const SMALL_BYTES: u64 = 1 << 20;

/// Looks at all files without changing anything.
pub(super) fn examine_all(request: &RebaseRequest) -> Result<Vec<RebasedFile>, RewriteError> {
    let images = request.rewrite.files.par_iter().map_init(Vec::new, |buffer, file| {
        let examined = |name: &str, pe: &Pe<'_>| {
            let examined = examine(name, pe, request.options());
            RebasedFile::new(file, examined, pe.headers().time_stamp, request)
        };
        let data = file.metadata().ok().filter(|data| data.is_file());
        if let Some(length) = data.map(|data| data.len()).filter(|length| *length <= SMALL_BYTES) {
            read(file, Some(length), buffer)?;
            let name = file.display().to_string();
            return Ok(examined(&name, &Pe::parse(&name, buffer).map_err(ImageError::from)?));
        }
        let image = PeFile::open(file)?;
        Ok(examined(image.name(), &image.pe()))
    });
    images.collect()
}

impl RebasedFile {
    /// What is known before it has a place.
    pub(super) fn new(
        file: &Path,
        examined: Examined,
        time_stamp: u32,
        request: &RebaseRequest,
    ) -> RebasedFile {
        let Standing { stays, refused, advice } = standing(file, &examined, request);
        let image = RebasedImage {
            file: file.display().to_string(),
            old_base: examined.base,
            new_base: examined.base,
            size_of_image: examined.memory_bytes,
            slot_bytes: 0,
            relocations: examined.relocations,
            unbound: false,
            signature_removed: false,
            strong_name_removed: false,
            written: None,
            stays,
            refused,
        };
        RebasedFile { examined, image, time_stamp, collides: false, advice }
    }

    fn candidate(&self, recorded: Option<Recorded>) -> Candidate {
        let stays = self.image.stays.is_some() || self.image.refused.is_some();
        let mobility = if stays { Mobility::Stays } else { Mobility::Moves };
        let candidate = Candidate::of(self.image.file.clone(), &self.examined, mobility);
        Candidate { recorded, ..candidate }
    }

    fn put(&mut self, placement: Placement) {
        self.image.new_base = placement.base;
        self.image.slot_bytes = placement.slot_bytes;
        self.collides = placement.collides;
    }
}

/// Why an image stays or is refused, if so, and what can be done about it.
#[derive(Default)]
struct Standing {
    stays: Option<String>,
    refused: Option<String>,
    advice: Option<Advice>,
}

fn standing(file: &Path, examined: &Examined, request: &RebaseRequest) -> Standing {
    let stays =
        |reason: &str, advice| Standing { stays: Some(reason.to_owned()), refused: None, advice };
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    if request.policy == Policy::Cygwin && is_cygwin_runtime(&name) {
        return stays("it has a place of its own, which Cygwin reserves", None);
    }
    if examined.program && !request.programs {
        let movable = examined.obstacle.is_none();
        let advice = movable.then_some(Advice::MovePrograms);
        return stays("it is a program, which is loaded first", advice);
    }
    match (&examined.obstacle, request.policy) {
        (None, _) => Standing::default(),
        (Some(problem @ Problem::Stripped { .. }), Policy::Auto | Policy::Cygwin) => {
            stays(&problem.to_string(), None)
        }
        // It may be that it need not be moved.
        (Some(Problem::Signed { .. }), _) => Standing::default(),
        (Some(problem), _) => {
            Standing { stays: None, refused: Some(problem.to_string()), advice: problem.advice() }
        }
    }
}

/// Finds a place for each. Signed images that would have to be moved are refused; the others keep
/// clear of them then.
pub(super) fn place_all(
    files: &mut [RebasedFile],
    memory: &Memory,
    request: &RebaseRequest,
) -> Result<(), RewriteError> {
    loop {
        place_once(files, memory, request)?;
        let mut again = false;
        for RebasedFile { image, examined, advice, .. } in files.iter_mut() {
            if let Some(problem @ Problem::Signed { .. }) = &examined.obstacle
                && image.moves()
                && image.refused.is_none()
            {
                image.refused = Some(problem.to_string());
                *advice = problem.advice();
                image.new_base = image.old_base;
                again = true;
            }
        }
        if !again {
            return Ok(());
        }
    }
}

fn place_once(
    files: &mut [RebasedFile],
    memory: &Memory,
    request: &RebaseRequest,
) -> Result<(), RewriteError> {
    let candidates: Vec<Candidate> = files
        .iter()
        .enumerate()
        .map(|(index, file)| file.candidate(memory.recorded(index)))
        .collect();
    let mut taken = memory.others();
    for file in &request.avoid {
        taken.push(avoided(file)?);
    }
    let placements = lay_out(&candidates, &taken, request.policy)?;
    for (file, placement) in files.iter_mut().zip(placements) {
        file.put(placement);
    }
    Ok(())
}

fn avoided(file: &Path) -> Result<Range<Va>, ImageError> {
    let image = PeFile::open(file)?;
    let examined = examine(image.name(), &image.pe(), RebaseOptions::default());
    Ok(examined.base..examined.base.saturating_add(examined.memory_bytes))
}

//! The images of the set: what they are, and where they go.

use super::moving::{Examined, RebaseOptions, examine};
use super::problem::Problem;
use super::read::read;
use super::remember::Memory;
use super::request::{RebaseRequest, RebasedFile, Standing};
use super::set::{Candidate, Mobility, Policy, is_cygwin_runtime, lay_out};
use crate::{Advice, RefusalReason, RewriteError};
use image::ImageError;
use image::pe::{Pe, PeFile};
use model::Va;
use rayon::prelude::*;
use std::fs::Metadata;
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
        let small = |data: &Metadata| data.is_file() && data.len() <= SMALL_BYTES;
        if file.metadata().is_ok_and(|data| small(&data)) {
            read(file, buffer)?;
            let name = file.display().to_string();
            return Ok(examined(&name, &Pe::parse(&name, buffer)?));
        }
        let image = PeFile::open(file)?;
        Ok(examined(image.name(), &image.pe()))
    });
    images.collect()
}

impl RebaseRequest {
    /// Whether an image may be moved.
    pub(super) fn standing(&self, file: &Path, examined: &Examined) -> Standing {
        let stays = |reason: &str| Standing::Stays(reason.into());
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if self.policy == Policy::Cygwin && is_cygwin_runtime(&name) {
            return stays("it has a place of its own, which Cygwin reserves");
        }
        if examined.program && !self.programs {
            let advice = examined.obstacle.is_none().then_some(Advice::MovePrograms);
            let reason = RefusalReason::from("it is a program, which is loaded first");
            return Standing::Stays(reason.with(advice));
        }
        match (&examined.obstacle, self.policy) {
            (None, _) => Standing::Moves,
            (Some(problem @ Problem::Stripped(_)), Policy::Auto | Policy::Cygwin) => {
                Standing::Stays(problem.reason())
            }
            // It may be that it need not be moved.
            (Some(Problem::Signed(_)), _) => Standing::Moves,
            (Some(problem), _) => Standing::Refused(problem.reason()),
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
        for file in files.iter_mut().filter(|file| file.moves()) {
            if let Some(Problem::Signed(reason)) = &file.examined.obstacle {
                file.standing = Standing::Refused(reason.clone());
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
    let candidate = |(index, file): (usize, &RebasedFile)| {
        let moves = file.standing == Standing::Moves;
        let mobility = if moves { Mobility::Moves } else { Mobility::Stays };
        let candidate = Candidate::of(file.file.display().to_string(), &file.examined, mobility);
        Candidate { recorded: memory.recorded(index), ..candidate }
    };
    let candidates: Vec<Candidate> = files.iter().enumerate().map(candidate).collect();
    let mut taken = memory.others();
    for file in &request.avoid {
        taken.push(avoided(file)?);
    }
    let placements = lay_out(&candidates, &taken, request.policy)?;
    for (file, placement) in files.iter_mut().zip(placements) {
        file.placement = placement;
    }
    Ok(())
}

fn avoided(file: &Path) -> Result<Range<Va>, ImageError> {
    let image = PeFile::open(file)?;
    let examined = examine(image.name(), &image.pe(), RebaseOptions::default());
    Ok(examined.base..examined.base.saturating_add(examined.memory_bytes))
}

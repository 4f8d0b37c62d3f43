//! The images of the set: what they are, and where they go.

use super::read::read;
use super::remember::Memory;
use super::{Arguments, usage};
use crate::commands::dll_set::few;
use ::dlls::rebase::{self, Candidate, Examined, Place, Policy, Problem, Recorded, Role};
use ::dlls::signature::Signatures;
use anyhow::Result;
use image::ImageError;
use image::pe::{Pe, PeFile};
use model::figures;
use model::rebase::RebasedImage;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// Smaller files are read sooner than they are mapped.
const SMALL_BYTES: u64 = 1 << 20;

/// An image of the set.
pub struct Member {
    /// What was found.
    pub examined: Examined,
    /// What is told of it.
    pub image: RebasedImage,
    /// `TimeDateStamp` of the file that was written.
    pub time_stamp: u32,
    /// Two images that stay are at one place.
    collides: bool,
}

/// Looks at all files without changing anything.
pub fn examine(arguments: &Arguments) -> Result<Vec<Member>> {
    let members = arguments.target.files.par_iter().map_init(Vec::new, |buffer, file| {
        let examine = |name: &str, pe: &Pe<'_>| {
            let examined = rebase::examine(name, pe, arguments.options());
            Member::new(file, examined, pe.headers().time_stamp, arguments)
        };
        let data = file.metadata().ok().filter(|data| data.is_file());
        if let Some(length) = data.map(|data| data.len()).filter(|length| *length <= SMALL_BYTES) {
            read(file, Some(length), buffer)?;
            let name = file.display().to_string();
            return Ok(examine(&name, &Pe::parse(&name, buffer).map_err(ImageError::from)?));
        }
        let image = PeFile::open(file)?;
        Ok(examine(image.name(), &image.pe()))
    });
    members.collect()
}

impl Member {
    /// What is known before it has a place.
    pub fn new(file: &Path, examined: Examined, time_stamp: u32, arguments: &Arguments) -> Member {
        let (stays, refused) = standing(file, &examined, arguments);
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
        Member { examined, image, time_stamp, collides: false }
    }

    fn candidate(&self, recorded: Option<Recorded>) -> Candidate {
        let stays = self.image.stays.is_some() || self.image.refused.is_some();
        let role = if stays { Role::Stays } else { Role::Moves };
        let candidate = Candidate::of(self.image.file.clone(), &self.examined, role);
        Candidate { recorded, ..candidate }
    }

    fn put(&mut self, place: Place) {
        self.image.new_base = place.base;
        self.image.slot_bytes = place.slot_bytes;
        self.collides = place.collides;
    }
}

/// Why an image stays, and why it is refused.
fn standing(
    file: &Path,
    examined: &Examined,
    arguments: &Arguments,
) -> (Option<String>, Option<String>) {
    let policy = arguments.policy();
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    if policy == Policy::Cygwin && rebase::is_cygwin_runtime(&name) {
        return (Some("it has a place of its own, which Cygwin reserves".to_owned()), None);
    }
    if examined.program && !arguments.programs {
        let reason = match examined.obstacle {
            None => "it is a program, which is loaded first (--programs moves it too)",
            Some(_) => "it is a program, which is loaded first",
        };
        return (Some(reason.to_owned()), None);
    }
    match (&examined.obstacle, policy) {
        (None, _) => (None, None),
        (Some(problem @ Problem::Stripped { .. }), Policy::Auto | Policy::Cygwin) => {
            (Some(problem.to_string()), None)
        }
        // It may be that it need not be moved.
        (Some(Problem::Signed(_)), _) => (None, None),
        (Some(problem), _) => (None, Some(problem.to_string())),
    }
}

/// Finds a place for each. Signed images that would have to be moved are refused; the others keep
/// clear of them then.
pub fn lay_out(members: &mut [Member], memory: &Memory, arguments: &Arguments) -> Result<()> {
    loop {
        lay_out_once(members, memory, arguments)?;
        let mut again = false;
        for Member { image, examined, .. } in members.iter_mut() {
            if let Some(problem @ Problem::Signed(_)) = &examined.obstacle
                && image.moves()
                && image.refused.is_none()
            {
                image.refused = Some(problem.to_string());
                image.new_base = image.old_base;
                again = true;
            }
        }
        if !again {
            return Ok(());
        }
    }
}

fn lay_out_once(members: &mut [Member], memory: &Memory, arguments: &Arguments) -> Result<()> {
    let candidates: Vec<Candidate> = members
        .iter()
        .enumerate()
        .map(|(index, member)| member.candidate(memory.recorded(index)))
        .collect();
    let mut taken = memory.others();
    for file in &arguments.avoid {
        taken.push(avoided(file)?);
    }
    let places = rebase::lay_out(&candidates, &taken, arguments.policy()).map_err(usage)?;
    for (member, place) in members.iter_mut().zip(places) {
        member.put(place);
    }
    Ok(())
}

fn avoided(file: &Path) -> Result<Range<u64>> {
    let image = PeFile::open(file)?;
    let examined = rebase::examine(image.name(), &image.pe(), rebase::Options::default());
    Ok(examined.base..examined.base.saturating_add(examined.memory_bytes))
}

/// What a user should know besides.
pub fn notes(members: &[Member]) -> Vec<String> {
    let mut notes = Vec::new();
    let moved = || members.iter().filter(|member| member.image.moves());
    let aslr = moved().filter(|member| member.examined.dynamic_base).count() as u64;
    // Windows loads no image for ARM without the flag.
    let needed = |member: &Member| member.examined.dynamic_base && member.examined.arm;
    if aslr > 0 {
        let advice = match moved().any(needed) {
            true => "",
            false => {
                "; `headstart pe flags --clear dynamicbase` on the moved files makes it use the \
                 base"
            }
        };
        notes.push(format!(
            "{} DYNAMICBASE: Windows loads such DLLs elsewhere, whatever their base (Wine does \
             not){advice}",
            figures::plural(aslr, "image has", "images have")
        ));
    }
    let unbound = moved().filter(|member| member.image.unbound).count() as u64;
    if unbound > 0 {
        notes.push(format!(
            "{} bound; `headstart pe bind` binds images again to the DLLs that it finds",
            figures::plural(unbound, "image is no longer", "images are no longer")
        ));
    }
    notes.extend(signatures(members));
    let high = |member: &&Member| {
        let end = member.image.new_base.saturating_add(member.image.slot_bytes);
        member.examined.address_end == 1 << 32 && end > 1 << 31
    };
    let high = moved().filter(high).count() as u64;
    if high > 0 {
        notes.push(format!(
            "{} above 2 GiB, which only programs with LARGEADDRESSAWARE can use",
            figures::plural(high, "image is", "images are")
        ));
    }
    for member in members.iter().filter(|member| member.collides && !member.examined.program) {
        notes.push(format!(
            "{} is at {:#x}, as is another image that stays",
            member.image.file, member.image.new_base
        ));
    }
    notes
}

/// What is told of images that lost signatures, the same text once.
fn signatures(members: &[Member]) -> Vec<String> {
    let mut told: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for image in members.iter().map(|member| &member.image) {
        let removed = Signatures {
            authenticode: image.signature_removed,
            strong_name: image.strong_name_removed,
            enforced: false,
        };
        if let Some(note) = removed.removed() {
            told.entry(note).or_default().push(image.file.clone());
        }
    }
    told.into_iter().map(|(note, files)| format!("{}: {note}", few(&files))).collect()
}

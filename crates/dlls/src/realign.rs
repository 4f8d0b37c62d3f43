//! Another `FileAlignment`: where in its file an image keeps the data of its sections.
//!
//! What is in memory stays the same to the last byte, so programs do not notice. Loaders do: Wine
//! maps a section from the file only where it begins at a page there, and otherwise reads it into
//! memory of the process's own.
//!
//! Format: *Optional Header Windows-Specific Fields* and *Section Table*.

mod fields;
mod layout;
mod proof;

use crate::{Advice, Refusal, RefusalReason};
use image::pe::edit::PeDraft;
use image::pe::{PAGE, Pe, SECTOR};
use layout::Layout;
use model::figures;

/// What is wanted.
#[derive(Clone, Copy, Debug)]
pub struct RealignOptions {
    /// `FileAlignment`: a power of two from 512 to 65536.
    pub file_alignment: u32,
    /// Rewrites files to whose end something was appended; it moves with the end.
    pub keep_overlay: bool,
}

/// What was done to a file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Realigned {
    /// `FileAlignment` before.
    pub alignment_before: u32,
    /// `FileAlignment` now.
    pub alignment: u32,
    /// Sections with data in the file.
    pub sections: u32,
    /// Of these, sections that did not begin at a page of the file (4096 bytes).
    pub off_page_before: u32,
    /// The same now.
    pub off_page: u32,
    /// Size of the file before.
    pub bytes_before: u64,
    /// Size of the file now.
    pub bytes: u64,
    /// Bytes that somebody has appended to the image; they are kept.
    pub overlay_bytes: u64,
}

/// The largest `FileAlignment` of the format.
const MAX_ALIGNMENT: u32 = 64 << 10;

/// Moves the data of a file's sections to multiples of `file_alignment`, and changes everything
/// that says where they are. `path` is the file's name in errors.
///
/// # Errors
/// The file cannot be laid out like this, or contradicts itself. The draft is half changed then,
/// and of no use.
pub fn realign(
    draft: &mut PeDraft,
    path: &str,
    options: &RealignOptions,
) -> Result<Realigned, Refusal> {
    realigned(draft, path, options).map_err(|reason| Refusal::new(path, reason))
}

fn realigned(
    draft: &mut PeDraft,
    path: &str,
    options: &RealignOptions,
) -> Result<Realigned, RefusalReason> {
    let wanted = options.file_alignment;
    possible(draft, wanted)?;
    let before = Figures::of(draft);
    let (layout, overlay_bytes) = {
        let file = draft.pe();
        let layout = Layout::of(&file, wanted)?;
        let overlay_bytes = file.appended_bytes_in(layout.tail());
        if overlay_bytes > 0 && !options.keep_overlay {
            return Err(RefusalReason::from(appended(overlay_bytes)).with(Advice::KeepOverlay));
        }
        (layout, overlay_bytes)
    };
    let signed = draft.pe().certificate_range().map(|_| draft.bytes().to_vec());
    fields::set(draft, &layout, wanted)?;
    let new = layout.apply(draft.bytes())?;
    if signed.is_some_and(|signed| signed != new) {
        return Err("it is signed; remove its signature first".into());
    }
    let moved = Pe::parse(path, &new).map_err(|error| error.to_string())?;
    proof::same_memory(&draft.pe(), &moved)?;
    draft.replace(path, new).map_err(|error| error.to_string())?;
    let after = Figures::of(draft);
    Ok(Realigned {
        alignment_before: before.alignment,
        alignment: after.alignment,
        sections: after.sections,
        off_page_before: before.off_page,
        off_page: after.off_page,
        bytes_before: before.bytes,
        bytes: after.bytes,
        overlay_bytes,
    })
}

/// Why an image with appended data stays as it is.
fn appended(bytes: u64) -> String {
    format!(
        "{} are appended to it, as to installers, self-extracting archives and single-file \
         programs. They would move, and a program that expects them at a fixed offset would not \
         find them",
        figures::bytes(bytes)
    )
}

/// Whether an image can have this alignment at all.
fn possible(draft: &PeDraft, wanted: u32) -> Result<(), String> {
    let section_alignment = draft.headers().section_alignment;
    if !wanted.is_power_of_two() || !(SECTOR..=MAX_ALIGNMENT).contains(&wanted) {
        return Err(format!(
            "{wanted} is not a file alignment: it must be a power of two from {SECTOR} to \
             {MAX_ALIGNMENT}"
        ));
    }
    if section_alignment < PAGE {
        return Err(format!(
            "its sections are aligned to {section_alignment} bytes in memory (SectionAlignment), \
             less than a page, so the file must have the same layout as the memory"
        ));
    }
    if wanted > section_alignment {
        return Err(format!(
            "its sections are aligned to {section_alignment} bytes in memory, and their alignment \
             in the file must not be larger (FileAlignment ≤ SectionAlignment)"
        ));
    }
    Ok(())
}

struct Figures {
    alignment: u32,
    sections: u32,
    off_page: u32,
    bytes: u64,
}

impl Figures {
    fn of(draft: &PeDraft) -> Figures {
        let headers = draft.headers();
        let in_file = headers.sections.iter().filter(|section| section.is_in_file());
        let off_page =
            in_file.clone().filter(|section| !section.offset.0.is_multiple_of(PAGE.into()));
        Figures {
            alignment: headers.file_alignment,
            sections: in_file.count() as u32,
            off_page: off_page.count() as u32,
            bytes: draft.bytes().len() as u64,
        }
    }
}

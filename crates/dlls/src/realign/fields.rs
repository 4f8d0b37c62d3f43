//! The fields that say where data is in the file, set while it still is where it was.

use super::layout::Layout;
use image::pe::edit::{OutsideFile, PeDraft};
use image::pe::{SectionHeader, spec};
use model::FileOffset;

/// Sets them for a new layout.
pub(super) fn set(draft: &mut PeDraft, layout: &Layout, alignment: u32) -> Result<(), String> {
    // The debug directory is found by the sections' places, so it is read before they change.
    let pointers = pointers(draft, layout)?;
    let written = || -> Result<(), OutsideFile> {
        for (at, to) in pointers {
            draft.write(at, &to.to_le_bytes())?;
        }
        totals(draft, layout)?;
        let headers = draft.headers();
        let (file_alignment, header_bytes) =
            (headers.file_alignment_offset(), headers.header_bytes_offset());
        draft.write(file_alignment, &alignment.to_le_bytes())?;
        draft.write(header_bytes, &(layout.header_bytes() as u32).to_le_bytes())?;
        for piece in &layout.pieces {
            let Some(index) = piece.section else { continue };
            let at = draft.headers().section_data_offset(index);
            draft.write(at, &(piece.bytes as u32).to_le_bytes())?;
            draft.write(at + 4, &(piece.to.0 as u32).to_le_bytes())?;
        }
        Ok(())
    };
    written().map_err(|error| error.to_string())
}

/// Fields and their new values. One that leads out of the file must not come to lead into it.
fn pointers(draft: &PeDraft, layout: &Layout) -> Result<Vec<(FileOffset, u32)>, String> {
    let length = FileOffset::at(draft.bytes().len());
    let mut pointers = Vec::new();
    for field in draft.pe().offset_fields() {
        if field.data.end > length {
            if field.data.start < layout.end() {
                pointers.push((field.at, 0));
            }
            continue;
        }
        match layout.place(&field.data) {
            Some(to) => pointers.push((field.at, to.0 as u32)),
            None => {
                let (what, start) = (field.what, field.data.start);
                return Err(format!(
                    "its {what} at offset {start:#x} cross sections; the file is damaged"
                ));
            }
        }
    }
    Ok(pointers)
}

/// `SizeOfCode` and `SizeOfInitializedData`, where they are the sums of what sections have in the
/// file, as most linkers write them; loaders do not look.
fn totals(draft: &mut PeDraft, layout: &Layout) -> Result<(), OutsideFile> {
    let start = draft.headers().code_bytes_offset();
    let kinds = [spec::IMAGE_SCN_CNT_CODE, spec::IMAGE_SCN_CNT_INITIALIZED_DATA];
    for (at, kind) in [start, start + 4].into_iter().zip(kinds) {
        let stored = draft.bytes().get(at.index()..).and_then(<[u8]>::first_chunk);
        let stored = stored.map(|bytes| u64::from(u32::from_le_bytes(*bytes)));
        let of_kind = |section: &SectionHeader| section.flags & kind != 0;
        let sections = &draft.headers().sections;
        let old = sections.iter().filter(|section| of_kind(section));
        let old: u64 = old.map(|section| u64::from(section.file_bytes)).sum();
        if stored != Some(old) {
            continue;
        }
        let pieces = layout.pieces.iter().filter(|piece| {
            piece.section.and_then(|index| sections.get(index)).is_some_and(of_kind)
        });
        let new: u64 = pieces.map(|piece| piece.bytes).sum();
        let outside = sections.iter().filter(|section| of_kind(section) && !section.is_in_file());
        let outside: u64 = outside.map(|section| u64::from(section.file_bytes)).sum();
        let new = u32::try_from(new + outside).unwrap_or(u32::MAX);
        draft.write(at, &new.to_le_bytes())?;
    }
    Ok(())
}

//! `headstart pe realign`: where in their files PE images keep the data of their sections.

use crate::args::DllArgs;
use crate::progress::FileProgress;
use crate::refusals;
use crate::rewritten;
use anyhow::Result;
use dlls::realign::{RealignOptions, Realigned, realign};
use dlls::rewrite::{RewrittenFile, rewrite_each};
use image::pe::edit::PeDraft;
use model::figures;
use report::realign::RealignRow;
use std::process::ExitCode;

/// Align the sections of Windows programs and DLLs to pages in their files
///
/// Linkers pack sections at multiples of 512 bytes (FileAlignment). Wine maps a section only if it
/// begins at a page of the file; otherwise it reads it, and every process has its own copy. The
/// contents in memory do not change, and all file offsets are adjusted. --file-alignment 512 packs
/// the sections again.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    target: DllArgs,
    /// Alignment of sections in the file: a power of two from 512 to 65536
    #[arg(long, value_name = "BYTES", default_value_t = 4096, value_parser = alignment)]
    file_alignment: u32,
    /// Also move what was appended to an image, such as the archive of an installer. A program
    /// that looks for it at a fixed place does not find it any more
    #[arg(long)]
    keep_overlay: bool,
}

fn alignment(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(bytes @ 512..=65536) if u32::is_power_of_two(bytes) => Ok(bytes),
        _ => Err("it must be 512, 1024, 2048, 4096, … or 65536".to_owned()),
    }
}

/// Moves them, or takes that back.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let Arguments { target, file_alignment, keep_overlay } = arguments;
    if target.undo {
        return rewritten::undo(target);
    }
    let options = RealignOptions { file_alignment: *file_alignment, keep_overlay: *keep_overlay };
    let realign = |draft: &mut PeDraft, path: &str| realign(draft, path, &options);
    let files = rewrite_each(&target.request(), &FileProgress, realign).map_err(refusals::error)?;
    rewritten::print(
        target,
        &files,
        || rewritten::json(target, &files, |file| rewritten::object(file, &file.done, notes(file))),
        |place, style| {
            let rows: Vec<RealignRow> = files.iter().map(row).collect();
            report::realign::table(&rows, place, style)
        },
    )
}

fn row(file: &RewrittenFile<Realigned>) -> RealignRow {
    let done = &file.done;
    RealignRow {
        file: file.name(),
        alignment: (done.alignment_before, done.alignment),
        sections: done.sections,
        off_page: (done.off_page_before, done.off_page),
        bytes: (done.bytes_before, done.bytes),
        notes: notes(file),
    }
}

fn notes(file: &RewrittenFile<Realigned>) -> Vec<String> {
    let overlay = (file.done.overlay_bytes > 0).then(|| {
        let bytes = figures::bytes(file.done.overlay_bytes);
        format!("{bytes} after the image moved with its end; test whether the program finds them")
    });
    rewritten::notes(file).into_iter().chain(overlay).collect()
}

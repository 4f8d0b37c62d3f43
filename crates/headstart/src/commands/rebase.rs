//! `headstart pe rebase`: a set of DLLs at bases of their own.

mod notes;

use crate::args::{DllArgs, address};
use crate::exit;
use crate::find;
use crate::output;
use crate::progress::FileProgress;
use crate::refusals;
use crate::rewritten;
use anyhow::Result;
use dlls::rebase::{Policy, RebaseRequest, RebasedFile, Standing, rebase_set};
use model::Va;
use model::rebase::{RebaseMap, RebasedImage};
use std::path::PathBuf;
use std::process::ExitCode;

/// Give DLLs preferred bases that do not collide, so that none is relocated when it is loaded
///
/// If the preferred base of a DLL is taken, the loader relocates it in every process: pages with
/// addresses are read, changed and private. This helps where preferred bases are honored: Cygwin
/// and MSYS2 (where fork fails on collisions), Wine, and Windows for DLLs without DYNAMICBASE.
/// Programs and images without relocations stay where they are, and the others avoid them.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("policy").multiple(false))]
pub struct Arguments {
    #[command(flatten)]
    target: DllArgs,
    /// Place the DLLs one after another, from this address upwards (hexadecimal, a multiple of
    /// 0x10000)
    #[arg(long, value_name = "HEX", value_parser = address, group = "policy", conflicts_with = "undo")]
    base: Option<u64>,
    /// Place them where linkers and systems put nothing; a DLL that collides with nothing stays,
    /// unless it is at a linker's default base (this is the default)
    #[arg(long, group = "policy", conflicts_with = "undo")]
    auto: bool,
    /// Place them where Cygwin's rebaseall does: downwards from 0x400000000, or 0x70000000 on i386
    #[arg(long, group = "policy", conflicts_with = "undo")]
    cygwin: bool,
    /// Keep the bases in this file, so that a DLL that is added later does not move the others
    #[arg(long, value_name = "FILE", conflicts_with = "undo")]
    database: Option<PathBuf>,
    /// Keep clear of this image, which is not rewritten (may be repeated)
    #[arg(long, value_name = "FILE", conflicts_with = "undo")]
    avoid: Vec<PathBuf>,
    /// Move programs too
    #[arg(long, conflicts_with = "undo")]
    programs: bool,
    /// Leave TimeDateStamp as it is; programs bound to a moved DLL then call wrong addresses
    #[arg(long, conflicts_with = "undo")]
    keep_time_stamp: bool,
}

impl Arguments {
    fn request(&self) -> RebaseRequest {
        RebaseRequest {
            rewrite: self.target.request(),
            policy: match self.base {
                Some(base) => Policy::From(Va(base)),
                None if self.cygwin => Policy::Cygwin,
                None => Policy::Auto,
            },
            database: self.database.clone(),
            avoid: find::named_or_fitting(&self.avoid),
            programs: self.programs,
            keep_time_stamp: self.keep_time_stamp,
        }
    }
}

/// Lays the set out, rewrites it, and tells.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let target = &arguments.target;
    if target.undo {
        return rewritten::undo(target);
    }
    let files = rebase_set(&arguments.request(), &FileProgress).map_err(refusals::error)?;
    print(&files, target)
}

fn print(files: &[RebasedFile], target: &DllArgs) -> Result<ExitCode> {
    let map = RebaseMap {
        schema: model::rebase::SCHEMA,
        images: files.iter().map(with_advice).collect(),
        notes: notes::notes(files),
    };
    let refused = map.images.iter().find_map(|image| Some((&image.file, image.refused.as_ref()?)));
    output::print(&if target.json {
        report::export::json(&map)?
    } else if target.dry_run {
        report::rebase::map(&map, &output::style())
    } else if let (Some((path, reason)), [_]) = (refused, files) {
        // One file: an error like any other.
        return Err(refusals::declined(path, reason));
    } else {
        let written = files.iter().filter(|file| file.written.is_some()).count();
        let place = rewritten::place(target, written, files.len());
        let place = place.map(|place| place + "\n");
        report::rebase::done(&map, &output::style()) + &place.unwrap_or_default()
    })?;
    Ok(if refused.is_some() { ExitCode::from(exit::NO) } else { ExitCode::SUCCESS })
}

/// What is told of an image, with what can be done where it stays or is refused.
fn with_advice(file: &RebasedFile) -> RebasedImage {
    let (stays, refused) = match &file.standing {
        Standing::Moves => (None, None),
        Standing::Stays(reason) => (Some(refusals::advised(reason)), None),
        Standing::Refused(reason) => (None, Some(refusals::advised(reason))),
    };
    RebasedImage {
        file: file.file.display().to_string(),
        old_base: file.examined.base,
        new_base: file.placement.base,
        size_of_image: file.examined.memory_bytes,
        slot_bytes: file.placement.slot_bytes,
        relocations: file.examined.relocations,
        unbound: file.unbound,
        signature_removed: file.stripped.authenticode,
        strong_name_removed: file.stripped.strong_name,
        written: file.written.as_ref().map(|path| path.display().to_string()),
        stays,
        refused,
    }
}

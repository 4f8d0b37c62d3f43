//! Whether the answers are right: ELF files by `inspect`'s reader, which maps the whole file.

use crate::check_real::report::Row;
use anyhow::Result;
use image::identify::identify;
use model::{FileKind, ImageKind, Role};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// One row: differences over all ELF files.
pub(super) fn rows(all: &[PathBuf]) -> Result<Vec<Row>> {
    let compared: Vec<Option<String>> =
        all.par_iter().filter_map(|path| difference(path).transpose()).collect::<Result<_>>()?;
    let differences: Vec<&String> = compared.iter().flatten().collect();
    for difference in &differences {
        println!("{difference}");
    }
    let figure = format!("differences from inspect in {} ELF files", compared.len());
    let count = differences.len();
    Ok(vec![Row::bar(figure, count.to_string(), "0", count == 0)])
}

/// `None` for files that are not ELF, else what the two say differently, if anything.
fn difference(path: &Path) -> Result<Option<Option<String>>> {
    let found = identify(path)?;
    if found.kind != FileKind::Elf {
        return Ok(None);
    }
    let facts = match image::elf::facts(path) {
        Ok(facts) => facts,
        // Damaged on purpose: both must say so.
        Err(_) if found.role.is_none() => return Ok(Some(None)),
        Err(error) => return Ok(Some(Some(format!("{error}; identify: {found:?}")))),
    };
    // inspect says nothing of it, and takes the headers for those of an image.
    let is_debug = facts.has_debug_info && found.detail.starts_with("debug information");
    let same = (found.role == Some(role(facts.kind)) || is_debug)
        && found.machine.as_ref() == Some(&facts.machine)
        && found.interpreter == facts.interpreter.map(|path| path.0);
    let text = || format!("{}: inspect {:?}, identify {found:?}", path.display(), facts.kind);
    Ok(Some((!same).then(text)))
}

fn role(kind: ImageKind) -> Role {
    match kind {
        ImageKind::Executable => Role::Executable,
        ImageKind::PositionIndependentExecutable => Role::Pie,
        ImageKind::StaticExecutable => Role::Static,
        ImageKind::StaticPie => Role::StaticPie,
        ImageKind::SharedLibrary => Role::Library,
        ImageKind::Loader => Role::Loader,
        ImageKind::Object => Role::Object,
        ImageKind::Core => Role::Core,
    }
}

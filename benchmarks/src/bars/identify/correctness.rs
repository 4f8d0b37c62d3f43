//! Whether the answers are right: ELF and PE files by `inspect`'s readers, which map whole files.

use crate::report::Row;
use anyhow::Result;
use image::ImageError;
use image::identify::identify;
use model::{FileKind, Identity, ImageKind, PeFacts, Role, Runtime};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// A row for each format: differences over all files of it.
pub(super) fn rows(all: &[PathBuf]) -> Result<Vec<Row>> {
    let identities: Vec<Identity> =
        all.par_iter().map(|path| identify(path)).collect::<Result<_, _>>()?;
    let row = |kind, name: &str, agrees: fn(&Identity) -> Result<bool, ImageError>| {
        let of_kind: Vec<&Identity> =
            identities.iter().filter(|found| found.kind == kind).collect();
        // A file that is too damaged for inspect is one that identify knows no use of.
        let differs = |found: &&&Identity| !agrees(found).unwrap_or(found.role.is_none());
        let differences: Vec<&&Identity> = of_kind.par_iter().filter(differs).collect();
        differences.iter().for_each(|found| println!("differs from inspect: {found:?}"));
        let figure = format!("differences from inspect in {} {name} files", of_kind.len());
        Row::bar(figure, differences.len().to_string(), "0", differences.is_empty())
    };
    Ok(vec![row(FileKind::Elf, "ELF", elf_agrees), row(FileKind::Pe, "PE", pe_agrees)])
}

fn elf_agrees(found: &Identity) -> Result<bool, ImageError> {
    let facts = image::elf::facts(Path::new(&found.path))?;
    // inspect says nothing of it, and takes the headers for those of an image.
    let is_debug = facts.has_debug_info && found.detail.starts_with("debug information");
    Ok((found.role == Some(role(facts.kind)) || is_debug)
        && found.machine.as_ref() == Some(&facts.machine)
        && found.interpreter == facts.interpreter.map(|path| path.0))
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

fn pe_agrees(found: &Identity) -> Result<bool, ImageError> {
    let facts = image::pe::facts(Path::new(&found.path))?;
    let subsystem = found.subsystem.map(|subsystem| subsystem.word().replace('_', " "));
    let says = |runtime| found.runtimes.contains(&runtime);
    Ok(found.machine.as_ref() == Some(&facts.machine)
        && subsystem.unwrap_or_default() == facts.subsystem
        && says(Runtime::Cygwin) == imports(&facts, "cygwin1.dll")
        && says(Runtime::Msys) == imports(&facts, "msys-2.0.dll"))
}

fn imports(facts: &PeFacts, library: &str) -> bool {
    let at_start = facts.imported.iter().filter(|dll| !dll.delayed);
    at_start.map(|dll| &dll.name).any(|name| name.eq_ignore_ascii_case(library))
}

//! rustc. Where rustup chooses among several, the bundle is that of the one which is chosen now, and is used
//! where that is chosen by variables of the environment, as in all that a cargo of rustup starts.

use super::find;
use super::tool::{Tool, Tools};
use crate::error::BundleError;
use model::text::text;
use model::toolchain::{ToolSelection, Toolchain};
use std::collections::BTreeMap;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The program that stands at the place of all that rustup chooses.
const RUSTUP: &str = "rustup";

/// rustc alone: the linker that it starts is the toolchain of a C compiler.
///
/// # Errors
/// There is no rustc, or rustup does not tell which one it chooses.
pub(super) fn tools(named: Option<&Path>, path: &[PathBuf]) -> Result<Tools, BundleError> {
    let driver = find::driver(named, Toolchain::Rustc.word(), path)?;
    let (program, selection) = match rustup_of(&driver) {
        Some(rustup) => {
            let (program, selection) = chosen(&driver, &rustup, path)?;
            (program, Some(selection))
        }
        None => (driver.clone(), None),
    };
    let mut tools = Tools { toolchain: Toolchain::Rustc, driver, tools: Vec::new() };
    let name = Toolchain::Rustc.word().into();
    let names = BTreeMap::from([(name, program.clone())]);
    tools.add(Tool { program, names, is_driver: true, selection, ..Tool::default() });
    Ok(tools)
}

/// rustup, if that is what the program is: a link to it, or another name of it.
fn rustup_of(driver: &Path) -> Option<PathBuf> {
    let file = driver.canonicalize().ok()?;
    if file.file_name().is_some_and(|name| name.as_bytes().starts_with(RUSTUP.as_bytes())) {
        return Some(file);
    }
    let beside = driver.with_file_name(RUSTUP);
    let (one, other) = (beside.metadata().ok()?, file.metadata().ok()?);
    ((one.dev(), one.ino()) == (other.dev(), other.ino())).then_some(beside)
}

/// The compiler that rustup chooses in the working folder, and by which variables it always chooses it.
fn chosen(
    driver: &Path,
    rustup: &Path,
    path: &[PathBuf],
) -> Result<(PathBuf, ToolSelection), BundleError> {
    let untold = |what: &str| {
        let reason = format!("rustup does not tell {what}; name the path of the compiler itself");
        BundleError::declined(driver, reason)
    };
    // rustup goes by the name of its program, and knows these words by its own name only.
    let home = find::answer(rustup, &["show", "home"], path)?;
    let home = home.ok_or_else(|| untold("where it keeps compilers (rustup show home)"))?;
    let active = find::answer(rustup, &["show", "active-toolchain"], path)?;
    let active = active.ok_or_else(|| untold("which compiler it chooses"))?.into_vec();
    let name = active.split(|byte| *byte == b' ').next().unwrap_or_default();
    let name = String::from_utf8_lossy(name).into_owned();
    let program = Path::new(&home).join("toolchains").join(&name).join("bin/rustc");
    let sysroot = find::answer(driver, &["--print", "sysroot"], path)?;
    let used = sysroot.map(|sysroot| Path::new(&sysroot).join("bin/rustc"));
    let used = used.and_then(|used| used.canonicalize().ok());
    if used.is_none() || program.canonicalize().ok() != used {
        return Err(untold("which compiler it chooses (rustup show active-toolchain)"));
    }
    let variables =
        BTreeMap::from([("RUSTUP_HOME".into(), text(&home)), ("RUSTUP_TOOLCHAIN".into(), name)]);
    Ok((program, ToolSelection { by: text(driver), variables }))
}

//! gcc and g++, and what they start: compilers, assembler, linker. What only link-time optimization starts is
//! left out: a plug-in of the linker starts it, and not a bundle.

use super::find;
use super::tool::{Tool, Tools};
use crate::error::BundleError;
use model::toolchain::Toolchain;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What the drivers start, as gcc is asked for it; collect2 starts the linker.
const STARTED: [&str; 4] = ["cc1", "cc1plus", "as", "ld"];
const LINKER: &str = "ld";
const COLLECT: &str = "collect2";
/// Programs that users start, too, and that get their names.
const NAMED: [&str; 2] = ["as", "ld"];

/// gcc's tools.
///
/// # Errors
/// There is no gcc.
pub(super) fn tools(named: Option<&Path>, path: &[PathBuf]) -> Result<Tools, BundleError> {
    let driver = find::driver(named, Toolchain::Gcc.word(), path)?;
    let mut tools = Tools { toolchain: Toolchain::Gcc, driver: driver.clone(), tools: Vec::new() };
    let (mut starts, mut linker) = (Vec::new(), Vec::new());
    for name in STARTED {
        let Some(program) = find::program_of(&driver, name, path)? else { continue };
        let names = match NAMED.contains(&name) {
            true => find::own_names(&program),
            false => Default::default(),
        };
        let index = tools.add(Tool { program, names, ..Tool::default() });
        starts.push(index);
        linker.extend((name == LINKER).then_some(index));
    }
    if let Some(program) = find::program_of(&driver, COLLECT, path)? {
        starts.push(tools.add(Tool { program, starts: linker, ..Tool::default() }));
    }
    if let Some(program) = of_c_plus_plus(&driver) {
        let names = find::own_names(&program);
        tools.add(Tool { program, names, starts: starts.clone(), ..Tool::default() });
    }
    let names = find::own_names(&driver);
    tools.add(Tool { program: driver, names, starts, is_driver: true, ..Tool::default() });
    Ok(tools)
}

/// The driver for C++ beside that for C: `g++-12` beside `gcc-12`.
fn of_c_plus_plus(driver: &Path) -> Option<PathBuf> {
    let name = driver.file_name()?.to_str()?;
    let at = name.rfind("gcc")?;
    let name: OsString = format!("{}g++{}", &name[..at], &name[at + 3..]).into();
    Some(driver.with_file_name(name)).filter(|program| program.is_file())
}

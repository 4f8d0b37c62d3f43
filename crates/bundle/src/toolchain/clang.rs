//! clang, and the linkers that it starts. It compiles and assembles in its own process.

use super::find;
use super::tool::{Tool, Tools};
use crate::error::BundleError;
use model::toolchain::Toolchain;
use std::path::{Path, PathBuf};

/// The linkers, as clang is asked for them.
const LINKERS: [&str; 2] = ["ld", "ld.lld"];

/// clang's tools.
///
/// # Errors
/// There is no clang.
pub(super) fn tools(named: Option<&Path>, path: &[PathBuf]) -> Result<Tools, BundleError> {
    let driver = find::driver(named, Toolchain::Clang.word(), path)?;
    let mut tools =
        Tools { toolchain: Toolchain::Clang, driver: driver.clone(), tools: Vec::new() };
    let mut starts = Vec::new();
    for name in LINKERS {
        if let Some(program) = find::program_of(&driver, name, path)? {
            let names = find::own_names(&program);
            starts.push(tools.add(Tool { program, names, ..Tool::default() }));
        }
    }
    let names = find::own_names(&driver);
    tools.add(Tool { program: driver, names, starts, is_driver: true, ..Tool::default() });
    Ok(tools)
}

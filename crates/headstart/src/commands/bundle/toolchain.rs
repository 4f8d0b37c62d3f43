//! `headstart bundle --toolchain`: the programs that a compiler starts, as bundles in one folder.

use super::{Arguments, in_folder};
use crate::exit::Usage;
use crate::output;
use crate::progress::StatusLine;
use anyhow::{Context, Result};
use bundle::{BundleError, BundleOptions, ToolchainRequest};
use model::bundle::BundleCheck;
use model::toolchain::Toolchain;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Makes the toolchain and says what it is.
pub fn run(arguments: &Arguments, toolchain: Toolchain) -> Result<ExitCode> {
    if arguments.check() == BundleCheck::Sealed {
        let text = "a compiler needs its own files where it runs, so its bundles cannot be sealed: omit --sealed";
        return Err(Usage(text.to_owned()).into());
    }
    if !arguments.arguments.is_empty() {
        let text = "--toolchain takes one program, the compiler: omit the other arguments";
        return Err(Usage(text.to_owned()).into());
    }
    let request = ToolchainRequest {
        toolchain,
        program: arguments.program.as_deref().map(compiler).transpose()?,
        options: BundleOptions {
            fixed: arguments.fixed,
            join: arguments.join,
            check: arguments.check(),
            immutable: arguments.immutable()?,
            ..BundleOptions::default()
        },
    };
    let unread = |source| BundleError::Io { path: arguments.out.clone(), source };
    let folder = std::path::absolute(&arguments.out).map_err(unread)?;
    os::interrupt::install();
    let line = if arguments.json { StatusLine::silent() } else { StatusLine::new() };
    let mut observe = |program: &Path| {
        line.show(0.0, format!("bundling {}", program.display()));
    };
    let made = in_folder(&folder, || Ok(bundle::make_toolchain(&request, &folder, &mut observe)?));
    line.clear();
    let made = made?;
    output::print_either(arguments.json, &made.manifest, |style| {
        let folder = folder.display().to_string();
        report::toolchain::made(&folder, &made.manifest, &made.warnings, style)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The compiler that is named. A mere name is looked for later, as the toolchain itself may be in PATH.
fn compiler(named: &OsStr) -> Result<PathBuf> {
    if !named.as_encoded_bytes().contains(&b'/') {
        return Ok(named.into());
    }
    let command = os::program::resolve(&[named])?;
    os::program::lasting_path(&command.program)
        .with_context(|| format!("{}: its folder cannot be found", command.program.display()))
}

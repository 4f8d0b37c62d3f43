//! `headstart install`: optimized programs in the place of the originals.

use crate::args::split;
use crate::exit::Usage;
use crate::output;
use crate::programs::{self, ScopeArgs};
use crate::progress::StatusLine;
use anyhow::Result;
use install::ProgramRequest;
use model::{ProgramVariant, text};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Put optimized programs in the place of the originals
///
/// Makes a bundle of each program and its libraries, verifies that it does what the original does, and
/// measures it. If it is faster, the program's name starts it from now on. For root on Debian, the
/// original is diverted (dpkg-divert), so package checks report no changes; elsewhere, and for other
/// users, a link in a folder ahead in PATH starts the bundle. If a library changes, the bundle starts
/// the original until headstart renew makes it again, which happens automatically after package
/// changes. headstart remove undoes everything.
///
/// Each program is launched many times to verify and measure it: with the arguments of --launch, or
/// else with --version or --help.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The programs: paths, or names to look up in PATH
    #[arg(required = true, value_name = "PROGRAM")]
    programs: Vec<OsString>,
    /// Load at fixed addresses, which change only when the program is renewed: faster still, but
    /// without address-space layout randomization (ASLR) in between
    #[arg(long)]
    fixed: bool,
    /// Arguments of the launch by which programs are verified and measured; it has to exit on its own
    /// and be harmless
    #[arg(long, value_name = "ARGUMENTS", allow_hyphen_values = true)]
    launch: Option<String>,
    /// LD_LIBRARY_PATH of the launches that the programs are for, where a script sets it; in others
    /// they start the originals
    #[arg(long, value_name = "FOLDERS")]
    library_path: Option<OsString>,
    /// The folder for links to programs that are not diverted [default: ~/.local/bin, for root
    /// /usr/local/bin]
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Installs them.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let launch = arguments.launch.as_deref().map(split).transpose()?;
    let library_path = arguments.library_path.as_ref().filter(|path| !path.is_empty());
    let request = |program| request(program, launch.clone(), library_path.cloned());
    let requests = arguments.programs.iter().map(request).collect::<Result<Vec<_>>>()?;
    let places = arguments.scope.places(arguments.into.as_deref())?;
    programs::leave_working_folder()?;
    os::interrupt::install();
    let line = StatusLine::new();
    let (mut done, all) = (0_usize, requests.len());
    let mut observe = |name: &str| {
        line.show(done as f64 / all as f64, format!("installing {name}"));
        done += 1;
    };
    let variant = if arguments.fixed { ProgramVariant::Fixed } else { ProgramVariant::Movable };
    let mut report = install::install(&places, &requests, variant, &mut observe)?;
    line.clear();
    if places.hooks.is_empty() && report.programs.iter().any(|program| program.place.is_some()) {
        report.notes.push(
            "programs are not renewed automatically here: run headstart renew after upgrades, or \
             have cron run it; for root, headstart's own file and all folders above it have to be \
             writable by root alone"
                .to_owned(),
        );
    }
    programs::tell(report, arguments.json, false)
}

fn request(
    program: &OsString,
    launch: Option<Vec<OsString>>,
    library_path: Option<OsString>,
) -> Result<ProgramRequest> {
    if program.is_empty() {
        return Err(Usage("a program has no name".to_owned()).into());
    }
    let command = os::program::resolve(std::slice::from_ref(program))?;
    let found = os::program::lasting_path(&command.program).map_err(|error| {
        Usage(format!("{}: its folder cannot be found: {error}", output::quoted(&command.program)))
    })?;
    Ok(ProgramRequest { named: text::text(program), program: found, launch, library_path })
}

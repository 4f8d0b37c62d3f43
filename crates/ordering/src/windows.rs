//! Windows programs launched by their names alone: under Wine, which is made ready beforehand.

use image::identify;
use model::{Command, FileKind, Identity, Role, Runtime, Subsystem, quoted};
use os::LaunchError;
use os::wine::{Installation, PREFIX, Wine, WineError};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The machine that Wine's own libraries are for, as `inspect` names it.
const MACHINE: &str = "x86_64";

/// A launch that is ready to be made.
pub struct ReadyLaunch {
    /// What is executed.
    pub command: Command,
    /// How, where that is not as the system does it.
    pub note: Option<String>,
    /// Wine's server and prefix are there as long as this value lives.
    _wine: Option<Wine>,
}

/// Why a Windows program cannot be launched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WindowsLaunchError {
    /// Wine is missing, or does not work.
    #[error(transparent)]
    Wine(#[from] WineError),
    /// A PE image that is no program of Windows, or not of one that Wine runs here.
    #[error("'{path}' is {what}; {remedy}")]
    NotAProgram {
        /// The image.
        path: PathBuf,
        /// What it is.
        what: String,
        /// The next step.
        remedy: &'static str,
    },
}

/// The command of these words, its program found as the system does it. A Windows program need not
/// be marked as executable, and may be in the working folder.
///
/// # Errors
/// There is no such program.
pub fn find(argv: &[OsString]) -> Result<Command, LaunchError> {
    os::program::resolve(argv).or_else(|error| {
        let program = match &error {
            LaunchError::NotExecutable(path) => path.clone(),
            LaunchError::NotFound(name) => PathBuf::from(name),
            _ => return Err(error),
        };
        match pe_image(&program) {
            Some(_) => {
                let (argv, environment) = (argv.to_vec(), Vec::new());
                Ok(Command { argv, program, directory: None, environment })
            }
            None => Err(error),
        }
    })
}

/// Whether the command's program is one for Windows.
pub fn is_for_windows(command: &Command) -> bool {
    pe_image(&command.program).is_some()
}

/// Makes Wine ready where the command's program is one for Windows, its server on `cpu`; other
/// commands stay as they are. A prefix of the user's is used where it is there already, as Wine
/// would, with a server that belongs to the launch.
///
/// # Errors
/// [`WindowsLaunchError`].
pub fn prepare(command: Command, cpu: Option<u32>) -> Result<ReadyLaunch, WindowsLaunchError> {
    let Some(identity) = pe_image(&command.program) else {
        return Ok(ReadyLaunch { command, note: None, _wine: None });
    };
    check(&command.program, &identity)?;
    let own = own_prefix(&command);
    if let Some(prefix) = own.as_deref().filter(|prefix| is_prefix(prefix)) {
        let installation = Installation::find()?;
        let note = format!(
            "under {}, in the prefix that WINEPREFIX names ({}); if no wineserver was running, the \
             one that the launch starts is recorded too, and ended with it",
            installation.version,
            quoted(prefix)
        );
        let command = installation.launching(&command);
        return Ok(ReadyLaunch { command, note: Some(note), _wine: None });
    }
    check_machine(&command.program, &identity)?;
    let wine = Wine::start_whole(cpu)?;
    let why = own.map_or(String::new(), |prefix| {
        format!("; WINEPREFIX names {}, where there is no prefix", quoted(&prefix))
    });
    let note = format!(
        "under {}, in a temporary prefix, without a display{why}; the wineserver was started before \
         the launch and is not recorded",
        wine.version()
    );
    Ok(ReadyLaunch { command: wine.launching(&command), note: Some(note), _wine: Some(wine) })
}

/// What the file is, if it is a PE image that can be read.
fn pe_image(path: &Path) -> Option<Identity> {
    identify::identify(path).ok().filter(|identity| identity.kind == FileKind::Pe)
}

/// Whether Wine runs it at all.
fn check(program: &Path, identity: &Identity) -> Result<(), WindowsLaunchError> {
    let declined = |what: String, remedy| {
        Err(WindowsLaunchError::NotAProgram { path: program.to_owned(), what, remedy })
    };
    if identity.role == Some(Role::Library) {
        let remedy = "trace a program that loads it: the functions of this library are recorded \
                      with those of the program";
        return declined("a DLL".to_owned(), remedy);
    }
    if !matches!(identity.subsystem, None | Some(Subsystem::Console | Subsystem::Gui)) {
        let remedy = "it does not run under Windows, nor under Wine";
        return declined(identity.detail.clone(), remedy);
    }
    if identity.runtimes.contains(&Runtime::DotNet) {
        let remedy = "its functions are compiled at run time, so no linker can order them";
        return declined("a .NET program".to_owned(), remedy);
    }
    Ok(())
}

/// Whether it is for the machine of Wine's libraries. Of a program for another one Wine 8 says
/// hardly anything, and ends it with exit code 0.
fn check_machine(program: &Path, identity: &Identity) -> Result<(), WindowsLaunchError> {
    let machine = identity.machine.as_deref().unwrap_or("an unknown machine");
    if machine == MACHINE {
        return Ok(());
    }
    Err(WindowsLaunchError::NotAProgram {
        path: program.to_owned(),
        what: format!("a program for {machine}, and Wine's temporary prefix is for {MACHINE} only"),
        remedy: "build it for that machine, or set WINEPREFIX to a prefix in which it runs",
    })
}

/// The prefix that the user has named for the launch, or for all.
fn own_prefix(command: &Command) -> Option<PathBuf> {
    let set = command.environment.iter().rev().find(|(name, _)| name == PREFIX);
    let value = match set {
        Some((_, value)) => value.clone(),
        None => std::env::var_os(PREFIX),
    };
    value.filter(|value| value != OsStr::new("")).map(PathBuf::from)
}

/// Whether Wine has made it: then it makes no other.
fn is_prefix(folder: &Path) -> bool {
    folder.join("drive_c").is_dir()
}

//! What the verbs of installed programs have in common: where everything is, and what is told.

use crate::exit::{self, FileError, Usage};
use crate::output;
use crate::phrases::VIEW_WORDS;
use anyhow::{Context as _, Result};
use install::{Dpkg, HookPlaces, InstallPlaces, UnitPlace, Which};
use model::{ProgramAdvice, ProgramOutcome, ProgramsReport};
use report::CommandWords;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Programs of all users.
const SYSTEM: &str = "/var/lib/headstart";
/// How long another headstart or a package manager is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
const DATA_FOLDERS: &str = "/usr/local/share:/usr/share";
/// Where systemd says that it runs (sd_booted(3)).
const BOOTED: &str = "/run/systemd/system";

/// Which programs a verb is about.
#[derive(Debug, clap::Args)]
pub struct ScopeArgs {
    /// Only the programs of this user, even for root
    #[arg(long)]
    pub user: bool,
}

impl ScopeArgs {
    /// Where everything is: root's for all users, those of others for themselves.
    pub fn places(&self, into: Option<&Path>) -> Result<InstallPlaces> {
        let mut places = match !self.user && os::host::user() == 0 {
            true => system()?,
            false => own()?,
        };
        if let Some(into) = into {
            places.links = std::path::absolute(into)?;
        }
        Ok(places)
    }
}

/// Those of all users.
pub fn system() -> Result<InstallPlaces> {
    let folder = |path: &str| Some(PathBuf::from(path)).filter(|path| path.is_dir());
    let dpkg = Dpkg::find();
    let systemctl = os::tool::find("systemctl").filter(|_| Path::new(BOOTED).is_dir());
    let units = systemctl.map(|systemctl| UnitPlace {
        folder: "/etc/systemd/system".into(),
        systemctl: vec![systemctl.display().to_string()],
    });
    let hooks = HookPlaces {
        dpkg: dpkg.as_ref().map(|_| "/etc/dpkg/dpkg.cfg.d".into()),
        pacman: os::tool::find("pacman").map(|_| "/etc/pacman.d/hooks".into()),
        dnf: folder("/etc/dnf/plugins/post-transaction-actions.d"),
        units,
        renew: renew(true)?,
        environment: Vec::new(),
    };
    // Whoever may replace headstart could do anything as root by it.
    let hooks = if is_of_root(hooks.renew.first()) { hooks } else { HookPlaces::default() };
    Ok(InstallPlaces {
        state: SYSTEM.into(),
        dpkg,
        links: "/usr/local/bin".into(),
        entries: Vec::new(),
        own_entries: None,
        hooks,
        undo: "headstart remove".to_owned(),
        guarded: true,
        patience: PATIENCE,
    })
}

/// Why a launch that starts this program by its path would not start what root installs for it.
pub fn not_replaced(program: &Path, library_path: Option<&OsStr>) -> Option<String> {
    let places = system().ok()?;
    // A variant at fixed addresses is one of those that are installed, too.
    install::is_diverted_by_path(&places, program, library_path, true).err()
}

/// What installs programs for all users, in the words of the command line.
pub fn install_words() -> CommandWords {
    match os::host::user() {
        0 => VIEW_WORDS,
        _ => CommandWords {
            install: "sudo headstart install",
            install_fixed: "sudo headstart install --fixed",
            ..VIEW_WORDS
        },
    }
}

/// Those of the user alone.
pub fn own() -> Result<InstallPlaces> {
    let home = absolute("HOME").ok_or_else(|| Usage("HOME names no folder; set it".to_owned()))?;
    let data = absolute("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local/share"));
    let config = absolute("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
    for folder in [&home, &data.join("headstart"), &config] {
        // What stands there says what is launched.
        if let Some(folder) = install::of_another(folder, os::host::user()) {
            let text = format!(
                "{} belongs to another user, who could decide what is launched: set HOME, XDG_DATA_HOME \
                 and XDG_CONFIG_HOME to your own folders",
                folder.display()
            );
            return Err(Usage(text).into());
        }
    }
    let runs = absolute("XDG_RUNTIME_DIR").is_some_and(|run| run.join("systemd/private").exists());
    let systemctl = os::tool::find("systemctl").filter(|_| runs);
    let units = systemctl.map(|systemctl| UnitPlace {
        folder: config.join("systemd/user"),
        systemctl: vec![systemctl.display().to_string(), "--user".to_owned()],
    });
    // The user's systemd may not have what the shell has.
    let set = absolute("XDG_DATA_HOME");
    let set = set.map(|folder| ("XDG_DATA_HOME".to_owned(), folder.display().to_string()));
    let environment = set.into_iter().collect();
    let folders = std::env::var_os("XDG_DATA_DIRS").filter(|folders| !folders.is_empty());
    let folders = folders.unwrap_or_else(|| DATA_FOLDERS.into());
    let folders = std::env::split_paths(&folders).filter(|folder| folder.is_absolute());
    Ok(InstallPlaces {
        state: data.join("headstart"),
        dpkg: None,
        links: home.join(".local/bin"),
        entries: folders.map(|folder| folder.join("applications")).collect(),
        own_entries: Some(data.join("applications")),
        hooks: HookPlaces { units, renew: renew(false)?, environment, ..HookPlaces::default() },
        undo: "headstart remove".to_owned(),
        guarded: false,
        patience: PATIENCE,
    })
}

/// Whether only root can change or replace a program.
fn is_of_root(program: Option<&String>) -> bool {
    program.is_some_and(|program| install::replaceable(Path::new(program)).is_none())
}

/// The command that renews, as a hook calls it.
fn renew(of_system: bool) -> Result<Vec<String>> {
    let failed = |source| FileError {
        path: "headstart's own file".to_owned(),
        source,
        remedy: "start headstart by its path",
    };
    let own = std::env::current_exe().map_err(failed)?;
    let user = if of_system { None } else { Some("--user".to_owned()) };
    let words = [own.display().to_string(), "renew".to_owned(), "--quiet".to_owned()];
    Ok(words.into_iter().chain(user).collect())
}

fn absolute(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// The programs that were named, or all.
pub fn which(named: &[String], all: bool) -> Which {
    let absolute = |name: &String| match name.contains('/') {
        true => std::path::absolute(name).map_or(name.clone(), |path| path.display().to_string()),
        false => name.clone(),
    };
    if all { Which::All } else { Which::Named(named.iter().map(absolute).collect()) }
}

/// From now on what is launched is launched in the root folder: the loader may look for libraries in the
/// working folder, which somebody else may have filled. Paths have to be absolute before.
pub fn leave_working_folder() -> Result<()> {
    std::env::set_current_dir("/").context("the root folder cannot be entered")
}

/// Prints what became of programs; the answer is no where one of them is not as was asked for.
pub fn tell(mut report: ProgramsReport, json: bool, quiet: bool) -> Result<ExitCode> {
    let good = report.programs.iter().all(|program| program.outcome.is_good());
    for program in &mut report.programs {
        let advice = program.advice.map(|advice| match advice {
            ProgramAdvice::MakeFixed => "with --fixed, it is made at fixed addresses",
            ProgramAdvice::NameLaunch => {
                "name arguments with which it exits on its own: --launch ARGUMENTS"
            }
        });
        program.notes.extend(advice.map(str::to_owned));
    }
    if quiet {
        report.programs.retain(|program| !program.outcome.is_good());
    }
    if !quiet || json || !report.programs.is_empty() {
        output::print_either(json, &report, |style| report::programs::outcomes(&report, style))?;
    }
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::from(worst(&report)) })
}

fn worst(report: &ProgramsReport) -> u8 {
    let failed = |one: &model::ProgramChange| one.outcome == ProgramOutcome::Failed;
    if report.programs.iter().any(failed) { exit::FILES } else { exit::NO }
}

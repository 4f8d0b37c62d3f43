//! What makes every start of a program read ahead, written and removed.

mod folders;
mod front;
mod notes;

use crate::args::disk;
use crate::args::one_command;
use crate::exit::Usage;
use crate::output;
use anyhow::Result;
use model::{
    Command, Disk, INSTALL_REPORT_SCHEMA, InstallReport, InstalledKind, Recording,
    UNINSTALL_REPORT_SCHEMA, UninstallReport, UninstalledFile,
};
use prefetch::launchers::desktop::{self, DesktopEntry};
use prefetch::launchers::known;
use prefetch::launchers::launcher::{self, ProgramLauncher};
use prefetch::launchers::service::{self, ServiceUnit};
use prefetch::launchers::{self, Installed};
use prefetch::merge::merge;
use prefetch::store::{self, Store};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Read ahead whenever a program is started: write a launcher, a desktop entry or a drop-in
///
/// Writes a launcher, ~/.local/bin/NAME unless --to names another file: a small program that reads ahead
/// and becomes the program; neither a shell nor headstart runs in between. It holds what is recorded now;
/// 'headstart record' writes it again when a recording changes. With --desktop or --service, menus or
/// systemd start the program through headstart. Nothing that headstart has not made is changed or
/// replaced, so 'headstart prefetch uninstall FILE' undoes all of it.
#[derive(Debug, clap::Args)]
pub struct InstallArguments {
    /// The program, and arguments that each of its starts begins with
    #[arg(trailing_var_arg = true, value_name = "CMD")]
    #[arg(required_unless_present_any = ["desktop", "service"])]
    command: Vec<OsString>,
    /// Write the launcher to this file [default: ~/.local/bin/NAME]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["desktop", "service"])]
    to: Option<PathBuf>,
    /// Copy the desktop entry of the program, or the one with this ID, to ~/.local/share/applications
    #[arg(long, value_name = "ID", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "", conflicts_with = "service")]
    desktop: Option<String>,
    /// Write a drop-in of this systemd service, root's of the system, other users' of their own
    #[arg(long, value_name = "UNIT", conflicts_with = "command")]
    service: Option<String>,
    /// The service is the user's, also for root
    #[arg(long, requires = "service")]
    user: bool,
    /// Use the recording in this file [default: those that are kept: of a launcher, as they are when it is
    /// written; of a desktop entry, when the program is started; of a service, a copy of the present one]
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// The disk [default: as an exact recording shows, else flash]
    #[arg(long, value_name = "DISK", value_parser = disk())]
    #[arg(conflicts_with_all = ["desktop", "service"])]
    disk: Option<Disk>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Remove what install has written
///
/// Removes launchers, desktop entries and drop-ins that 'headstart prefetch install' has written, and no
/// other file. May be repeated.
#[derive(Debug, clap::Args)]
pub struct UninstallArguments {
    /// The files
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Writes one of them.
pub fn install(arguments: &InstallArguments) -> Result<ExitCode> {
    let record = arguments.record.as_ref().map(record).transpose()?;
    let report = if let Some(unit) = &arguments.service {
        for_service(unit, arguments.user, record.as_deref())?
    } else if let Some(id) = &arguments.desktop {
        for_desktop(id, &arguments.command, record)?
    } else {
        for_launches(arguments, record)?
    };
    output::print_either(arguments.json, &report, |style| {
        report::installed::installed(&report, style)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The file of a recording from wherever it will be used, if it is a recording.
fn record(path: &PathBuf) -> Result<PathBuf> {
    store::load(path)?;
    Ok(std::path::absolute(path)?)
}

/// The program that is meant, by its absolute path, and its arguments.
fn program(words: &[OsString]) -> Result<Command> {
    let (command, _) = launcher::meant(one_command(words)?)?;
    if !command.environment.is_empty() {
        let text = "variables cannot be kept in a launcher; set them with env: env A=1 CMD";
        return Err(Usage(text.to_owned()).into());
    }
    let program = os::program::lasting_path(&command.program)?;
    Ok(Command { program, ..command })
}

fn for_launches(arguments: &InstallArguments, record: Option<PathBuf>) -> Result<InstallReport> {
    let (words, to) = (&arguments.command, arguments.to.as_deref());
    let command = program(words)?;
    let name = words.first().map(|word| Path::new(word).file_name().unwrap_or_default());
    let name = name.filter(|_| to.is_none() && words.len() == command.argv.len());
    let name = name.or(command.program.file_name()).unwrap_or_default();
    let at = match to {
        Some(to) => std::path::absolute(to)?,
        None => folders::programs()?.join(name),
    };
    let launcher = ProgramLauncher {
        program: command.program.clone(),
        arguments: command.argv.iter().skip(1).cloned().collect(),
        record,
        disk: arguments.disk,
    };
    let store = Store::of_user(lab::default_folder::cache())?;
    let installed = launcher::install(&front::front()?, &launcher, &store, &at)?;
    let mut notes = Vec::from_iter(notes::of_path(&at, &command.program));
    notes.extend(notes::of_execution(&at));
    notes.extend(launcher.record.as_deref().and_then(notes::of_others_record));
    if let Err(error) = known::add(&store, &at) {
        notes.push(format!(
            "it will not learn of later recordings by itself ({error}); install it again after them"
        ));
    }
    notes.extend(notes::of_recording(&command, launcher.record.is_some()));
    let (kind, subject) = (InstalledKind::Launcher, model::text::text(&command.program));
    Ok(report(kind, &installed, subject, launcher.record.as_deref(), notes))
}

fn for_desktop(id: &str, words: &[OsString], record: Option<PathBuf>) -> Result<InstallReport> {
    if id.is_empty() && words.is_empty() {
        let text = "name the program, or the ID of its desktop entry: --desktop=ID";
        return Err(Usage(text.to_owned()).into());
    }
    let command = if words.is_empty() { None } else { Some(program(words)?) };
    let entry = entry(id.trim_end_matches(".desktop"), command.as_ref())?;
    let front = front::front()?;
    let own = folders::own_entries()?;
    let installed = desktop::install(&front, &entry, &own, record.as_deref())?;
    let mut notes = Vec::new();
    if let Some(command) = &command {
        notes.extend(notes::of_recording(command, record.is_some()));
    }
    let subject = model::text::text(&entry.path);
    Ok(report(InstalledKind::DesktopEntry, &installed, subject, record.as_deref(), notes))
}

/// The one entry that is meant. One that menus show comes before those that they do not.
fn entry(id: &str, command: Option<&Command>) -> Result<DesktopEntry> {
    let real = command.and_then(|command| command.program.canonicalize().ok());
    let wanted = |entry: &DesktopEntry, program: Option<&Path>| match id {
        "" => program.is_some() && program == real.as_deref(),
        id => entry.id == id,
    };
    let found = desktop::find(&folders::entries(), wanted)?;
    let shown: Vec<&DesktopEntry> = found.iter().filter(|entry| !entry.hidden).collect();
    match (shown.as_slice(), found.as_slice()) {
        ([one], _) => Ok((*one).clone()),
        ([], [one]) => Ok(one.clone()),
        ([], []) => {
            let what = match command {
                Some(command) if id.is_empty() => format!("starts {}", command.name()),
                _ => format!("is called '{id}'"),
            };
            let text = format!(
                "none of the system's desktop entries {what}; your own ones are not changed: put \
                 'headstart prefetch --quiet --' before the program of its Exec key yourself"
            );
            Err(Usage(text).into())
        }
        (several, all) => {
            let several = if several.is_empty() { all.iter().collect() } else { several.to_vec() };
            let ids: Vec<&str> = several.iter().map(|entry| entry.id.as_str()).collect();
            let ids = ids.join(", ");
            let text =
                format!("several desktop entries start it; choose one with --desktop=ID: {ids}");
            Err(Usage(text).into())
        }
    }
}

fn for_service(name: &str, user: bool, record: Option<&Path>) -> Result<InstallReport> {
    let folders = folders::units(user)?;
    let front = front::front()?;
    let unit = service::read(name, &folders, &front)?;
    let recording = match record {
        Some(record) => store::load(record)?,
        None => recording_of(&unit)?,
    };
    let (installed, record) = service::install(&front, &unit, &recording)?;
    let user = if folders.of_system { "" } else { " --user" };
    let notes = vec![
        format!(
            "systemd reads it after: systemctl{user} daemon-reload; the service is then started so \
             from its next start on"
        ),
        format!(
            "the recording is a copy beside the drop-in, as services may be kept out of users' \
             folders (ProtectHome=); renew it with: headstart record --out {} -- CMD",
            output::quoted(&record)
        ),
        "the drop-in has the commands of the unit as they are now; when an update changes them, \
         install it again"
            .to_owned(),
    ];
    Ok(report(InstalledKind::DropIn, &installed, unit.name, Some(&record), notes))
}

/// The recordings that are kept of the programs of a service.
fn recording_of(unit: &ServiceUnit) -> Result<Recording> {
    let store = Store::of_user(lab::default_folder::cache())?;
    let mut found = Vec::new();
    for words in unit.commands.iter().filter_map(|command| command.words.as_ref()) {
        let Some((program, arguments)) = words.split_first() else { continue };
        let real = Path::new(program).canonicalize().unwrap_or_else(|_| program.into());
        found.extend(store.find(&real, arguments)?);
    }
    let none = || {
        Usage(format!(
            "there is no recording of a program of {}; make one while the service is stopped, and \
             name it: headstart record --out FILE -- CMD, then --record FILE",
            unit.name
        ))
    };
    Ok(merge(found).map_err(|_| none())?)
}

fn report(
    kind: InstalledKind,
    installed: &Installed,
    subject: String,
    record: Option<&Path>,
    notes: Vec<String>,
) -> InstallReport {
    InstallReport {
        schema: INSTALL_REPORT_SCHEMA,
        kind,
        path: model::text::text(&installed.path),
        subject,
        replaced: installed.replaced,
        record: record.map(model::text::text),
        undo: format!("{} {}", front::UNDO, output::quoted(&installed.path)),
        notes,
    }
}

/// Removes what was written.
pub fn uninstall(arguments: &UninstallArguments) -> Result<ExitCode> {
    let removed = launchers::remove(&arguments.files)?;
    if let Ok(store) = Store::of_user(lab::default_folder::cache()) {
        let gone = arguments.files.iter().flat_map(std::path::absolute).collect::<Vec<_>>();
        // A launcher that is gone is passed over when others are renewed.
        let _ = known::remove(&store, &gone);
    }
    let file = |file: launchers::Removed| UninstalledFile {
        path: model::text::text(&file.path),
        kind: file.kind,
        record: file.record.map(model::text::text),
    };
    let files = removed.into_iter().map(file).collect();
    let report = UninstallReport { schema: UNINSTALL_REPORT_SCHEMA, files };
    output::print_either(arguments.json, &report, |_| report::installed::uninstalled(&report))?;
    Ok(ExitCode::SUCCESS)
}

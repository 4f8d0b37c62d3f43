//! Services of systemd: a drop-in by which their programs are started with headstart in front, and a
//! recording beside it, where the service can read it whatever it is kept out of.

use super::units::{self, UnitFolders};
use super::words;
use super::{Front, InstallError, Installed, launcher, place};
use crate::store;
use files::Permit;
use model::{InstalledKind, Recording};
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const MARK: &str = "# A drop-in made by headstart; undo: ";
const NAME: &str = "50-headstart.conf";
const RECORD: &str = "50-headstart.record";
/// What may stand in front of a command (systemd.service(5)).
const PREFIXES: &str = "-:+!";
/// Read and executed by whatever user the service runs as.
const FOR_ALL: u32 = 0o005;
/// Folders that services may be kept out of (ProtectHome=, PrivateTmp=).
const OF_USERS: [&str; 5] = ["/home", "/root", "/run/user", "/tmp", "/var/tmp"];
/// Where the system's manager finds programs that are named without a folder; it is also the PATH of
/// the services (systemd.exec(5)).
const SEARCHED: [&str; 6] =
    ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
/// What may give a service another PATH.
const OF_PATH: [&str; 4] = ["ExecSearchPath", "Environment", "EnvironmentFile", "PassEnvironment"];
/// Settings with which headstart cannot be started before the program, or would change what the
/// program may do; and why.
const UNFIT: [(&str, &str); 6] = [
    ("RootDirectory", "headstart is not in the service's root folder"),
    ("RootImage", "headstart is not in the service's image"),
    ("NoExecPaths", "headstart may be among the files that must not be executed"),
    ("SystemCallFilter", "the filter may end headstart before the program starts"),
    ("AppArmorProfile", "the profile would be headstart's, and may not let it start the program"),
    ("SELinuxContext", "the context would be headstart's, and may not let it start the program"),
];

/// A service that can have headstart in front.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceUnit {
    /// Its name.
    pub name: String,
    /// Its commands.
    pub commands: Vec<ServiceCommand>,
    /// systemd finds its main process by looking for the only one that is left, so no reader may
    /// be left.
    guessed: bool,
    /// The folder of the drop-in.
    folder: PathBuf,
}

/// A command of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceCommand {
    prefix: String,
    line: String,
    /// The program and its arguments, where they stand in the line as they are.
    pub words: Option<Vec<String>>,
}

/// Reads a unit and its drop-ins.
///
/// # Errors
/// There is no such service, or nothing can be put in front of its programs, and why.
pub fn read(name: &str, folders: &UnitFolders, front: &Front) -> Result<ServiceUnit, InstallError> {
    let name = if name.contains('.') { name.to_owned() } else { format!("{name}.service") };
    let refused = |reason: &str| InstallError::refused(Path::new(&name), reason);
    if !name.ends_with(".service") || name.contains('/') {
        return Err(refused("only services start programs; name one, such as cron.service"));
    }
    if name.contains('@') {
        return Err(refused("it is a template or made from one, whose instances differ"));
    }
    let path = folders.unit(&name)?;
    check_file(&name, &path)?;
    let folder = folders.own.join(format!("{name}.d"));
    let mut settings = units::settings(&path)?;
    for drop_in in folders.drop_ins(&name)? {
        if drop_in == folder.join(NAME) {
            continue;
        }
        let more = units::settings(&drop_in)?;
        let is_later = drop_in.file_name() > Some(OsStr::new(NAME));
        if is_later && more.iter().any(|(key, _)| key == "ExecStart") {
            let reason = format!(
                "it sets ExecStart= and is read after {NAME}; give it a name that \
                                  comes before that"
            );
            return Err(InstallError::refused(&drop_in, reason));
        }
        settings.extend(more);
    }
    check_settings(&path, &settings, folders, front)?;
    let other_path = OF_PATH.iter().any(|key| {
        let mut values = settings.iter().filter(|(found, _)| found == key);
        values.any(|(key, value)| key != "Environment" || value.contains("PATH="))
    });
    let commands = commands(&path, &settings, folders.of_system && !other_path)?;
    let is = |key: &str, value: &str| last(&settings, key) == Some(value);
    let guessed = is("Type", "forking") && last(&settings, "PIDFile").is_none();
    Ok(ServiceUnit { name, commands, guessed, folder })
}

/// A file that is the unit itself.
fn check_file(name: &str, path: &Path) -> Result<(), InstallError> {
    let real = path.canonicalize().map_err(InstallError::io(path))?;
    let is_empty = path.metadata().is_ok_and(|data| data.len() == 0);
    if real == Path::new("/dev/null") || is_empty {
        return Err(InstallError::refused(path, "the unit is masked, so it is never started"));
    }
    match real.file_name().filter(|real| *real != OsStr::new(name)) {
        Some(other) if other.as_encoded_bytes().ends_with(b".service") => {
            let reason = format!("it is another name of {}; use that", other.display());
            Err(InstallError::refused(path, reason))
        }
        _ => Ok(()),
    }
}

/// The value that counts; an empty one is as none.
fn last<'a>(settings: &'a [(String, String)], key: &str) -> Option<&'a str> {
    let found = settings.iter().rev().find(|(found, _)| found == key);
    found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
}

fn check_settings(
    unit: &Path,
    settings: &[(String, String)],
    folders: &UnitFolders,
    front: &Front,
) -> Result<(), InstallError> {
    let unfit = UNFIT.iter().find(|(key, _)| last(settings, key).is_some());
    if let Some((key, why)) = unfit {
        return Err(InstallError::refused(unit, format!("it sets {key}=: {why}")));
    }
    if folders.selinux {
        let reason = "SELinux gives a service its domain by the file that systemd starts, so with \
                      headstart in front it would be another one";
        return Err(InstallError::refused(unit, reason));
    }
    let headstart = front.headstart.as_path();
    let remedy = "install headstart where every service can start it, such as /usr/local/bin";
    let is_of_user = OF_USERS.iter().any(|folder| headstart.starts_with(folder));
    let is_kept_out = ["ProtectHome", "PrivateTmp"].iter().any(|key| {
        last(settings, key).is_some_and(|value| !["no", "false", "off", "0"].contains(&value))
    });
    if is_of_user && (folders.of_system || is_kept_out) {
        let reason = format!(
            "services may be kept out of this folder (ProtectHome=, PrivateTmp=); {remedy}"
        );
        return Err(InstallError::refused(headstart, reason));
    }
    for key in ["InaccessiblePaths", "TemporaryFileSystem"] {
        let values = settings.iter().filter(|(found, _)| found == key);
        let hidden = values.flat_map(|(_, value)| value.split_whitespace());
        let hidden = hidden.map(|word| word.trim_start_matches(['-', '+']).split(':').next());
        let covers = |path: &str| headstart.starts_with(path) || folders.own.starts_with(path);
        if hidden.flatten().any(covers) {
            let reason = format!("{key}= hides headstart or its recording from the service");
            return Err(InstallError::refused(unit, reason));
        }
    }
    let mode = headstart.metadata().map_err(InstallError::io(headstart))?.permissions().mode();
    if folders.of_system && mode & FOR_ALL != FOR_ALL {
        let reason = format!("not every user may execute it; {remedy}");
        return Err(InstallError::refused(headstart, reason));
    }
    Ok(())
}

fn commands(
    unit: &Path,
    settings: &[(String, String)],
    usual_path: bool,
) -> Result<Vec<ServiceCommand>, InstallError> {
    let mut commands = Vec::new();
    for (_, value) in settings.iter().filter(|(key, _)| key == "ExecStart") {
        // An empty one takes back those before it.
        match value.is_empty() {
            true => commands.clear(),
            false => commands.push(command(value, usual_path).map_err(|found| {
                InstallError::refused(unit, format!("ExecStart={value}: {found}"))
            })?),
        }
    }
    if commands.is_empty() {
        return Err(InstallError::refused(unit, "it has no ExecStart=, so it starts no program"));
    }
    Ok(commands)
}

fn command(value: &str, usual_path: bool) -> Result<ServiceCommand, String> {
    let line = value.trim_start_matches(|c| PREFIXES.contains(c));
    let prefix = value[..value.len() - line.len()].to_owned();
    if line.starts_with('@') {
        return Err(
            "with '@' the program's name is another word, which headstart cannot pass on; \
                    change the unit"
                .to_owned(),
        );
    }
    if line.starts_with('|') {
        return Err("with '|' it is for a shell".to_owned());
    }
    let words = words::divided(&words::plain(line.as_bytes()))?;
    let first = words.first().map(|word| String::from_utf8_lossy(&word.bytes));
    let first = first.ok_or("it names no program")?;
    // headstart looks along the service's PATH.
    let found = (usual_path && !first.contains('/')).then(|| searched(&first)).flatten();
    if !first.starts_with('/') && !first.starts_with("%h/") && found.is_none() {
        return Err(
            "its program is not named by an absolute path, and is not certain to be found \
                    along the service's PATH"
                .to_owned(),
        );
    }
    if first.contains('$') {
        return Err("its program's name has a '$', which stands for itself only there".to_owned());
    }
    if words.iter().any(|word| word.bytes == b";") {
        return Err("several commands are in one line; give each one of its own".to_owned());
    }
    let is_plain = !line.contains(['"', '\'', '\\', '$', '%']);
    let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    if let (Some(first), Some(found)) = (words.first_mut(), found) {
        *first = found;
    }
    Ok(ServiceCommand { prefix, line: line.to_owned(), words: is_plain.then_some(words) })
}

/// The program of that name that the system's manager finds.
fn searched(name: &str) -> Option<String> {
    let found = SEARCHED.iter().map(|folder| Path::new(folder).join(name));
    let is_program = |path: &PathBuf| {
        path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    };
    found.into_iter().find(is_program)?.into_os_string().into_string().ok()
}

/// Writes the recording, then the drop-in that names it. Returns the recording's file, too.
///
/// # Errors
/// A program is unfit, or other files are in their places.
pub fn install(
    front: &Front,
    unit: &ServiceUnit,
    recording: &Recording,
) -> Result<(Installed, PathBuf), InstallError> {
    for words in unit.commands.iter().filter_map(|command| command.words.as_ref()) {
        if let Some(program) = words.first() {
            launcher::fit(Path::new(program))?;
        }
    }
    let (at, record) = (unit.folder.join(NAME), unit.folder.join(RECORD));
    let text = written(front, unit, &at, &record)?;
    // Before the recording is written for nothing.
    place::may_be_written(&at, InstalledKind::DropIn)?;
    std::fs::create_dir_all(&unit.folder).map_err(InstallError::io(&unit.folder))?;
    store::save(&record, recording)?;
    // Whatever the mask of this shell is.
    let readable = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(&record, readable).map_err(InstallError::io(&record))?;
    let permit = Permit::Created(0o644);
    let installed = place::put(&at, text.as_bytes(), InstalledKind::DropIn, permit)?;
    Ok((installed, record))
}

fn written(
    front: &Front,
    unit: &ServiceUnit,
    at: &Path,
    record: &Path,
) -> Result<String, InstallError> {
    let words = front.words(Some(record), unit.guessed);
    let words = words.iter().map(|word| quoted(word)).collect::<Result<Vec<_>, _>>();
    let before = words.map_err(|found| InstallError::refused(at, found))?.join(" ");
    let mut text = format!("{MARK}{}\n[Service]\nExecStart=\n", front.undo(at));
    for command in &unit.commands {
        text += &format!("ExecStart={}{before} {}\n", command.prefix, command.line);
    }
    Ok(text)
}

/// A word of a command, as a unit has it.
fn quoted(word: &OsStr) -> Result<String, String> {
    let refused =
        || format!("'{}' cannot stand in a unit: it has a '$' or is no plain text", word.display());
    let is_odd = |c: char| c == '$' || c.is_control();
    let text = word.to_str().filter(|text| !text.contains(is_odd)).ok_or_else(refused)?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@,=%".contains(c);
    let text = text.replace('%', "%%");
    Ok(match text.chars().all(is_plain) && !text.is_empty() {
        true => text,
        false => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
    })
}

/// Whether headstart has made a file with this content as a drop-in.
pub(super) fn is_marked(bytes: &[u8]) -> bool {
    bytes.starts_with(MARK.as_bytes())
}

/// The recording that was written for the drop-in at `path`.
pub(super) fn record_beside(path: &Path) -> Option<PathBuf> {
    let record = path.with_file_name(RECORD);
    let is_drop_in = path.file_name() == Some(OsStr::new(NAME));
    (is_drop_in && store::is_recording(&record)).then_some(record)
}

#[cfg(test)]
mod tests;

//! Desktop entries (Desktop Entry Specification 1.5): a copy of a program's entry among the user's
//! own, which come before the system's. Its commands have headstart in front; the rest is the same.

use super::words::{self, Word};
use super::{Front, InstallError, Installed, launcher, place};
use files::Permit;
use model::InstalledKind;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const MARK: &[u8] = b"X-Headstart-Undo";
const MAIN_GROUP: &[u8] = b"[Desktop Entry]";
const ENDING: &str = ".desktop";
/// Folders of entries in one another.
const DEEPEST: usize = 8;
/// What has to be quoted (the specification's "reserved characters").
const RESERVED: &str = " \t\n\"'\\><~|&;$*?#()`";
/// What has to be escaped inside of quotation marks.
const ESCAPED: &str = "\"`$\\";

/// A desktop entry of the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DesktopEntry {
    /// Its ID, without the ending.
    pub id: String,
    /// Its file.
    pub path: PathBuf,
    /// Menus do not show it.
    pub hidden: bool,
}

/// The entries that start a program, or the one with this ID, each from the first folder that has
/// it; in the order of their IDs. `folders` hold entries, the most important one first.
///
/// # Errors
/// A folder that is there cannot be read.
pub fn find(
    folders: &[PathBuf],
    wanted: impl Fn(&DesktopEntry, Option<&Path>) -> bool,
) -> Result<Vec<DesktopEntry>, InstallError> {
    let mut found: Vec<DesktopEntry> = Vec::new();
    for folder in folders {
        let mut paths = Vec::new();
        below(folder, DEEPEST, &mut paths)?;
        for path in paths {
            let Some(id) = id_of(folder, &path) else { continue };
            if found.iter().any(|entry| entry.id == id) {
                continue;
            }
            // What cannot be read starts nothing.
            let Ok(Some(bytes)) = place::content(&path, place::MOST_BYTES) else { continue };
            let hidden = [&b"NoDisplay"[..], b"Hidden"]
                .iter()
                .any(|key| value_of(&bytes, key).is_some_and(|value| value == b"true"));
            found.push(DesktopEntry { id, path, hidden });
        }
    }
    found.retain(|entry| wanted(entry, program(entry).as_deref()));
    found.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(found)
}

fn below(folder: &Path, depth: usize, paths: &mut Vec<PathBuf>) -> Result<(), InstallError> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(());
        }
        entries => entries.map_err(InstallError::io(folder))?,
    };
    for entry in entries {
        let path = entry.map_err(InstallError::io(folder))?.path();
        if path.as_os_str().as_bytes().ends_with(ENDING.as_bytes()) {
            paths.push(path);
        } else if depth > 0 && path.is_dir() {
            below(&path, depth - 1, paths)?;
        }
    }
    Ok(())
}

/// The path within the folder, with dashes for slashes.
fn id_of(folder: &Path, path: &Path) -> Option<String> {
    let within = path.strip_prefix(folder).ok()?.to_str()?;
    Some(within.strip_suffix(ENDING)?.replace('/', "-"))
}

/// The program that an entry starts, without links.
fn program(entry: &DesktopEntry) -> Option<PathBuf> {
    let bytes = place::content(&entry.path, place::MOST_BYTES).ok()??;
    let word = program_word(value_of(&bytes, b"Exec")?).ok()?;
    let command = os::program::resolve(&[OsStr::from_bytes(&word.bytes)]).ok()?;
    let (command, _) = launcher::meant(command).ok()?;
    command.program.canonicalize().ok()
}

/// Copies an entry to `own`, the user's folder of entries, with headstart in front of its commands.
///
/// # Errors
/// The user has an entry of that ID, or the commands cannot be understood.
pub fn install(
    front: &Front,
    entry: &DesktopEntry,
    own: &Path,
    record: Option<&Path>,
) -> Result<Installed, InstallError> {
    let refused = |reason: String| InstallError::refused(&entry.path, reason);
    let words = front.words(record, false);
    let words = words.iter().map(|word| quoted(word)).collect::<Result<Vec<_>, _>>();
    let before = words.map_err(refused)?.join(" ") + " ";
    let undo = front.undo(&copy_of(entry, own));
    copied(entry, own, (Change::Before(before.as_bytes()), &undo))
}

/// Where an entry is copied to.
pub fn copy_of(entry: &DesktopEntry, own: &Path) -> PathBuf {
    own.join(format!("{}{ENDING}", entry.id))
}

/// Copies an entry to `own`, with another program in the place of that of its commands; `undo` is how
/// one takes that back.
///
/// # Errors
/// As [`install`].
pub fn redirect(
    entry: &DesktopEntry,
    own: &Path,
    program: &Path,
    undo: &str,
) -> Result<Installed, InstallError> {
    let word = quoted(program.as_os_str());
    let word = word.map_err(|reason| InstallError::refused(&entry.path, reason))?;
    let plain = program.display().to_string().replace('\\', "\\\\");
    let change = Change::Program { word: word.as_bytes(), plain: plain.as_bytes() };
    copied(entry, own, (change, undo))
}

fn copied(
    entry: &DesktopEntry,
    own: &Path,
    (change, undo): (Change<'_>, &str),
) -> Result<Installed, InstallError> {
    let at = copy_of(entry, own);
    let bytes = place::content(&entry.path, place::MOST_BYTES);
    let bytes = bytes.map_err(InstallError::io(&entry.path))?;
    let bytes = bytes.ok_or_else(|| {
        InstallError::refused(&entry.path, "it is no regular file of less than a mebibyte")
    })?;
    let refused = |reason: String| InstallError::refused(&entry.path, reason);
    let undo = undo.replace('\\', "\\\\");
    let rewritten = rewritten(&bytes, change, undo.as_bytes()).map_err(refused)?;
    place::put(&at, &rewritten, InstalledKind::DesktopEntry, Permit::Created(0o666))
}

/// Whether headstart has made a file with this content as a desktop entry.
pub(super) fn is_marked(bytes: &[u8]) -> bool {
    value_of(bytes, MARK).is_some()
}

/// The value of a key in the main group.
fn value_of<'a>(bytes: &'a [u8], wanted: &[u8]) -> Option<&'a [u8]> {
    let mut is_main = false;
    for line in bytes.split(|byte| *byte == b'\n') {
        let line = line.trim_ascii();
        if line.starts_with(b"[") {
            is_main = line == MAIN_GROUP;
        } else if let Some((key, value)) = key_and_value(line).filter(|_| is_main)
            && key == wanted
        {
            return Some(value);
        }
    }
    None
}

fn key_and_value(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = line.iter().position(|byte| *byte == b'=').filter(|_| !line.starts_with(b"#"))?;
    Some((line[..at].trim_ascii(), line[at + 1..].trim_ascii()))
}

/// What becomes of a command.
#[derive(Clone, Copy)]
enum Change<'a> {
    /// This comes in front of its program.
    Before(&'a [u8]),
    /// Another program comes in the place of its own: as a word of a command, and by itself.
    Program { word: &'a [u8], plain: &'a [u8] },
}

/// The entry with each of its commands changed.
fn rewritten(bytes: &[u8], change: Change<'_>, undo: &[u8]) -> Result<Vec<u8>, String> {
    if is_marked(bytes) {
        return Err("headstart has made this entry; the program's own one is needed".to_owned());
    }
    if value_of(bytes, b"Exec").is_none() {
        return Err("it has no Exec key: its program is started by D-Bus alone".to_owned());
    }
    let mut out = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let trimmed = line.trim_ascii();
        let ending = &line[line.trim_ascii_end().len()..];
        match key_and_value(trimmed) {
            Some((b"Exec", value)) => {
                let at = program_word(value)?.at;
                let (new, after) = match change {
                    Change::Before(before) => (before, at),
                    Change::Program { word, .. } => (word, words::end(value, at)),
                };
                out.extend([b"Exec=", &value[..at], new, &value[after..], ending].concat());
            }
            // It says whether the program is there.
            Some((b"TryExec", _)) if let Change::Program { plain, .. } = change => {
                out.extend([b"TryExec=", plain, ending].concat());
            }
            // Else it would be started by D-Bus, without headstart.
            Some((b"DBusActivatable", _)) => {
                out.extend([b"DBusActivatable=false", ending].concat());
            }
            _ => out.extend_from_slice(line),
        }
        if trimmed == MAIN_GROUP {
            let ending = if ending.is_empty() { b"\n" } else { ending };
            out.extend([MARK, b"=", undo, ending].concat());
        }
    }
    Ok(out)
}

/// The program of a command, behind `env` and the variables that it sets.
fn program_word(value: &[u8]) -> Result<Word, String> {
    let words = words::divided(&words::unescaped(value));
    let mut words = words.map_err(|found| format!("its Exec key: {found}"))?.into_iter();
    let none = || "its Exec key names no program".to_owned();
    let first = words.next().ok_or_else(none)?;
    if Path::new(OsStr::from_bytes(&first.bytes)).file_name() != Some(OsStr::new("env")) {
        return Ok(first);
    }
    let word = words.find(|word| !word.bytes.contains(&b'=') || word.bytes.starts_with(b"-"));
    match word {
        Some(word) if word.bytes.starts_with(b"-") => {
            Err("its Exec key gives options to env, which are not understood".to_owned())
        }
        found => found.ok_or_else(none),
    }
}

/// A word of a command, as a desktop entry has it.
fn quoted(word: &OsStr) -> Result<String, String> {
    let text = word.to_str().filter(|text| !text.contains(char::is_control));
    let text = text.ok_or_else(|| {
        format!("'{}' cannot stand in a desktop entry: it is no plain text", word.display())
    })?;
    if !text.contains(|c| RESERVED.contains(c)) {
        return Ok(text.replace('%', "%%"));
    }
    let mut inside = String::new();
    for c in text.chars() {
        inside.extend(ESCAPED.contains(c).then_some('\\'));
        inside.push(c);
    }
    // The value is a string, in which each backslash is escaped again.
    Ok(format!("\"{}\"", inside.replace('\\', "\\\\").replace('%', "%%")))
}

#[cfg(test)]
mod tests;

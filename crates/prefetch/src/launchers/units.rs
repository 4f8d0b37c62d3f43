//! Units of systemd, as far as one has to know them to start something before their programs:
//! where they are (systemd.unit(5)), and what their lines say (systemd.syntax(7)).

use super::{InstallError, place};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const SECTION: &str = "[Service]";

/// Folders of units, the most important one first.
#[derive(Clone, Debug)]
pub struct UnitFolders {
    /// Where units and drop-ins are looked for.
    pub search: Vec<PathBuf>,
    /// Where a new drop-in is written; one of them.
    pub own: PathBuf,
    /// They are the system's, whose services may be kept out of users' folders.
    pub of_system: bool,
    /// SELinux is in use: the domain of a system's service depends on the file that systemd starts.
    pub selinux: bool,
}

impl UnitFolders {
    /// The system's.
    pub fn system() -> UnitFolders {
        let search = ["/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib"];
        let search = search.map(|folder| Path::new(folder).join("systemd/system"));
        let selinux = Path::new("/sys/fs/selinux/enforce").exists();
        UnitFolders { own: search[0].clone(), search: search.to_vec(), of_system: true, selinux }
    }

    /// A user's, whose folders for configuration and data are given.
    pub fn of_user(config: &Path, data: &Path) -> UnitFolders {
        let own = config.join("systemd/user");
        let mut search = vec![own.clone(), "/etc/systemd/user".into(), "/run/systemd/user".into()];
        search.push(data.join("systemd/user"));
        let packages = ["/usr/local/share", "/usr/share", "/usr/local/lib", "/usr/lib"];
        search.extend(packages.map(|folder| Path::new(folder).join("systemd/user")));
        UnitFolders { search, own, of_system: false, selinux: false }
    }

    /// The file of a unit.
    pub(super) fn unit(&self, name: &str) -> Result<PathBuf, InstallError> {
        let found = self.search.iter().map(|folder| folder.join(name));
        let found = found.into_iter().find(|path| path.symlink_metadata().is_ok());
        found.ok_or_else(|| {
            let whose = if self.of_system { "the system's" } else { "the user's" };
            InstallError::refused(Path::new(name), format!("it is not among {whose} units"))
        })
    }

    /// The drop-ins of a unit in the order in which they are read: by name, whichever folder they
    /// are in; of two of one name, the one in the more important folder.
    pub(super) fn drop_ins(&self, unit: &str) -> Result<Vec<PathBuf>, InstallError> {
        let mut by_name = BTreeMap::new();
        for folder in folders_of_drop_ins(unit) {
            for search in &self.search {
                let folder = search.join(&folder);
                let entries = match std::fs::read_dir(&folder) {
                    Err(error) if error.kind() == ErrorKind::NotFound => continue,
                    entries => entries.map_err(InstallError::io(&folder))?,
                };
                for entry in entries {
                    let path = entry.map_err(InstallError::io(&folder))?.path();
                    if path.extension().is_some_and(|ending| ending == "conf") {
                        let name = path.file_name().unwrap_or_default().to_owned();
                        by_name.entry(name).or_insert(path);
                    }
                }
            }
        }
        Ok(by_name.into_values().collect())
    }
}

/// Of `a-b.service`: its own, that of `a-.service`, and that of all services.
fn folders_of_drop_ins(unit: &str) -> Vec<String> {
    let stem = unit.strip_suffix(".service").unwrap_or(unit);
    let mut folders = vec![format!("{unit}.d")];
    let prefixes = stem.match_indices('-').map(|(at, _)| &stem[..=at]).rev();
    folders.extend(prefixes.map(|prefix| format!("{prefix}.service.d")));
    folders.push("service.d".to_owned());
    folders
}

/// The lines `key = value` of the services' section, in order.
pub(super) fn settings(path: &Path) -> Result<Vec<(String, String)>, InstallError> {
    let bytes = place::content(path, place::MOST_BYTES).map_err(InstallError::io(path))?;
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let text = text.ok_or_else(|| InstallError::refused(path, "it is no text file"))?;
    Ok(parsed(&text))
}

fn parsed(text: &str) -> Vec<(String, String)> {
    let (mut settings, mut is_service) = (Vec::new(), false);
    for line in joined(text) {
        let line = line.trim();
        if line.starts_with('[') {
            is_service = line == SECTION;
        } else if let Some((key, value)) = line.split_once('=').filter(|_| is_service) {
            settings.push((key.trim().to_owned(), value.trim().to_owned()));
        }
    }
    settings
}

/// The lines without comments. A backslash at the end stands for a space, and the line goes on with
/// the next one that is no comment.
fn joined(text: &str) -> Vec<String> {
    let (mut lines, mut begun) = (Vec::new(), None::<String>);
    for line in text.lines() {
        let line = line.trim_start();
        if line.starts_with(['#', ';']) {
            continue;
        }
        let mut whole = begun.take().unwrap_or_default() + line;
        let backslashes = whole.bytes().rev().take_while(|byte| *byte == b'\\').count();
        if backslashes % 2 == 1 {
            whole.pop();
            begun = Some(whole + " ");
        } else {
            lines.push(whole);
        }
    }
    lines.extend(begun);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_joined_and_comments_left_out_also_in_between() {
        let text = "[Unit]\nExecStart=/no\n ; c\n[Service]\n# ExecStart=/no\nExecStart = /a b\\\n\
                    # c\n  \tc \\\n;d\n e\\\\\nType=simple \nKillMode=\n[Install]\nX=y\\";
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let wanted =
            [pair("ExecStart", r"/a b c  e\\"), pair("Type", "simple"), pair("KillMode", "")];
        assert_eq!(parsed(text), wanted);
    }

    #[test]
    fn drop_ins_of_prefixes_and_of_all_services_count() {
        let folders = folders_of_drop_ins("a-b-c.service");
        let wanted = ["a-b-c.service.d", "a-b-.service.d", "a-.service.d", "service.d"];
        assert_eq!(folders, wanted);
    }
}

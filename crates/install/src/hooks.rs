//! What renews programs by itself after packages have changed: files of package managers and units of
//! systemd, written with the first program and removed with the last one.

use crate::ProgramError;
use crate::placed::{Placed, missing_folders};
use crate::swap;
use files::Permit;
use model::{quoted, text};
use os::tool;
use std::path::{Path, PathBuf};

/// How each file begins, by which headstart knows its own.
const MARK: &str =
    "# Written by headstart, and removed with the last program that it has installed.";
const SERVICE: &str = "headstart-renew.service";
const TIMER: &str = "headstart-renew.timer";
const WATCH: &str = "headstart-renew.path";

/// Where such files are put; each only where its program is there.
#[derive(Clone, Debug, Default)]
pub struct HookPlaces {
    /// dpkg's folder of settings.
    pub dpkg: Option<PathBuf>,
    /// pacman's folder of hooks.
    pub pacman: Option<PathBuf>,
    /// The folder of dnf's plug-in for actions after a transaction.
    pub dnf: Option<PathBuf>,
    /// Units of systemd.
    pub units: Option<UnitPlace>,
    /// The command that renews, in words: headstart's own file first.
    pub renew: Vec<String>,
    /// What it finds in its environment: names and values.
    pub environment: Vec<(String, String)>,
}

/// Units of systemd.
#[derive(Clone, Debug)]
pub struct UnitPlace {
    /// Where they are written.
    pub folder: PathBuf,
    /// `systemctl`, with the word that makes it a user's.
    pub systemctl: Vec<String>,
}

impl HookPlaces {
    /// Nothing would renew a program by itself.
    pub fn is_empty(&self) -> bool {
        self.dpkg.is_none() && self.pacman.is_none() && self.dnf.is_none() && self.units.is_none()
    }

    /// Writes all files; what a user should know.
    pub(crate) fn write(&self, state: &Path) -> Vec<String> {
        let files = self.files();
        match self.written(state, &files) {
            Ok(notes) => notes,
            Err(error) => vec![format!("programs are not renewed automatically: {error}")],
        }
    }

    fn written(
        &self,
        state: &Path,
        files: &[(PathBuf, String)],
    ) -> Result<Vec<String>, ProgramError> {
        let mut notes = Vec::new();
        let mut noted = Placed::read(state)?;
        let mut new = false;
        for (path, content) in files {
            if std::fs::read_to_string(path).is_ok_and(|present| present == *content) {
                // Also where the note of it was lost.
                if !noted.files.contains(&text::text(path)) {
                    noted.files.push(text::text(path));
                    noted.write(state)?;
                }
                continue;
            }
            if swap::is_there(path)? && !is_ours(path) {
                notes.push(format!(
                    "{} already exists and is not headstart's, so it stays as it is, and this hook \
                     renews no programs",
                    path.display()
                ));
                continue;
            }
            let folder = files::folder_of(path);
            noted.made_folders.extend(missing_folders(folder));
            if !noted.files.contains(&text::text(path)) {
                noted.files.push(text::text(path));
            }
            noted.write(state)?;
            swap::make_folder(folder)?;
            files::write_over(path, content.as_bytes(), Permit::Exactly(0o644))?;
            new = true;
        }
        if let Some(units) = self.units.as_ref().filter(|_| new) {
            let links = units.links().into_iter().filter(|link| !noted.files.contains(link));
            // They are known by what they lead to, so they go first.
            let links: Vec<String> = links.collect();
            noted.files.splice(..0, links);
            noted.write(state)?;
            notes.extend(units.enable());
        }
        Ok(notes)
    }

    /// Removes what was written; what a user should know.
    pub(crate) fn remove(&self, state: &Path) -> Vec<String> {
        let mut noted = match Placed::read(state) {
            Ok(noted) if noted.files.is_empty() => return Vec::new(),
            Ok(noted) => noted,
            Err(error) => return vec![error.to_string()],
        };
        let mut notes = Vec::new();
        let is_unit = |file: &String| file.ends_with(TIMER);
        let units = self.units.as_ref().filter(|_| noted.files.iter().any(is_unit));
        notes.extend(units.and_then(UnitPlace::disable));
        for file in &noted.files {
            let path = PathBuf::from(text::name(file));
            if is_ours(&path)
                && let Err(error) = swap::remove(&path)
            {
                notes.push(error.to_string());
            }
        }
        if let Some(units) = units {
            notes.extend(units.call(&["daemon-reload"]));
        }
        if notes.is_empty() {
            noted.files.clear();
            notes.extend(noted.write(state).err().map(|error| error.to_string()));
        }
        notes
    }

    fn files(&self) -> Vec<(PathBuf, String)> {
        let mut files = Vec::new();
        if let Some(folder) = &self.dpkg {
            files.push((folder.join("headstart"), self.dpkg_setting()));
        }
        if let Some(folder) = &self.pacman {
            files.push((folder.join("headstart.hook"), self.pacman_hook()));
        }
        if let Some(folder) = &self.dnf {
            let command = self.in_shell();
            files.push((
                folder.join("headstart.action"),
                format!("{MARK}\n*:any:/bin/sh -c {}\n", quoted(command)),
            ));
        }
        if let Some(units) = &self.units {
            files.extend(self.unit_files(&units.folder));
        }
        files
    }

    /// A command for a shell that renews: in the background where systemd is there, else now. It never
    /// fails, and does nothing where headstart is gone.
    fn in_shell(&self) -> String {
        let program = quoted(self.renew.first().map_or("", String::as_str));
        let words: Vec<String> = self.renew.iter().map(quoted).collect();
        let words = words.join(" ");
        let now = format!("{words} >/dev/null 2>&1 || :");
        let renew = match &self.units {
            Some(_) => format!(
                "if test -d /run/systemd/system; then systemctl start --no-block {SERVICE} \
                 >/dev/null 2>&1 || :; else {now}; fi"
            ),
            None => now,
        };
        let variables = startup::LOADER_VARIABLES.join(" ");
        format!("if test -x {program}; then unset {variables}; {renew}; fi")
    }

    /// dpkg.cfg(5). Between unpacking and configuring, files are of two versions.
    fn dpkg_setting(&self) -> String {
        let command = self.in_shell();
        format!("{MARK}\npost-invoke=if test \"$DPKG_HOOK_ACTION\" != unpack; then {command}; fi\n")
    }

    /// alpm-hooks(5).
    fn pacman_hook(&self) -> String {
        let command = self.in_shell();
        format!(
            "{MARK}\n[Trigger]\nOperation = Install\nOperation = Upgrade\nOperation = Remove\n\
             Type = Package\nTarget = *\n\n[Action]\nDescription = Renewing optimized programs...\n\
             When = PostTransaction\nExec = /bin/sh -c {}\n",
            double_quoted(&command)
        )
    }

    /// systemd.service(5), systemd.timer(5), systemd.path(5).
    fn unit_files(&self, folder: &Path) -> [(PathBuf, String); 3] {
        let words: Vec<String> = self.renew.iter().map(|word| double_quoted(word)).collect();
        let set = self.environment.iter().map(|(name, value)| {
            let set = format!("{name}={value}").replace('%', "%%");
            format!("Environment={}\n", double_quoted(&set))
        });
        let set: String = set.collect();
        let service = format!(
            "{MARK}\n[Unit]\nDescription=Renew optimized programs\nStartLimitIntervalSec=0\n\n[Service]\nType=oneshot\n\
             {set}ExecStart={}\nNice=19\nCPUSchedulingPolicy=idle\nIOSchedulingClass=idle\n",
            words.join(" ").replace('%', "%%").replace('$', "$$")
        );
        let timer = format!(
            "{MARK}\n[Unit]\nDescription=Renew optimized programs daily\n\n[Timer]\nOnCalendar=daily\n\
             RandomizedDelaySec=1h\nPersistent=true\n\n[Install]\nWantedBy=timers.target\n"
        );
        let watch = format!(
            "{MARK}\n[Unit]\nDescription=Renew optimized programs when libraries change\n\n[Path]\n\
             PathChanged=/etc/ld.so.cache\n\n[Install]\nWantedBy=paths.target\n"
        );
        [(folder.join(SERVICE), service), (folder.join(TIMER), timer), (folder.join(WATCH), watch)]
    }
}

/// A word for systemd and pacman.
fn double_quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@,=%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

fn is_ours(path: &Path) -> bool {
    std::fs::read_to_string(path).is_ok_and(|text| text.starts_with(MARK))
}

impl UnitPlace {
    /// Calls systemctl; why it fails.
    fn call(&self, words: &[&str]) -> Option<String> {
        let (program, first) = self.systemctl.split_first()?;
        let all: Vec<&str> =
            first.iter().map(String::as_str).chain(words.iter().copied()).collect();
        let said = match tool::run(Path::new(program), &all) {
            Ok(said) if said.success => return None,
            Ok(said) => said.last_line(),
            Err(error) => error.to_string(),
        };
        Some(format!("`{program} {}` failed ({said}): run it yourself", all.join(" ")))
    }

    /// What enabling makes (systemctl(1)), which stays where systemctl cannot be asked to remove it.
    fn links(&self) -> [String; 2] {
        [("timers.target.wants", TIMER), ("paths.target.wants", WATCH)]
            .map(|(folder, unit)| text::text(self.folder.join(folder).join(unit)))
    }

    fn enable(&self) -> Vec<String> {
        let reload = self.call(&["daemon-reload"]);
        reload.into_iter().chain(self.call(&["enable", "--now", TIMER, WATCH])).collect()
    }

    fn disable(&self) -> Option<String> {
        self.call(&["disable", "--now", TIMER, WATCH])
    }
}

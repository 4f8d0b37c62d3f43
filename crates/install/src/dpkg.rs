//! What Debian's package manager is asked and told.

use crate::ProgramError;
use crate::workshop::process;
use os::tool::{self, ToolOutput};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What front ends of dpkg lock while they are at work.
const LOCK: &str = "lock-frontend";
const PAUSE: Duration = Duration::from_millis(100);
/// Set where a front end of dpkg has the lock and waits for this process.
const LOCKED: &str = "DPKG_FRONTEND_LOCKED";
/// Set where dpkg waits for this process, and may have the lock.
const HOOK: &str = "DPKG_HOOK_ACTION";
/// Folders that a link leads to since `/usr` is merged, and the link by which packages may know
/// their files.
const MERGED: [(&str, &str); 3] =
    [("/usr/bin", "/bin"), ("/usr/sbin", "/sbin"), ("/usr/lib", "/lib")];

/// Debian's package manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dpkg {
    /// `dpkg-divert`.
    pub divert: PathBuf,
    /// `dpkg-query`.
    pub query: PathBuf,
    /// The folder of its database.
    pub admin: PathBuf,
}

/// Whose a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) package: String,
    /// The path by which the package has it.
    pub(crate) known_as: PathBuf,
}

impl Dpkg {
    /// The one of this system, where it has one.
    pub fn find() -> Option<Dpkg> {
        let admin = PathBuf::from("/var/lib/dpkg");
        let (divert, query) = (tool::find("dpkg-divert")?, tool::find("dpkg-query")?);
        admin.join("status").exists().then_some(Dpkg { divert, query, admin })
    }

    fn run(&self, tool: &Path, words: &[&OsStr]) -> Result<ToolOutput, ProgramError> {
        let mut all: Vec<OsString> = vec!["--admindir".into(), self.admin.clone().into()];
        all.extend(words.iter().map(|word| (*word).to_owned()));
        tool::run(tool, &all).map_err(ProgramError::io(tool))
    }

    /// The package whose file this is; `None` where no package has it.
    pub(crate) fn owner(&self, file: &Path) -> Result<Option<Owner>, ProgramError> {
        for known_as in names(file) {
            let said = self.run(&self.query, &["-S".as_ref(), escaped(&known_as).as_ref()])?;
            let wanted = format!(": {}", known_as.display());
            let lines = said.stdout.lines().filter_map(|line| line.strip_suffix(&wanted));
            let mut lines = lines.filter(|line| !line.contains("diversion "));
            // Of a file that several packages share, each is named.
            if let Some(package) = lines.next().and_then(|packages| packages.split(", ").next()) {
                return Ok(Some(Owner { package: package.to_owned(), known_as }));
            }
        }
        Ok(None)
    }

    /// Whether the system cannot do without a package.
    pub(crate) fn is_essential(&self, package: &str) -> Result<bool, ProgramError> {
        let format = "--showformat=${Essential} ${Protected} ${Important}\\n";
        let said = self.run(&self.query, &[format.as_ref(), "-W".as_ref(), package.as_ref()])?;
        Ok(said.stdout.split_whitespace().any(|word| word == "yes"))
    }

    /// Where files of this name really go, if they are diverted.
    pub(crate) fn diverted_to(&self, known_as: &Path) -> Result<Option<PathBuf>, ProgramError> {
        let said = self.divert(&["--truename".as_ref(), known_as.as_ref()])?;
        let real = PathBuf::from(said.stdout.trim_end_matches('\n'));
        Ok(Some(real).filter(|real| real != known_as && !real.as_os_str().is_empty()))
    }

    /// Who diverts files of this name: a package, or nobody in particular.
    pub(crate) fn diverted_by(&self, known_as: &Path) -> Result<String, ProgramError> {
        let said = self.divert(&["--listpackage".as_ref(), known_as.as_ref()])?;
        let by = said.stdout.trim().to_owned();
        Ok(if by.is_empty() || by == "LOCAL" { "an administrator".to_owned() } else { by })
    }

    /// Whether files of another name come to this path.
    pub(crate) fn is_diverted_here(&self, path: &Path) -> Result<bool, ProgramError> {
        let to = format!(" to {} by ", path.display());
        let local = format!(" to {}", path.display());
        let said = self.divert(&["--list".as_ref()])?;
        Ok(said.stdout.lines().any(|line| line.contains(&to) || line.ends_with(&local)))
    }

    /// The files that are diverted to their own names with this ending.
    pub(crate) fn diverted_as(&self, ending: &str) -> Result<Vec<PathBuf>, ProgramError> {
        let said = self.divert(&["--list".as_ref(), format!("*{ending}").as_ref()])?;
        let path = |line: &str| {
            let (from, _) = line.strip_prefix("local diversion of ")?.split_once(" to ")?;
            Some(PathBuf::from(from))
        };
        Ok(said.stdout.lines().filter_map(path).collect())
    }

    /// From now on, packages put this file elsewhere.
    pub(crate) fn add(&self, known_as: &Path, original: &Path) -> Result<(), ProgramError> {
        let words: [&OsStr; 6] = [
            "--local".as_ref(),
            "--no-rename".as_ref(),
            "--add".as_ref(),
            "--divert".as_ref(),
            original.as_ref(),
            known_as.as_ref(),
        ];
        self.divert(&words).map(drop)
    }

    /// Packages put it at its own path again. Where they did anyway, nothing happens.
    pub(crate) fn remove(&self, known_as: &Path) -> Result<(), ProgramError> {
        let words: [&OsStr; 4] =
            ["--local".as_ref(), "--no-rename".as_ref(), "--remove".as_ref(), known_as.as_ref()];
        self.divert(&words).map(drop)
    }

    fn divert(&self, words: &[&OsStr]) -> Result<ToolOutput, ProgramError> {
        let said = self.run(&self.divert, words)?;
        match said.success {
            true => Ok(said),
            false => {
                let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
                let tool = format!("{} {}", self.divert.display(), words.join(" "));
                Err(ProgramError::Tool { tool, said: said.last_line() })
            }
        }
    }

    /// Keeps packages from being installed meanwhile, as their front ends do with each other: dpkg
    /// would not know of a diversion that is added while it runs.
    pub(crate) fn locked(&self, patience: Duration) -> Result<Option<File>, ProgramError> {
        let is_set = |name: &str| std::env::var_os(name).is_some();
        if is_set(LOCKED) {
            return Ok(None);
        }
        let path = self.admin.join(LOCK);
        let deadline = Instant::now() + patience;
        loop {
            match os::locks::record_lock(&path) {
                Ok(file) => return Ok(Some(file)),
                // Old versions of dpkg have no such file.
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                Err(error) if error.kind() != ErrorKind::WouldBlock => {
                    return Err(ProgramError::io(&path)(error));
                }
                Err(_) if is_set(HOOK) => return Ok(None),
                Err(_) if Instant::now() < deadline => std::thread::sleep(PAUSE),
                Err(_) => {
                    let (what, holder) = ("a package manager", os::locks::record_holder(&path));
                    return Err(ProgramError::Busy { what, holder: process(holder) });
                }
            }
        }
    }
}

/// The names that a package may know a file by.
pub(crate) fn names(file: &Path) -> Vec<PathBuf> {
    let mut names = vec![file.to_owned()];
    for (folder, link) in MERGED {
        let is_merged = Path::new(link).canonicalize().is_ok_and(|to| to == Path::new(folder));
        let rest = file.strip_prefix(folder).ok().filter(|_| is_merged);
        names.extend(rest.map(|rest| Path::new(link).join(rest)));
    }
    names
}

/// The path as a pattern that fits nothing else.
fn escaped(path: &Path) -> OsString {
    let mut pattern = Vec::new();
    for byte in path.as_os_str().as_bytes() {
        if b"*?[\\".contains(byte) {
            pattern.push(b'\\');
        }
        pattern.push(*byte);
    }
    OsStr::from_bytes(&pattern).to_owned()
}

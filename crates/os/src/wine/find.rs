//! Where Wine is.

use super::WineError;
use model::Command;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Wine for 64-bit programs.
const LOADER: &str = "wine64";
/// Where packages keep `wine64` outside `PATH`: Debian, WineHQ.
const ASIDE: [&str; 3] = ["/usr/lib/wine", "/opt/wine-stable/bin", "/opt/wine-devel/bin"];
/// Where Wine's own PE files are, seen from the folder of `wine64`.
const FROM_LOADER: [&str; 4] =
    ["../x86_64-linux-gnu/wine", "../lib64/wine", "../lib/wine", "../lib/x86_64-linux-gnu/wine"];
const PE_FILES: &str = "x86_64-windows";

/// The parts of an installed Wine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installation {
    /// `wine64`, which loads programs.
    pub loader: PathBuf,
    /// The server that all programs of a prefix share.
    pub server: PathBuf,
    /// Folder of Wine's PE files for x86_64.
    pub libraries: PathBuf,
    /// `wine-8.0`.
    pub version: String,
}

impl Installation {
    /// Looks along `PATH`, and where packages put it otherwise.
    ///
    /// # Errors
    /// It, or a part of it, is not there.
    pub fn find() -> Result<Installation, WineError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders: Vec<PathBuf> =
            std::env::split_paths(&path).chain(ASIDE.map(PathBuf::from)).collect();
        Self::find_in(&folders)
    }

    /// What launches the PE program of `command` by this Wine, in the prefix that its variables or
    /// headstart's own name.
    pub fn launching(&self, command: &Command) -> Command {
        let program = std::path::absolute(&command.program);
        let program = program.unwrap_or_else(|_| command.program.clone());
        let arguments = command.argv.iter().skip(1).cloned();
        Command {
            argv: [LOADER.into(), program.into()].into_iter().chain(arguments).collect(),
            program: self.loader.clone(),
            ..command.clone()
        }
    }

    fn find_in(folders: &[PathBuf]) -> Result<Installation, WineError> {
        let candidates = folders.iter().map(|folder| folder.join(LOADER));
        let loader = candidates
            .filter_map(|path| path.canonicalize().ok())
            .find(|path| is_elf(path))
            .ok_or_else(|| WineError::NotFound(ASIDE.join(", ")))?;
        let folder = loader.parent().unwrap_or(Path::new("/"));
        let missing = |missing, folders: &[PathBuf]| WineError::Incomplete {
            loader: loader.clone(),
            missing,
            folders: folders.iter().map(|f| f.display().to_string()).collect::<Vec<_>>().join(", "),
        };
        let servers = ["wineserver64", "wineserver"].map(|name| folder.join(name));
        let server = servers.into_iter().find(|path| is_elf(path));
        let server = server.ok_or_else(|| missing("its wineserver", &[folder.to_owned()]))?;
        let libraries = FROM_LOADER.map(|way| folder.join(way).join(PE_FILES));
        let found = libraries.iter().find(|folder| folder.join("kernel32.dll").is_file());
        let found = found.ok_or_else(|| missing("its own libraries", &libraries))?;
        let libraries = found.canonicalize().unwrap_or_else(|_| found.clone());
        let version = version(&loader)?;
        Ok(Installation { loader, server, libraries, version })
    }
}

/// Scripts of that name start other programs first, which is not what is to be measured.
fn is_elf(path: &Path) -> bool {
    let mut magic = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && &magic == b"\x7fELF"
}

/// What `wine64 --version` prints, without the packager's part. It makes no prefix.
fn version(loader: &Path) -> Result<String, WineError> {
    let by_hand = format!("{} --version", loader.display());
    let failed = |found: String| WineError::NotReady { found, by_hand: by_hand.clone() };
    let output = std::process::Command::new(loader).arg("--version").stdin(Stdio::null()).output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.split_whitespace().next() {
        Some(version) if output.status.success() => Ok(version.to_owned()),
        _ => Err(failed("it does not report its version".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_installed_one_is_whole() {
        let Some(loader) = testkit::tool("wine64") else { return };
        let found = Installation::find().unwrap();
        assert_eq!(found.loader, loader.canonicalize().unwrap());
        assert!(found.libraries.join("ntdll.dll").is_file() && found.server.is_file());
        assert!(found.version.starts_with("wine-"), "{found:?}");
        assert!(!found.version.contains(' '), "{found:?}");
    }

    #[test]
    fn what_is_missing_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let find = || Installation::find_in(&[folder.path().to_owned()]).unwrap_err().to_string();
        assert!(find().contains("apt-get install wine64"));
        let loader = folder.path().join("wine64");
        std::fs::write(&loader, "#!/bin/sh\nexec wine \"$@\"\n").unwrap();
        std::fs::set_permissions(&loader, PermissionsExt::from_mode(0o755)).unwrap();
        assert!(find().contains("wine64 is neither in PATH"), "a script is not the loader");
        std::fs::write(&loader, b"\x7fELF").unwrap();
        assert!(find().contains("lacks its wineserver"), "{}", find());
        std::fs::write(folder.path().join("wineserver"), b"\x7fELF").unwrap();
        assert!(find().contains("lacks its own libraries"), "{}", find());
    }
}

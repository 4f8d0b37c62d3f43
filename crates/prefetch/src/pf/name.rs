//! The name of the prefetch file of a program.

use super::hash::PfHash;
use thiserror::Error;

/// Characters of the program's name that are kept.
const KEPT: usize = 29;
/// What Windows puts in the place of the device since version 10; the hash is that of the device.
const VOLUME: &str = r"\VOLUME{";

/// A name that Windows gives to the prefetch file of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PfName {
    /// `CMD.EXE-087B4001.pf`.
    pub name: String,
    /// The function of its hash.
    pub function: PfHash,
    /// The path that is hashed.
    pub device_path: String,
}

/// Why a path has no such name.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum PfNameProblem {
    /// It does not begin at a device or a drive.
    #[error("the path is not absolute: it begins neither with a drive letter nor with \\Device\\")]
    NotAbsolute,
    /// It is that of a server.
    #[error("the program is on another computer: how Windows hashes such a path is not known")]
    Network,
    /// It ends in a folder.
    #[error("the path ends in no file name")]
    NoFile,
}

/// Why names of a program depend on more than its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PfHost {
    /// It runs the code of others, so that its command line is hashed, too.
    CommandLine,
    /// It is part of a package of Microsoft's store, whose identity is hashed, too.
    Package,
}

/// The name of the prefetch file of the program at a device path, by each function.
pub fn name_of(device_path: &str) -> [PfName; 3] {
    PfHash::ALL.map(|function| {
        let kept = kept(device_path);
        let hash = function.of(device_path);
        let name = format!("{kept}-{hash:08X}.pf");
        PfName { name, function, device_path: device_path.to_owned() }
    })
}

/// The name of the program as a prefetch file keeps it.
pub(super) fn kept(path: &str) -> String {
    let name = path.rsplit('\\').next().unwrap_or_default();
    let units: Vec<u16> = name.encode_utf16().take(KEPT).collect();
    String::from_utf16_lossy(&units)
}

/// The path in capital letters from the device on, which for a path with a drive letter is `volume`
/// (`HARDDISKVOLUME2`). A path that names its device keeps that.
///
/// # Errors
/// Why the path has no prefetch file.
pub fn device_path(path: &str, volume: &str) -> Result<String, PfNameProblem> {
    let path = upper(&path.replace('/', "\\"));
    let path = [r"\\?\", r"\??\"]
        .into_iter()
        .find_map(|prefix| path.strip_prefix(prefix))
        .unwrap_or(&path);
    if path.ends_with('\\') || path.is_empty() {
        return Err(PfNameProblem::NoFile);
    }
    if path.starts_with(r"\\") || path.starts_with(r"UNC\") {
        return Err(PfNameProblem::Network);
    }
    if names_device(path) && !path.starts_with(VOLUME) {
        return Ok(path.to_owned());
    }
    let below = match path.strip_prefix(VOLUME) {
        Some(rest) => rest.split_once('}').map(|(_, below)| below),
        None => path
            .strip_prefix(|letter: char| letter.is_ascii_alphabetic())
            .and_then(|rest| rest.strip_prefix(':')),
    };
    match below {
        Some(below) if below.starts_with('\\') => Ok(format!(r"\DEVICE\{}{below}", upper(volume))),
        _ => Err(PfNameProblem::NotAbsolute),
    }
}

/// Whether a path says by itself on which device the file is.
pub fn names_device(path: &str) -> bool {
    upper(path).replace('/', "\\").starts_with(r"\DEVICE\")
}

/// Why the names of this program depend on more than its path.
pub fn host(path: &str) -> Option<PfHost> {
    const HOSTS: [&str; 9] = [
        "DLLHOST.EXE",
        "MMC.EXE",
        "RUNDLL32.EXE",
        "SVCHOST.EXE",
        "TASKHOST.EXE",
        "TASKHOSTEX.EXE",
        "TASKHOSTW.EXE",
        "BACKGROUNDTASKHOST.EXE",
        "WWAHOST.EXE",
    ];
    let path = upper(path).replace('/', "\\");
    let name = path.rsplit('\\').next().unwrap_or_default();
    if HOSTS.contains(&name) {
        return Some(PfHost::CommandLine);
    }
    let packages = [r"\PROGRAM FILES\WINDOWSAPPS\", r"\WINDOWS\SYSTEMAPPS\"];
    packages.into_iter().any(|folder| path.contains(folder)).then_some(PfHost::Package)
}

/// In capital letters, as Windows compares names: one character for each.
fn upper(text: &str) -> String {
    let upper = |character: char| {
        let mut several = character.to_uppercase();
        match (several.next(), several.next()) {
            (Some(one), None) => one,
            _ => character,
        }
    };
    text.chars().map(upper).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_all_forms_lead_to_the_device() {
        let wanted = r"\DEVICE\HARDDISKVOLUME2\WINDOWS\NOTEPAD.EXE";
        for path in [
            r"C:\Windows\notepad.exe",
            "c:/windows/notepad.exe",
            r"\\?\C:\Windows\notepad.exe",
            r"\??\C:\Windows\notepad.exe",
            r"\Device\HarddiskVolume2\Windows\Notepad.exe",
            r"\VOLUME{01d1217a9c4c6779-8c9f49ec}\WINDOWS\NOTEPAD.EXE",
        ] {
            assert_eq!(device_path(path, "HarddiskVolume2").as_deref(), Ok(wanted), "{path}");
        }
        let refused = |path: &str| device_path(path, "HARDDISKVOLUME2").unwrap_err();
        for path in ["notepad.exe", "C:notepad.exe", r"\Windows\notepad.exe", r"\VOLUME{1", "1:\\x"]
        {
            assert_eq!(refused(path), PfNameProblem::NotAbsolute, "{path}");
        }
        assert_eq!(refused(r"\\server\share\a.exe"), PfNameProblem::Network);
        assert_eq!(refused(r"\\?\UNC\server\share\a.exe"), PfNameProblem::Network);
        assert_eq!((refused("C:\\"), refused("")), (PfNameProblem::NoFile, PfNameProblem::NoFile));
    }

    #[test]
    fn long_names_are_cut_and_letters_become_capitals() {
        let path =
            device_path(r"D:\straße\élan-with-a-very-long-name-indeed.exe", "HARDDISKVOLUME3");
        let path = path.unwrap();
        assert_eq!(path, r"\DEVICE\HARDDISKVOLUME3\STRAßE\ÉLAN-WITH-A-VERY-LONG-NAME-INDEED.EXE");
        let [xp, vista, later] = name_of(&path);
        assert!(xp.name.starts_with("ÉLAN-WITH-A-VERY-LONG-NAME-IN-"), "{}", xp.name);
        assert_ne!(xp.name, vista.name);
        assert_eq!(vista.name, later.name);
        assert_eq!(
            name_of(r"\DEVICE\HARDDISKVOLUME1\WINDOWS\SYSTEM32\CMD.EXE")[0].name,
            "CMD.EXE-087B4001.pf"
        );
    }

    #[test]
    fn hosts_are_known() {
        assert_eq!(host(r"C:\Windows\System32\svchost.exe"), Some(PfHost::CommandLine));
        let app = r"C:\Program Files\WindowsApps\Microsoft.WindowsCalculator_10\Calculator.exe";
        assert_eq!(host(app), Some(PfHost::Package));
        assert_eq!(host(r"C:\Windows\System32\cmd.exe"), None);
    }
}

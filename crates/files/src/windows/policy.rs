//! Which files headstart does not replace, by their places and by who has them open.

use super::patience::is_in_use;
use crate::Privilege;
use std::fs::{Metadata, OpenOptions};
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use windows_sys::Win32::Storage::FileSystem::FILE_SHARE_READ;

/// Variables that name the folders of Windows and of installed programs.
const MANAGED: [&str; 4] = ["SystemRoot", "ProgramFiles", "ProgramFiles(x86)", "ProgramW6432"];
const USUAL: [&str; 3] = ["Windows", "Program Files", "Program Files (x86)"];
/// Whose files those of such a folder are.
pub(crate) const PACKAGES: &str = "Windows or to installed programs, which replace and check them";

/// Programs have no privileges of their own: their users have them.
pub fn privilege(_path: &Path) -> Option<Privilege> {
    None
}

/// The folder of Windows or of installed programs that a file is in.
pub(crate) fn folder_of_packages(real: &Path) -> Option<PathBuf> {
    let named = MANAGED.iter().filter_map(|name| Some(PathBuf::from(std::env::var_os(name)?)));
    // Where they usually are, as variables can be missing.
    let drive = real.ancestors().last().unwrap_or(real);
    let usual = USUAL.iter().map(|name| drive.join(name));
    let mut folders = named.filter(|folder| folder.is_absolute()).chain(usual);
    folders.find(|folder| is_in(real, folder))
}

/// Whether the file is in the folder, where case makes no difference.
fn is_in(file: &Path, folder: &Path) -> bool {
    let lower = |path: &Path| PathBuf::from(path.to_string_lossy().to_lowercase());
    lower(file).starts_with(lower(folder))
}

/// Why a file is not the user's to replace.
pub(crate) fn not_ones_own(_real: &Path, data: &Metadata) -> Option<String> {
    let is_marked = data.permissions().readonly();
    is_marked
        .then(|| "it is marked as read-only; clear the mark first: attrib -r \"FILE\"".to_owned())
}

/// How many names the file has.
pub(crate) fn names(real: &Path, _data: &Metadata) -> u64 {
    let found = winapi_util::Handle::from_path_any(real).and_then(winapi_util::file::information);
    found.map_or(1, |found| found.number_of_links())
}

/// Which files programs write to, or run: such a file cannot be opened for writing by oneself
/// alone.
#[derive(Debug, Default)]
pub struct Writers {}

impl Writers {
    /// Why the file cannot be replaced now.
    pub(crate) fn of(&self, real: &Path, _data: &Metadata) -> Option<String> {
        let mut options = OpenOptions::new();
        let opened = options.read(true).write(true).share_mode(FILE_SHARE_READ).open(real);
        let error = opened.err().filter(is_in_use)?;
        Some(format!("a program runs it or has it open for writing ({error}); try again later"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_makes_no_difference_and_names_are_whole() {
        let is_in = |file: &str| is_in(Path::new(file), Path::new(r"C:\Windows"));
        assert!(is_in(r"c:\windows\system32\x.dll") && is_in(r"C:\WINDOWS\x.dll"));
        assert!(!is_in(r"C:\Windows.old\x.dll") && !is_in(r"D:\Windows\x.dll"));
    }

    #[test]
    fn installed_programs_are_known_without_variables() {
        let of = |path: &str| folder_of_packages(Path::new(path));
        assert!(of(r"D:\program files\x\y.dll").is_some() && of(r"D:\Windows\y.dll").is_some());
        assert!(of(r"D:\Program Files\").is_some() && of(r"D:\x\Program Files\y.dll").is_none());
    }

    #[test]
    fn a_file_that_is_written_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("x.dll");
        std::fs::write(&path, "x").unwrap();
        let data = path.metadata().unwrap();
        assert_eq!(Writers::default().of(&path, &data), None);
        let reader = std::fs::File::open(&path).unwrap();
        assert_eq!(Writers::default().of(&path, &data), None, "a reader is in nobody's way");
        drop(reader);
        let _writer = OpenOptions::new().write(true).open(&path).unwrap();
        assert!(Writers::default().of(&path, &data).unwrap().contains("open for writing"));
    }
}

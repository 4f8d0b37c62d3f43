//! Which kind of file system a folder is on.

use crate::windows::under_wine;
use std::ffi::OsString;
use std::io;
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::ptr::null_mut;
use windows_sys::Win32::Foundation::MAX_PATH;
use windows_sys::Win32::Storage::FileSystem::{GetVolumeInformationW, GetVolumePathNameW};

/// Under Wine, which names a file system of Windows whatever the folder is on.
const WINE: &str = "Wine";

/// The type of the file system that holds a folder: `NTFS`, `ReFS`.
///
/// # Errors
/// The folder does not exist, or Windows does not tell.
pub fn file_system(folder: &Path) -> io::Result<String> {
    let folder = std::path::absolute(folder)?;
    if !folder.metadata()?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    if under_wine::version().is_some() {
        return Ok(WINE.to_owned());
    }
    let path: Vec<u16> = folder.as_os_str().encode_wide().chain([0]).collect();
    let mut volume = vec![0; path.len() + MAX_PATH as usize];
    let mut name = [0; MAX_PATH as usize + 1];
    // SAFETY: the path ends with NUL; both texts have room for as many characters as is said, end with NUL
    // where a call succeeds, and outlive the calls. What is null is not asked for.
    let told = unsafe {
        GetVolumePathNameW(path.as_ptr(), volume.as_mut_ptr(), volume.len() as u32) != 0
            && GetVolumeInformationW(
                volume.as_ptr(),
                null_mut(),
                0,
                null_mut(),
                null_mut(),
                null_mut(),
                name.as_mut_ptr(),
                name.len() as u32,
            ) != 0
    };
    if !told {
        return Err(io::Error::last_os_error());
    }
    let length = name.iter().position(|&unit| unit == 0).unwrap_or(name.len());
    Ok(OsString::from_wide(&name[..length]).to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_on_a_file_system() {
        let place = tempfile::tempdir().unwrap();
        let found = file_system(place.path()).unwrap();
        assert_eq!(found == WINE, under_wine::version().is_some(), "{found}");
        assert!(!found.is_empty());
        let file = place.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(file_system(&file).is_err() && file_system(&place.path().join("none")).is_err());
    }
}

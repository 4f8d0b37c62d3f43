//! What a file has besides its bytes: its access list, streams of other names, and marks such as
//! *hidden*.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Error};
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::os::windows::fs::MetadataExt;
use std::os::windows::io::AsRawHandle;
use std::path::Path;
use windows_sys::Win32::Foundation::{ERROR_SUCCESS, INVALID_HANDLE_VALUE, LocalFree};
use windows_sys::Win32::Security::Authorization::{
    GetSecurityInfo, SE_FILE_OBJECT, SetSecurityInfo,
};
use windows_sys::Win32::Security::{
    ACL, DACL_SECURITY_INFORMATION, GetSecurityDescriptorControl,
    PROTECTED_DACL_SECURITY_INFORMATION, PSECURITY_DESCRIPTOR, SE_DACL_PROTECTED,
    UNPROTECTED_DACL_SECURITY_INFORMATION,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_ARCHIVE, FILE_ATTRIBUTE_HIDDEN, FILE_ATTRIBUTE_NORMAL,
    FILE_ATTRIBUTE_NOT_CONTENT_INDEXED, FILE_ATTRIBUTE_SYSTEM, FindClose, FindFirstStreamW,
    FindNextStreamW, FindStreamInfoStandard, SetFileAttributesW, WIN32_FIND_STREAM_DATA,
};

/// The marks that a user can set.
const MARKS: u32 = FILE_ATTRIBUTE_ARCHIVE
    | FILE_ATTRIBUTE_HIDDEN
    | FILE_ATTRIBUTE_NOT_CONTENT_INDEXED
    | FILE_ATTRIBUTE_SYSTEM;

/// Gives the access list of one open file to another one, which is open for that (WRITE_DAC).
pub(crate) fn copy_access_list(from: &File, to: &File) -> io::Result<()> {
    let mut list: *mut ACL = std::ptr::null_mut();
    let mut descriptor: PSECURITY_DESCRIPTOR = std::ptr::null_mut();
    // SAFETY: the handle is open; what is not asked for may be null.
    #[allow(unsafe_code)]
    let read = unsafe {
        GetSecurityInfo(
            from.as_raw_handle(),
            SE_FILE_OBJECT,
            DACL_SECURITY_INFORMATION,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            &raw mut list,
            std::ptr::null_mut(),
            &raw mut descriptor,
        )
    };
    of_code(read)?;
    let (mut control, mut revision) = (0, 0);
    // SAFETY: the descriptor is the one that was just given, and is freed once; the list is part of it.
    #[allow(unsafe_code)]
    unsafe {
        let known = GetSecurityDescriptorControl(descriptor, &raw mut control, &raw mut revision);
        let is_protected = known != 0 && control & SE_DACL_PROTECTED != 0;
        let inherits = match is_protected {
            true => PROTECTED_DACL_SECURITY_INFORMATION,
            false => UNPROTECTED_DACL_SECURITY_INFORMATION,
        };
        let set = SetSecurityInfo(
            to.as_raw_handle(),
            SE_FILE_OBJECT,
            DACL_SECURITY_INFORMATION | inherits,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            list,
            std::ptr::null(),
        );
        LocalFree(descriptor);
        of_code(set)
    }
}

fn of_code(code: u32) -> io::Result<()> {
    if code == ERROR_SUCCESS { Ok(()) } else { Err(Error::from_raw_os_error(code.cast_signed())) }
}

/// Copies the streams of other names than the file's own, such as the mark of a file that was
/// downloaded.
pub(crate) fn copy_streams(from: &Path, to: &Path) -> io::Result<()> {
    for name in streams(from) {
        let of = |path: &Path| {
            let mut whole = path.as_os_str().to_owned();
            whole.push(&name);
            whole
        };
        let mut source = File::open(of(from))?;
        let mut copy = OpenOptions::new().write(true).create(true).truncate(true).open(of(to))?;
        io::copy(&mut source, &mut copy)?;
        copy.sync_all()?;
    }
    Ok(())
}

/// Names of streams with the colon in front; none on file systems that have none.
fn streams(path: &Path) -> Vec<OsString> {
    let path = nul_terminated(path.as_os_str());
    let mut found = WIN32_FIND_STREAM_DATA { StreamSize: 0, cStreamName: [0; 296] };
    let place = (&raw mut found).cast();
    // SAFETY: the path is NUL-terminated, and the place is of the type that belongs to the level.
    #[allow(unsafe_code)]
    let search = unsafe { FindFirstStreamW(path.as_ptr(), FindStreamInfoStandard, place, 0) };
    if search == INVALID_HANDLE_VALUE {
        return Vec::new();
    }
    let mut names = Vec::new();
    loop {
        names.extend(name(&found.cStreamName));
        // SAFETY: the search is open, and the place is still there.
        #[allow(unsafe_code)]
        let more = unsafe { FindNextStreamW(search, (&raw mut found).cast()) };
        if more == 0 {
            break;
        }
    }
    // SAFETY: the search is open, and ends here.
    #[allow(unsafe_code)]
    unsafe {
        FindClose(search);
    }
    names
}

/// `:name` of `:name:$DATA`; `None` for the stream without a name, which is the file itself.
fn name(wide: &[u16]) -> Option<OsString> {
    let end = wide.iter().position(|&unit| unit == 0).unwrap_or(wide.len());
    let wide = wide.get(1..end)?;
    let colon = wide.iter().position(|&unit| unit == u16::from(b':')).unwrap_or(wide.len());
    let name = wide.get(..colon).filter(|name| !name.is_empty())?;
    let mut whole = OsString::from(":");
    whole.push(OsString::from_wide(name));
    Some(whole)
}

/// Gives a file the marks of another one.
pub(crate) fn copy_marks(data: &Metadata, to: &Path) -> io::Result<()> {
    let marks = match data.file_attributes() & MARKS {
        0 => FILE_ATTRIBUTE_NORMAL,
        marks => marks,
    };
    let path = nul_terminated(to.as_os_str());
    // SAFETY: the path is NUL-terminated.
    #[allow(unsafe_code)]
    let set = unsafe { SetFileAttributesW(path.as_ptr(), marks) };
    if set == 0 { Err(Error::last_os_error()) } else { Ok(()) }
}

fn nul_terminated(path: &OsStr) -> Vec<u16> {
    path.encode_wide().chain([0]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_stream_is_between_colons() {
        let of = |text: &str| name(&text.encode_utf16().chain([0, 7]).collect::<Vec<_>>());
        assert_eq!(of("::$DATA"), None);
        assert_eq!(of(":Zone.Identifier:$DATA"), Some(":Zone.Identifier".into()));
    }

    #[test]
    fn a_hidden_file_stays_hidden() {
        let place = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| place.path().join(name));
        std::fs::write(&one, "1").unwrap();
        std::fs::write(&other, "2").unwrap();
        copy_marks(&one.metadata().unwrap(), &other).unwrap();
        let is_hidden =
            |path: &Path| path.metadata().unwrap().file_attributes() & FILE_ATTRIBUTE_HIDDEN != 0;
        assert!(!is_hidden(&other));
        let path = nul_terminated(one.as_os_str());
        // SAFETY: the path is NUL-terminated.
        #[allow(unsafe_code)]
        let set = unsafe { SetFileAttributesW(path.as_ptr(), FILE_ATTRIBUTE_HIDDEN) };
        assert_ne!(set, 0);
        copy_marks(&one.metadata().unwrap(), &other).unwrap();
        assert!(is_hidden(&other));
    }
}

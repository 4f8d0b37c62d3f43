//! Names of the processes and files of a debugged launch.

use super::context::IS_HERE;
use crate::windows::launcher::memory::ChildMemory;
use std::fs::File;
use std::os::windows::ffi::OsStringExt;
use std::os::windows::io::AsRawHandle;
use std::path::PathBuf;
use std::ptr;
use windows_sys::Wdk::System::Threading::{NtQueryInformationProcess, ProcessBasicInformation};
use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::Storage::FileSystem::GetFinalPathNameByHandleW;
use windows_sys::Win32::System::Threading::PROCESS_BASIC_INFORMATION;

/// Stands for the path of a file that no longer has one.
const UNNAMED: &str = "(a file without a name)";

/// The path of a file, as people write it.
pub(in crate::windows) fn path(file: Option<&File>) -> String {
    let found = file.and_then(final_path).map(files::without_prefix);
    found.map_or_else(|| UNNAMED.to_owned(), model::text::text)
}

/// The path of an open file.
fn final_path(file: &File) -> Option<PathBuf> {
    let handle = file.as_raw_handle();
    let mut name = vec![0_u16; 512];
    loop {
        let room = name.len() as u32;
        // SAFETY: the handle is open, and the name has so much room.
        let length = unsafe { GetFinalPathNameByHandleW(handle, name.as_mut_ptr(), room, 0) };
        match length as usize {
            0 => return None,
            // The length that is needed.
            needed if needed >= name.len() => name.resize(needed + 1, 0),
            length => {
                name.truncate(length);
                return Some(std::ffi::OsString::from_wide(&name).into());
            }
        }
    }
}

/// The process that created a process.
pub(in crate::windows) fn parent(process: HANDLE) -> Option<u32> {
    let mut information = PROCESS_BASIC_INFORMATION::default();
    let bytes = size_of_val(&information) as u32;
    let into = ptr::from_mut(&mut information).cast();
    // SAFETY: `into` points to so many bytes of the kind that is named.
    let status = unsafe {
        NtQueryInformationProcess(process, ProcessBasicInformation, into, bytes, ptr::null_mut())
    };
    (status >= 0).then_some(information.InheritedFromUniqueProcessId as u32)
}

/// The working folder of a process that begins; none where it cannot be read.
pub(in crate::windows) fn directory(process: HANDLE) -> Option<String> {
    // The places in the process are those of 64 bits.
    IS_HERE.then(|| ChildMemory::new(process).directory().ok())?
}

/// The words of a process's command line; none where they cannot be read.
pub(in crate::windows) fn arguments(process: HANDLE) -> Vec<String> {
    let line = IS_HERE.then(|| ChildMemory::new(process).command_line().ok()).flatten();
    let Some(line) = line else { return Vec::new() };
    match model::words(&line) {
        Some(words) => words.into_iter().map(model::text::text).collect(),
        None => vec![line],
    }
}

//! The memory of a process that waits to be let go.

use std::io;
use std::ptr;
use windows_sys::Wdk::System::Threading::{NtQueryInformationProcess, ProcessBasicInformation};
use windows_sys::Win32::Foundation::{
    DUPLICATE_SAME_ACCESS, DuplicateHandle, HANDLE, RtlNtStatusToDosError,
};
use windows_sys::Win32::System::Diagnostics::Debug::{
    FlushInstructionCache, ReadProcessMemory, WriteProcessMemory,
};
use windows_sys::Win32::System::Memory::{PAGE_EXECUTE_READWRITE, VirtualProtectEx};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, PROCESS_BASIC_INFORMATION};

/// Of the address of the image in the process environment block.
const IMAGE_BASE: usize = 0x10;

/// The memory of a process.
pub(super) struct ChildMemory {
    process: HANDLE,
}

impl ChildMemory {
    /// Of a process whose handle is open as long as this is used.
    pub(super) fn new(process: HANDLE) -> ChildMemory {
        ChildMemory { process }
    }

    /// Where the program's image is.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn image_base(&self) -> io::Result<usize> {
        let mut information = PROCESS_BASIC_INFORMATION::default();
        let bytes = size_of_val(&information) as u32;
        let into = ptr::from_mut(&mut information).cast();
        // SAFETY: `into` points to so many bytes of the kind that is named.
        let status = unsafe {
            let kind = ProcessBasicInformation;
            NtQueryInformationProcess(self.process, kind, into, bytes, ptr::null_mut())
        };
        if status < 0 {
            // SAFETY: no pointer is passed.
            let code = unsafe { RtlNtStatusToDosError(status) };
            return Err(io::Error::from_raw_os_error(code.cast_signed()));
        }
        let mut base = [0; size_of::<usize>()];
        self.read(information.PebBaseAddress.addr() + IMAGE_BASE, &mut base)?;
        Ok(usize::from_le_bytes(base))
    }

    /// Reads all of `into`.
    ///
    /// # Errors
    /// There is no such memory.
    pub(super) fn read(&self, at: usize, into: &mut [u8]) -> io::Result<()> {
        let mut count = 0;
        let (from, bytes) = (ptr::without_provenance(at), into.as_mut_ptr().cast());
        // SAFETY: only memory of `into` is written to.
        checked(unsafe { ReadProcessMemory(self.process, from, bytes, into.len(), &mut count) })
    }

    /// Writes code.
    ///
    /// # Errors
    /// There is no such memory, or it may not be changed.
    pub(super) fn write_code(&self, at: usize, code: &[u8]) -> io::Result<()> {
        let (to, length) = (ptr::without_provenance(at), code.len());
        let (mut before, mut count) = (0, 0);
        // SAFETY: only memory of the other process is changed, which has not run yet.
        unsafe {
            let access = PAGE_EXECUTE_READWRITE;
            checked(VirtualProtectEx(self.process, to, length, access, &mut before))?;
            let from = code.as_ptr().cast();
            checked(WriteProcessMemory(self.process, to, from, length, &mut count))?;
            checked(VirtualProtectEx(self.process, to, length, before, &mut before))?;
            checked(FlushInstructionCache(self.process, to, length))
        }
    }

    /// A handle of that process for what `handle` is for this one.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn give(&self, handle: HANDLE) -> io::Result<usize> {
        let mut given = ptr::null_mut();
        // SAFETY: both processes and the handle are open, and `given` outlives the call.
        checked(unsafe {
            let (own, access) = (GetCurrentProcess(), DUPLICATE_SAME_ACCESS);
            DuplicateHandle(own, handle, self.process, &mut given, 0, 0, access)
        })?;
        Ok(given.addr())
    }
}

fn checked(result: i32) -> io::Result<()> {
    if result == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

//! The memory of a process that waits to be let go, or is stopped.

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

/// In the process environment block (`PEB` of winternl.h, 64 bits): whether the process is debugged, the
/// address of the image, and that of the parameters.
const BEING_DEBUGGED: usize = 2;
const IMAGE_BASE: usize = 0x10;
const PARAMETERS: usize = 0x20;
/// `UNICODE_STRING`s in `RTL_USER_PROCESS_PARAMETERS`: the working folder and the command line.
const DIRECTORY: usize = 0x38;
const COMMAND_LINE: usize = 0x70;

/// The memory of a process.
pub(in crate::windows) struct ChildMemory {
    process: HANDLE,
}

impl ChildMemory {
    /// Of a process whose handle is open as long as this is used.
    pub(in crate::windows) fn new(process: HANDLE) -> ChildMemory {
        ChildMemory { process }
    }

    /// Where the program's image is.
    ///
    /// # Errors
    /// What the system says.
    pub(in crate::windows) fn image_base(&self) -> io::Result<usize> {
        self.word(self.environment_block()? + IMAGE_BASE)
    }

    /// The words that the process was started with, in one line.
    ///
    /// # Errors
    /// What the system says.
    pub(in crate::windows) fn command_line(&self) -> io::Result<String> {
        self.parameter(COMMAND_LINE)
    }

    /// The working folder that the process was started in.
    ///
    /// # Errors
    /// What the system says.
    pub(in crate::windows) fn directory(&self) -> io::Result<String> {
        self.parameter(DIRECTORY)
    }

    /// A text of the parameters.
    fn parameter(&self, at: usize) -> io::Result<String> {
        let text = self.word(self.environment_block()? + PARAMETERS)? + at;
        let mut bytes = [0; 2];
        self.read(text, &mut bytes)?;
        let mut line = vec![0; u16::from_le_bytes(bytes).into()];
        self.read(self.word(text + size_of::<usize>())?, &mut line)?;
        let (units, _) = line.as_chunks();
        let units: Vec<u16> = units.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
        Ok(String::from_utf16_lossy(&units))
    }

    /// From now on the process is not told that it is debugged.
    ///
    /// # Errors
    /// What the system says.
    pub(in crate::windows) fn hide_debugger(&self) -> io::Result<()> {
        self.patch(self.environment_block()? + BEING_DEBUGGED, 0)
    }

    /// Where the process environment block is.
    fn environment_block(&self) -> io::Result<usize> {
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
        Ok(information.PebBaseAddress.addr())
    }

    /// A number of the size of an address.
    ///
    /// # Errors
    /// There is no such memory.
    pub(in crate::windows) fn word(&self, at: usize) -> io::Result<usize> {
        let mut word = [0; size_of::<usize>()];
        self.read(at, &mut word)?;
        Ok(usize::from_le_bytes(word))
    }

    /// Reads all of `into`.
    ///
    /// # Errors
    /// There is no such memory.
    pub(in crate::windows) fn read(&self, at: usize, into: &mut [u8]) -> io::Result<()> {
        let mut count = 0;
        let (from, bytes) = (ptr::without_provenance(at), into.as_mut_ptr().cast());
        // SAFETY: only memory of `into` is written to.
        checked(unsafe { ReadProcessMemory(self.process, from, bytes, into.len(), &mut count) })
    }

    /// Writes code.
    ///
    /// # Errors
    /// There is no such memory, or it may not be changed.
    pub(in crate::windows) fn write_code(&self, at: usize, code: &[u8]) -> io::Result<()> {
        let (to, length) = (ptr::without_provenance(at), code.len());
        let (mut before, mut count) = (0, 0);
        // SAFETY: only memory of the other process is changed, which does not run.
        unsafe {
            let access = PAGE_EXECUTE_READWRITE;
            checked(VirtualProtectEx(self.process, to, length, access, &mut before))?;
            let from = code.as_ptr().cast();
            checked(WriteProcessMemory(self.process, to, from, length, &mut count))?;
            checked(VirtualProtectEx(self.process, to, length, before, &mut before))?;
            checked(FlushInstructionCache(self.process, to, length))
        }
    }

    /// [`ChildMemory::write_as_debugger`] of one byte.
    ///
    /// # Errors
    /// There is no such memory, or it may not be changed.
    pub(in crate::windows) fn patch(&self, at: usize, byte: u8) -> io::Result<()> {
        self.write_as_debugger(at, &[byte])
    }

    /// Writes as a debugger does, for which the system lifts the protection of code itself.
    ///
    /// # Errors
    /// There is no such memory, or it may not be changed.
    pub(in crate::windows) fn write_as_debugger(&self, at: usize, bytes: &[u8]) -> io::Result<()> {
        let (to, length) = (ptr::without_provenance(at), bytes.len());
        let mut count = 0;
        // SAFETY: only memory of the other process is changed, which does not run.
        unsafe {
            let from = bytes.as_ptr().cast();
            checked(WriteProcessMemory(self.process, to, from, length, &mut count))?;
            checked(FlushInstructionCache(self.process, to, length))
        }
    }

    /// A handle of that process for what `handle` is for this one.
    ///
    /// # Errors
    /// What the system says.
    pub(in crate::windows) fn give(&self, handle: HANDLE) -> io::Result<usize> {
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

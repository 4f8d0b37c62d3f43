//! A new process, which waits to be let go.

use super::attributes::Attributes;
use super::job::Job;
use super::prepared::Prepared;
use super::{Configuration, LaunchRecord, refused, schedule};
use crate::windows::LaunchError;
use crate::windows::clock::Instant;
use model::{Ending, Launch};
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr;
use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::Threading::{
    CREATE_SUSPENDED, CREATE_UNICODE_ENVIRONMENT, CreateProcessW, EXTENDED_STARTUPINFO_PRESENT,
    GetExitCodeProcess, PROCESS_CREATION_FLAGS, PROCESS_INFORMATION, REALTIME_PRIORITY_CLASS,
    ResumeThread, STARTF_USESTDHANDLES, STARTUPINFOEXW, SetProcessAffinityMask,
};

/// How many times headstart tries to create a process if that fails by chance.
const ATTEMPTS: u32 = 3;

/// A process of a job.
pub(in crate::windows) struct Child {
    process: OwnedHandle,
    thread: OwnedHandle,
    pub(in crate::windows) pid: u32,
    /// Before the call of CreateProcess.
    pub(in crate::windows) started: Instant,
    /// When its first thread was let go, in microseconds.
    pub(in crate::windows) created_us: f64,
}

impl Child {
    /// Creates the process in `job`, with these handles as its streams, and `more` than the usual flags. It
    /// does nothing yet.
    ///
    /// # Errors
    /// The program cannot be started.
    pub(in crate::windows) fn create(
        prepared: &Prepared,
        stdio: &[OwnedHandle; 3],
        job: &Job,
        configuration: Configuration,
        more: PROCESS_CREATION_FLAGS,
    ) -> Result<Child, LaunchError> {
        let failed = |source| LaunchError::Start { program: prepared.program.clone(), source };
        let mut attributes = Attributes::new(stdio, job).map_err(failed)?;
        let mut startup = STARTUPINFOEXW::default();
        startup.StartupInfo.cb = size_of::<STARTUPINFOEXW>() as u32;
        startup.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
        startup.StartupInfo.hStdInput = stdio[0].as_raw_handle();
        startup.StartupInfo.hStdOutput = stdio[1].as_raw_handle();
        startup.StartupInfo.hStdError = stdio[2].as_raw_handle();
        startup.lpAttributeList = attributes.pointer();
        let class = if configuration.realtime { REALTIME_PRIORITY_CLASS } else { 0 };
        let mut attempts = 1;
        let child = loop {
            match Child::attempt(prepared, &startup, class | more) {
                Ok(child) => break child,
                Err(error) if attempts < ATTEMPTS && refused::is_by_chance(&error) => attempts += 1,
                Err(error) => return Err(refused::explain(prepared, error)),
            }
        };
        child.pin(configuration.cpu)?;
        Ok(child)
    }

    fn attempt(
        prepared: &Prepared,
        startup: &STARTUPINFOEXW,
        flags: PROCESS_CREATION_FLAGS,
    ) -> io::Result<Child> {
        let mut command_line = prepared.command_line.clone();
        let directory = prepared.directory_name.as_ref().map_or(ptr::null(), |name| name.as_ptr());
        let flags =
            flags | CREATE_SUSPENDED | CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT;
        let mut made = PROCESS_INFORMATION::default();
        let started = Instant::now();
        // SAFETY: all texts end with NUL, the environment with two, the command line may be written
        // to, and the attributes of `startup` and what they point to outlive the call.
        let is_made = unsafe {
            CreateProcessW(
                prepared.file.as_ptr(),
                command_line.as_mut_ptr(),
                ptr::null(),
                ptr::null(),
                1,
                flags,
                prepared.environment.as_ptr().cast(),
                directory,
                ptr::from_ref(&startup.StartupInfo),
                &mut made,
            )
        };
        if is_made == 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: both handles are new and nobody else's.
        let (process, thread) = unsafe {
            let process = OwnedHandle::from_raw_handle(made.hProcess);
            (process, OwnedHandle::from_raw_handle(made.hThread))
        };
        Ok(Child { process, thread, pid: made.dwProcessId, started, created_us: 0.0 })
    }

    fn pin(&self, cpu: Option<u32>) -> Result<(), LaunchError> {
        let Some(cpu) = cpu else { return Ok(()) };
        // SAFETY: the handle is the process's.
        match unsafe { SetProcessAffinityMask(self.process(), schedule::mask(cpu)) } {
            0 => Err(LaunchError::system(
                "the program could not be pinned to the CPU of launches",
                "launch it on any CPU",
            )),
            _ => Ok(()),
        }
    }

    /// Lets its first thread go.
    ///
    /// # Errors
    /// What the system says.
    pub(in crate::windows) fn resume(&mut self) -> Result<(), LaunchError> {
        self.created_us = Instant::now().us_since(self.started);
        // SAFETY: the handle is the thread's.
        match unsafe { ResumeThread(self.thread.as_raw_handle()) } {
            u32::MAX => {
                Err(LaunchError::system("the program could not be resumed", "run it again"))
            }
            _ => Ok(()),
        }
    }

    /// Its handle, as long as this lives; it is set when the process has ended.
    pub(in crate::windows) fn process(&self) -> HANDLE {
        self.process.as_raw_handle()
    }

    /// Microseconds since before it was created.
    pub(in crate::windows) fn now_us(&self) -> f64 {
        Instant::now().us_since(self.started)
    }

    /// How it ended, once it has.
    ///
    /// # Errors
    /// What the system says.
    pub(in crate::windows) fn ending(&self) -> Result<Ending, LaunchError> {
        let mut code = 0;
        // SAFETY: the handle is the process's, and `code` outlives the call.
        match unsafe { GetExitCodeProcess(self.process(), &mut code) } {
            0 => Err(LaunchError::system(
                "the program's exit code could not be read",
                "run it again",
            )),
            _ => Ok(Ending::of_windows(code)),
        }
    }

    /// The record of its launch.
    pub(in crate::windows) fn record(&self, launch: Launch) -> LaunchRecord {
        LaunchRecord { pid: self.pid, ticks: self.started.ticks(), launch }
    }
}

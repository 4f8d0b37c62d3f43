//! A command as execve takes it.

use crate::linux::error::LaunchError;
use model::Command;
use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;

/// A command in the form that execve takes: prepared once, launched often.
pub struct Prepared {
    path: PathBuf,
    pub(super) program: CString,
    pub(super) directory: Option<CString>,
    /// Arguments, then variables.
    strings: Vec<CString>,
    pub(super) argv: Vec<*const libc::c_char>,
    pub(super) envp: Vec<*const libc::c_char>,
}

// SAFETY: the pointers refer to `strings`, which the struct owns and never changes.
unsafe impl Send for Prepared {}

impl Prepared {
    /// Copies `command` and the present environment, with `extra` variables set on top.
    pub fn new(command: &Command, extra: &[(&str, &str)]) -> Result<Self, LaunchError> {
        let c_string = |bytes: &[u8]| {
            CString::new(bytes)
                .map_err(|_| LaunchError::NulByte(command.program.display().to_string()))
        };
        let mut strings = Vec::new();
        for argument in &command.argv {
            strings.push(c_string(argument.as_bytes())?);
        }
        let arguments = strings.len();
        for (name, value) in environment(command, extra) {
            strings.push(c_string(&[name.as_bytes(), b"=", value.as_bytes()].concat())?);
        }
        let pointers = |range: &[CString]| {
            let mut list: Vec<_> = range.iter().map(|string| string.as_ptr()).collect();
            list.push(ptr::null());
            list
        };
        let directory = match &command.directory {
            Some(directory) => Some(c_string(directory.as_os_str().as_bytes())?),
            None => None,
        };
        Ok(Prepared {
            program: c_string(command.program.as_os_str().as_bytes())?,
            path: command.program.clone(),
            directory,
            argv: pointers(&strings[..arguments]),
            envp: pointers(&strings[arguments..]),
            strings,
        })
    }

    /// The program, found from the present directory: execve looks for a relative path after
    /// the change of directory.
    pub(super) fn located(&self) -> PathBuf {
        match &self.directory {
            Some(directory) => Path::new(OsStr::from_bytes(directory.as_bytes())).join(&self.path),
            None => self.path.clone(),
        }
    }

    /// Replaces the program of this process; returns where that fails.
    ///
    /// # Safety
    /// No other thread of this process runs.
    pub(crate) unsafe fn execute(&self) {
        // SAFETY: the strings are owned by this value, and both lists end with a null pointer.
        unsafe {
            libc::execve(self.program.as_ptr(), self.argv.as_ptr(), self.envp.as_ptr());
        }
    }

    /// Bytes of all arguments and variables, and of the longest one, as execve counts them: with
    /// a NUL, and a pointer to each.
    pub(super) fn sizes(&self) -> (usize, usize) {
        let bytes = |string: &CString| string.as_bytes_with_nul().len();
        let total = self.strings.iter().map(|string| bytes(string) + size_of::<usize>()).sum();
        (total, self.strings.iter().map(bytes).max().unwrap_or(0))
    }

    /// The address that the child passes to execve as the program's path, so that a seccomp
    /// filter can tell this call from every later one.
    pub(crate) fn program_address(&self) -> u64 {
        self.program.as_ptr() as u64
    }
}

fn environment(command: &Command, extra: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    let changed = |name: &OsStr| {
        command.environment.iter().any(|(other, _)| OsStr::new(other) == name)
            || extra.iter().any(|(other, _)| OsStr::new(other) == name)
    };
    let mut list: Vec<_> = std::env::vars_os().filter(|(name, _)| !changed(name)).collect();
    for (name, value) in &command.environment {
        if let Some(value) = value {
            list.push((name.into(), value.into()));
        }
    }
    list.extend(extra.iter().map(|&(name, value)| (name.into(), value.into())));
    list
}

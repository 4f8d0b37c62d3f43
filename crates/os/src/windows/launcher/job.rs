//! A job: the processes of one launch, whatever they start.

use crate::windows::LaunchError;
use std::ffi::c_void;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr;
use std::time::{Duration, Instant};
use windows_sys::Win32::Foundation::{ERROR_MORE_DATA, GetLastError, HANDLE};
use windows_sys::Win32::System::JobObjects::{
    CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, JOBOBJECT_BASIC_ACCOUNTING_INFORMATION,
    JOBOBJECT_BASIC_PROCESS_ID_LIST, JOBOBJECT_EXTENDED_LIMIT_INFORMATION,
    JobObjectBasicAccountingInformation, JobObjectBasicProcessIdList,
    JobObjectExtendedLimitInformation, QueryInformationJobObject, SetInformationJobObject,
    TerminateJobObject,
};

/// How long processes may take to be gone once they are ended.
const GONE_WITHIN: Duration = Duration::from_secs(5);
/// More processes of one launch than this are not told apart.
const MOST_LISTED: usize = 1024;

/// Words in front of the ids in a list of them: two numbers of 32 bits.
const HEAD: usize = 2 * size_of::<u32>() / size_of::<usize>();

/// A job, whose processes are ended with this value, or with the process that holds it.
pub(in crate::windows) struct Job(OwnedHandle);

impl Job {
    /// An empty one.
    ///
    /// # Errors
    /// What the system says.
    pub(in crate::windows) fn new() -> Result<Job, LaunchError> {
        let failed = || LaunchError::system("creating a job object", "close other programs");
        // SAFETY: the job has no name and the usual access; the handle is new and nobody else's.
        let job = unsafe {
            let handle = CreateJobObjectW(ptr::null(), ptr::null());
            if handle.is_null() {
                return Err(failed());
            }
            Job(OwnedHandle::from_raw_handle(handle))
        };
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        let bytes = size_of_val(&limits) as u32;
        let limits = ptr::from_ref(&limits).cast();
        // SAFETY: the limits are of the kind that is named, and outlive the call.
        let set = unsafe {
            SetInformationJobObject(job.raw(), JobObjectExtendedLimitInformation, limits, bytes)
        };
        if set == 0 { Err(failed()) } else { Ok(job) }
    }

    /// Its handle, as long as this lives.
    pub(in crate::windows) fn raw(&self) -> HANDLE {
        self.0.as_raw_handle()
    }

    /// Whether a process of it runs.
    pub(in crate::windows) fn has_processes(&self) -> bool {
        !self.processes().is_empty()
    }

    /// Whether one runs beside the process `pid`.
    pub(in crate::windows) fn has_others(&self, pid: u32) -> bool {
        self.processes().iter().any(|&other| other != pid as usize)
    }

    /// Ends all of its processes, and waits until they are gone; how many there were beside the
    /// process `pid`.
    ///
    /// # Errors
    /// They cannot be ended.
    pub(in crate::windows) fn end_everything(&self, pid: u32) -> Result<u32, LaunchError> {
        let others = self.processes().iter().filter(|&&other| other != pid as usize).count() as u32;
        let asked = Instant::now();
        while !self.terminate() || self.has_processes() {
            if asked.elapsed() > GONE_WITHIN {
                return Err(LaunchError::System {
                    action: "the processes that the program left running could not be ended".into(),
                    source: std::io::ErrorKind::TimedOut.into(),
                    remedy: "end them in the Task Manager".into(),
                });
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(others)
    }

    /// Asks the system to end all of its processes; whether that is accepted.
    pub(in crate::windows) fn terminate(&self) -> bool {
        // SAFETY: the handle is a job's.
        unsafe { TerminateJobObject(self.raw(), 1) != 0 }
    }

    /// What its processes have used, those that have ended included.
    pub(in crate::windows) fn accounts(&self) -> Option<JOBOBJECT_BASIC_ACCOUNTING_INFORMATION> {
        let mut accounts = JOBOBJECT_BASIC_ACCOUNTING_INFORMATION::default();
        let bytes = size_of_val(&accounts) as u32;
        let into = ptr::from_mut(&mut accounts).cast();
        self.query(JobObjectBasicAccountingInformation, into, bytes).then_some(accounts)
    }

    /// The ids of its processes, up to [`MOST_LISTED`].
    fn processes(&self) -> Vec<usize> {
        let mut list = vec![0_usize; HEAD + MOST_LISTED];
        let bytes = size_of_val(&*list) as u32;
        // SAFETY: the thread's last error.
        let more = || unsafe { GetLastError() } == ERROR_MORE_DATA;
        if !self.query(JobObjectBasicProcessIdList, list.as_mut_ptr().cast(), bytes) && !more() {
            return Vec::new();
        }
        // SAFETY: the list is longer than its head and aligned for it.
        let head = unsafe { &*list.as_ptr().cast::<JOBOBJECT_BASIC_PROCESS_ID_LIST>() };
        let count = (head.NumberOfProcessIdsInList as usize).min(MOST_LISTED);
        list[HEAD..HEAD + count].to_vec()
    }

    fn query(&self, kind: i32, into: *mut c_void, bytes: u32) -> bool {
        // SAFETY: `into` points to so many bytes, which outlive the call.
        unsafe { QueryInformationJobObject(self.raw(), kind, into, bytes, ptr::null_mut()) != 0 }
    }
}

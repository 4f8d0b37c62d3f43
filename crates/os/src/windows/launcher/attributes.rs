//! What a new process gets beside its command line: a job, and which handles it inherits.

use super::job::Job;
use std::ffi::c_void;
use std::io;
use std::os::windows::io::{AsRawHandle, OwnedHandle};
use std::ptr;
use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::Threading::{
    DeleteProcThreadAttributeList, InitializeProcThreadAttributeList, LPPROC_THREAD_ATTRIBUTE_LIST,
    PROC_THREAD_ATTRIBUTE_HANDLE_LIST, PROC_THREAD_ATTRIBUTE_JOB_LIST, UpdateProcThreadAttribute,
};

/// A list of attributes. It points to handles, which it keeps where they are.
pub(super) struct Attributes {
    /// Of words, so that it is aligned for pointers.
    list: Vec<usize>,
    handles: Box<[HANDLE; 3]>,
    job: Box<HANDLE>,
}

impl Attributes {
    /// A process in `job` that inherits these handles, which are open and different, and no others.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn new(handles: &[OwnedHandle; 3], job: &Job) -> io::Result<Attributes> {
        let mut bytes = 0;
        // SAFETY: without a list the call only says how large one is.
        unsafe { InitializeProcThreadAttributeList(ptr::null_mut(), 2, 0, &mut bytes) };
        let mut list = vec![0_usize; bytes.div_ceil(size_of::<usize>())];
        // SAFETY: the list is as large as was asked for.
        checked(unsafe {
            InitializeProcThreadAttributeList(list.as_mut_ptr().cast(), 2, 0, &mut bytes)
        })?;
        let handles = Box::new(handles.each_ref().map(AsRawHandle::as_raw_handle));
        let mut attributes = Attributes { list, handles, job: Box::new(job.raw()) };
        let handles = ptr::from_ref(&*attributes.handles).cast();
        let job = ptr::from_ref(&*attributes.job).cast();
        attributes.set(PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles, size_of::<[HANDLE; 3]>())?;
        attributes.set(PROC_THREAD_ATTRIBUTE_JOB_LIST, job, size_of::<HANDLE>())?;
        Ok(attributes)
    }

    /// The list, as long as this lives.
    pub(super) fn pointer(&mut self) -> LPPROC_THREAD_ATTRIBUTE_LIST {
        self.list.as_mut_ptr().cast()
    }

    fn set(&mut self, kind: u32, value: *const c_void, bytes: usize) -> io::Result<()> {
        let list = self.pointer();
        // SAFETY: the list is initialized, and `value` points to so many bytes, which live as long.
        checked(unsafe {
            let (none, kind) = (ptr::null_mut(), kind as usize);
            UpdateProcThreadAttribute(list, 0, kind, value, bytes, none, ptr::null())
        })
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: the list was initialized, and is used no more.
        unsafe { DeleteProcThreadAttributeList(self.pointer()) };
    }
}

fn checked(result: i32) -> io::Result<()> {
    if result == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

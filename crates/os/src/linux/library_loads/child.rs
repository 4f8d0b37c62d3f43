//! The process that loads: dlopen after dlopen, with clock readings between them.

use super::table::{Entry, State, Table};
use crate::linux::clock::Instant;
use crate::linux::processes;
use rustix::process::{
    Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit, setsid,
};
use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::mem::zeroed;
use std::os::fd::RawFd;
use std::ptr::{null, null_mut};
use std::sync::atomic::Ordering::SeqCst;

/// What the process does.
pub(super) struct Task<'a> {
    pub(super) names: &'a [CString],
    /// Loaded first, untimed: what processes before this one have loaded.
    pub(super) again: &'a [usize],
    /// The first of those that are timed.
    pub(super) from: usize,
    /// Whether to look at what each of them has done, which takes time.
    pub(super) watch: bool,
    pub(super) null: RawFd,
    /// Takes what libraries print.
    pub(super) printed: RawFd,
    pub(super) keeper: libc::pid_t,
}

/// The process's life.
pub(super) fn live(task: &Task<'_>, table: &Table) -> ! {
    detach(task);
    let pid = processes::own_pid();
    for &index in task.again {
        table.begin(index, true);
        open(&task.names[index]);
    }
    let mut seen = Seen::now(task);
    for index in task.from..task.names.len() {
        table.begin(index, false);
        let entry = table.entry(index);
        entry.set(State::Loading);
        let modules = modules_so_far();
        let before = Usage::now();
        let started = Instant::now();
        let handle = open(&task.names[index]);
        let ended = Instant::now();
        let after = Usage::now();
        if processes::own_pid() != pid {
            // The library has forked, and this is the copy.
            leave();
        }
        entry.took_ns.store(ended.ticks() - started.ticks(), SeqCst);
        before.until(&after, entry);
        entry.modules.store(modules_so_far().wrapping_sub(modules), SeqCst);
        if task.watch {
            seen.look(task, table, entry);
        }
        tell(entry, handle);
    }
    table.header().threads.store(threads(), SeqCst);
    table.header().done.store(1, SeqCst);
    leave()
}

/// What loads must not do to others, nor find of headstart's own.
fn detach(task: &Task<'_>) {
    // Neither signals to its group nor those of the terminal reach beyond it.
    let _ = setsid();
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    if processes::own_parent() != task.keeper {
        leave();
    }
    // A crash is told by its signal, and needs no file.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    let output = if task.watch { task.printed } else { task.null };
    // SAFETY: a zeroed action is the default one, and an empty set blocks nothing; both outlive the
    // calls. Descriptors are passed as numbers; this process has one thread.
    unsafe {
        let action: libc::sigaction = zeroed();
        (1..=libc::SIGRTMAX()).for_each(|signal| {
            libc::sigaction(signal, &action, null_mut());
        });
        let none: libc::sigset_t = zeroed();
        libc::sigprocmask(libc::SIG_SETMASK, &none, null_mut());
        for (from, to) in [(task.null, 0), (output, 1), (output, 2)] {
            libc::dup2(from, to);
        }
    }
    crate::linux::launcher::guardian::close_all_but(&[task.printed]);
}

fn open(name: &CStr) -> *mut libc::c_void {
    // SAFETY: the name ends with a zero. What a library's initializers do is its own: whatever harm
    // they do stays within this process, which exists for nothing else.
    unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW) }
}

/// Keeps the path that the library was loaded by, or why it was not.
fn tell(entry: &Entry, handle: *mut libc::c_void) {
    if handle.is_null() {
        // SAFETY: a string of the loader's, or null.
        let text = unsafe { text_of(libc::dlerror()) };
        entry.set_text(text.unwrap_or(b"dlopen failed without a reason"));
        return entry.set(State::Refused);
    }
    /// The beginning of `struct link_map` of `<link.h>`.
    #[repr(C)]
    struct LinkMap {
        address: usize,
        name: *const libc::c_char,
    }
    let mut map: *const LinkMap = null();
    // SAFETY: the handle is one that dlopen gave; a pointer is stored in `map`. The module stays, so
    // its name does.
    let path = unsafe {
        let found = libc::dlinfo(handle, libc::RTLD_DI_LINKMAP, (&raw mut map).cast());
        if found == 0 && !map.is_null() { text_of((*map).name) } else { None }
    };
    path.into_iter().for_each(|path| entry.set_text(path));
    entry.set(State::Loaded);
}

/// # Safety
/// A string that stays for as long as its text is used, or null.
unsafe fn text_of<'a>(text: *const libc::c_char) -> Option<&'a [u8]> {
    // SAFETY: the caller's.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// What the kernel has counted of the process.
struct Usage(libc::rusage);

impl Usage {
    fn now() -> Usage {
        // SAFETY: a zeroed structure is valid and outlives the call.
        unsafe {
            let mut usage: libc::rusage = zeroed();
            libc::getrusage(libc::RUSAGE_SELF, &mut usage);
            Usage(usage)
        }
    }

    /// Keeps what was added.
    fn until(&self, after: &Usage, entry: &Entry) {
        /// `ru_inblock` counts these, whatever the device.
        const BLOCK_BYTES: i64 = 512;
        let (before, after) = (&self.0, &after.0);
        let added = |before: i64, after: i64| u64::try_from(after - before).unwrap_or(0);
        entry.minor_faults.store(added(before.ru_minflt, after.ru_minflt), SeqCst);
        entry.major_faults.store(added(before.ru_majflt, after.ru_majflt), SeqCst);
        let read = added(before.ru_inblock * BLOCK_BYTES, after.ru_inblock * BLOCK_BYTES);
        entry.read_bytes.store(read, SeqCst);
    }
}

/// Modules that the loader has brought into this process since its start.
fn modules_so_far() -> u64 {
    extern "C" fn first(
        info: *mut libc::dl_phdr_info,
        _: libc::size_t,
        found: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: the loader passes valid information, and `found` is the variable below.
        unsafe { *found.cast::<u64>() = (*info).dlpi_adds };
        1
    }
    let mut found = 0_u64;
    // SAFETY: the function has the type that is asked for, and `found` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut found).cast()) };
    found
}

/// Paths of all modules of this process, as the loader names them.
fn module_paths() -> Vec<Vec<u8>> {
    extern "C" fn each(
        info: *mut libc::dl_phdr_info,
        _: libc::size_t,
        found: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: the loader passes valid information, and `found` is the variable below.
        unsafe {
            let path = text_of((*info).dlpi_name).unwrap_or_default();
            (*found.cast::<Vec<Vec<u8>>>()).push(path.to_vec());
        }
        0
    }
    let mut found: Vec<Vec<u8>> = Vec::new();
    // SAFETY: as above.
    unsafe { libc::dl_iterate_phdr(Some(each), (&raw mut found).cast()) };
    found
}

/// What libraries have brought, left running and printed so far.
struct Seen {
    modules: HashSet<Vec<u8>>,
    threads: u32,
    printed_bytes: i64,
    has_children: bool,
}

impl Seen {
    fn now(task: &Task<'_>) -> Seen {
        // SAFETY: a zeroed structure is valid and outlives the call.
        let printed_bytes = unsafe {
            let mut data: libc::stat = zeroed();
            if libc::fstat(task.printed, &mut data) == 0 { data.st_size } else { 0 }
        };
        let has_children = processes::has_children();
        Seen { modules: HashSet::new(), threads: threads(), printed_bytes, has_children }
    }

    /// Keeps what one more load has brought.
    fn look(&mut self, task: &Task<'_>, table: &Table, entry: &Entry) {
        for path in module_paths() {
            if path.starts_with(b"/") && !self.modules.contains(&path) {
                table.add_name(&path);
                self.modules.insert(path);
            }
        }
        let Seen { threads, printed_bytes, has_children, .. } = Seen::now(task);
        let more = threads > self.threads
            || printed_bytes > self.printed_bytes
            || (has_children && !self.has_children);
        entry.side_effects.store(more.into(), SeqCst);
        let modules = std::mem::take(&mut self.modules);
        *self = Seen { modules, threads, printed_bytes, has_children };
    }
}

fn threads() -> u32 {
    std::fs::read_dir("/proc/self/task").map_or(0, |tasks| tasks.count() as u32)
}

/// Without the libraries' exit handlers, which are not part of loading.
fn leave() -> ! {
    // SAFETY: it does not return.
    unsafe { libc::_exit(0) }
}

//! Asks the kernel for everything in a plan.

use super::extents::Extents;
use super::{AheadDone, AheadPlan, AheadRequest, PlannedFile, SkipReason, SkippedFile, memory};
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Requests wait for folders and inodes, one after the other, so several threads make them.
const THREADS: usize = 8;
/// Of those, so many begin with looking up paths.
const LOOKING_UP: usize = 2;
/// Requests of one thread that the disk has at once. A disk needs no more from all of them to be busy, and
/// the program's own reads do not wait long behind so few.
const UNDER_WAY: usize = 3;
/// Descriptors that a process has beside the files of a plan, with some to spare.
const OTHER_DESCRIPTORS: usize = 32;

/// Asks for everything in `plan`, and returns when all of it is asked for; the disk may still be at
/// work then. What cannot be read is skipped.
pub fn read_ahead(plan: &AheadPlan) -> AheadDone {
    if !memory::has_room_for(plan.bytes()) {
        return AheadDone { without_memory: true, ..AheadDone::default() };
    }
    files::grow_descriptor_table((plan.files.len() + OTHER_DESCRIPTORS) as u64);
    let replay = Replay::new(plan);
    match plan.in_disk_order {
        true => replay.in_disk_order(),
        false => replay.in_order(&plan.requests),
    }
    replay.done()
}

/// The requests of `plan` as they follow each other on the disk; those of which that is not known come
/// first.
pub fn in_disk_order(plan: &AheadPlan) -> Vec<AheadRequest> {
    Replay::new(plan).ordered()
}

/// The opened file, or why it is left alone.
type Opened = OnceLock<Result<File, SkipReason>>;

struct Replay<'a> {
    plan: &'a AheadPlan,
    files: Vec<Opened>,
    next_path: AtomicUsize,
    bytes: AtomicU64,
    requests: AtomicU64,
}

impl<'a> Replay<'a> {
    fn new(plan: &'a AheadPlan) -> Replay<'a> {
        Replay {
            plan,
            files: plan.files.iter().map(|_| OnceLock::new()).collect(),
            next_path: AtomicUsize::new(0),
            bytes: AtomicU64::new(0),
            requests: AtomicU64::new(0),
        }
    }

    fn file(&self, index: usize) -> Option<&File> {
        let (file, wanted) = (self.files.get(index)?, self.plan.files.get(index)?);
        file.get_or_init(|| as_recorded(wanted)).as_ref().ok()
    }

    /// Runs `work` on several threads at once; on this one where no other can be started.
    fn on_threads(&self, count: usize, work: impl Fn(usize) + Sync) {
        let count = if self.plan.parallel { count } else { 1 };
        std::thread::scope(|scope| {
            for number in 1..count {
                let work = &work;
                // One thread less is no harm.
                let _ = std::thread::Builder::new().spawn_scoped(scope, move || work(number));
            }
            work(0);
        });
    }

    fn in_order(&self, requests: &[AheadRequest]) {
        let next = AtomicUsize::new(0);
        self.on_threads(THREADS, |number| {
            if self.plan.parallel && (1..=LOOKING_UP).contains(&number) {
                self.look_up();
            }
            let mut under_way = [const { None::<&AheadRequest> }; UNDER_WAY];
            for turn in 0.. {
                let slot = &mut under_way[turn % UNDER_WAY];
                if let Some(oldest) = slot.take() {
                    self.await_end(oldest);
                }
                let Some(request) = requests.get(next.fetch_add(1, Ordering::Relaxed)) else {
                    break;
                };
                self.ask(request);
                *slot = Some(request).filter(|_| self.plan.parallel);
            }
        });
        self.look_up();
    }

    /// Opens all files first, as the places of their parts are not known before.
    fn in_disk_order(&self) {
        let requests = self.ordered();
        for request in &requests {
            self.ask(request);
        }
    }

    fn ordered(&self) -> Vec<AheadRequest> {
        let extents: Vec<OnceLock<Extents>> =
            self.plan.files.iter().map(|_| OnceLock::new()).collect();
        let next = AtomicUsize::new(0);
        self.on_threads(THREADS, |_| {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(known) = extents.get(at) else { break };
                if let Some(file) = self.file(at) {
                    known.get_or_init(|| Extents::of(file));
                }
            }
            self.look_up();
        });
        let place =
            |request: &AheadRequest| extents.get(request.file)?.get()?.place(request.offset);
        let mut requests = self.plan.requests.clone();
        requests.sort_by_key(|request| place(request));
        requests
    }

    fn look_up(&self) {
        while let Some(path) =
            self.plan.looked_up.get(self.next_path.fetch_add(1, Ordering::Relaxed))
        {
            // Whether it is there does not matter: its folders are in memory now.
            let _ = path.metadata();
        }
    }

    fn ask(&self, request: &AheadRequest) {
        let Some(file) = self.file(request.file) else { return };
        let Ok(bytes) = usize::try_from(request.bytes) else { return };
        // SAFETY: no memory is passed.
        let result = unsafe { libc::readahead(file.as_raw_fd(), request.offset as i64, bytes) };
        if result == 0 {
            self.bytes.fetch_add(request.bytes, Ordering::Relaxed);
            self.requests.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until the last byte of a request is in memory.
    fn await_end(&self, request: &AheadRequest) {
        if let Some(file) = self.file(request.file) {
            let last = (request.offset + request.bytes).saturating_sub(1);
            // What cannot be read is not waited for.
            let _ = file.read_at(&mut [0], last);
        }
    }

    fn done(self) -> AheadDone {
        let skipped = self.files.into_iter().zip(&self.plan.files).filter_map(|(file, wanted)| {
            let reason = file.into_inner()?.err()?;
            Some(SkippedFile { path: wanted.path.clone(), reason })
        });
        AheadDone {
            skipped: skipped.collect(),
            bytes: self.bytes.into_inner(),
            requests: self.requests.into_inner(),
            without_memory: false,
        }
    }
}

/// Opens a file that is still as it was recorded.
fn as_recorded(wanted: &PlannedFile) -> Result<File, SkipReason> {
    match opened(&wanted.path) {
        Ok((_, data)) if !data.is_file() => Err(SkipReason::NoFile),
        Ok((file, data)) => {
            let same = data.len() == wanted.size_bytes && same_time(&data, wanted.modified_ns);
            // Without read-ahead of the kernel's own. Where it cannot be told so, it reads more.
            let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random);
            if same { Ok(file) } else { Err(SkipReason::Changed) }
        }
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Err(SkipReason::NoFile),
        Err(error) => Err(SkipReason::Refused(error.to_string())),
    }
}

/// Opens a regular file for replay. Nothing else is opened: that can do something to a device.
pub(super) fn opened(path: &Path) -> io::Result<(File, Metadata)> {
    let no_file = || io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file");
    if !path.metadata()?.is_file() {
        return Err(no_file());
    }
    // Without waiting, should a pipe be in its place by now.
    let file =
        File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    let data = file.metadata()?;
    if data.is_file() { Ok((file, data)) } else { Err(no_file()) }
}

/// Whether a file was changed last at this time. Archives and images of containers keep whole
/// seconds.
pub fn same_time(data: &Metadata, modified_ns: i64) -> bool {
    const SECOND: i64 = 1_000_000_000;
    let (seconds, part) = (modified_ns.div_euclid(SECOND), modified_ns.rem_euclid(SECOND));
    data.mtime() == seconds && (data.mtime_nsec() == part || data.mtime_nsec() == 0 || part == 0)
}

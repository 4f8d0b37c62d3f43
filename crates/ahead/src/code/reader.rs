//! Asks the kernel for everything in a plan.

use crate::format::{Data, PlanEntry};
use crate::{gate, system};
use core::sync::atomic::{AtomicI32, AtomicU32, Ordering::Relaxed};

/// A reader that takes longer has a file system that does not answer.
const LONGEST_S: usize = 60;
/// Requests wait for folders and inodes, one after the other, so several processes make them.
const WORKERS: u32 = 8;
/// Of those, so many begin with looking up paths.
const LOOKING_UP: u32 = 2;
/// Standard input, output and error, and a few more.
const OTHER_DESCRIPTORS: u32 = 8;

/// What the workers know of a file: nothing, [`LEFT_ALONE`], or a descriptor and 1.
type State = AtomicI32;
const LEFT_ALONE: i32 = -1;

/// What all workers share: two numbers, and the states of the files.
struct Shared {
    next: &'static AtomicU32,
    next_path: &'static AtomicU32,
    files: &'static [State],
}

/// Asks for everything, and returns when all of it is asked for; the disk may still be at work then.
/// What cannot be read is skipped. To be called in a process that has no other children, and becomes no
/// program.
pub fn read_ahead(data: Data<'static>, plan: &PlanEntry) {
    system::alarm(LONGEST_S);
    system::raise_open_files();
    system::grow_table(plan.files.count() + OTHER_DESCRIPTORS);
    let Some(shared) = Shared::new(plan.files.count() as usize) else { return };
    if plan.one_by_one {
        // Opening waits for the disk, so the requests would not follow each other.
        in_parallel(|_| open_all(data, plan, &shared));
        for at in plan.requests.places() {
            request(data, plan, &shared, at, system::readahead);
        }
        return;
    }
    in_parallel(|number| work(data, plan, &shared, number));
}

/// Does it in all workers, and waits for them.
fn in_parallel(work: impl Fn(u32)) {
    for number in 1..WORKERS {
        // One worker less is no harm.
        if system::clone(system::CLONE_FILES) == 0 {
            system::alarm(LONGEST_S);
            work(number);
            system::exit(0);
        }
    }
    work(0);
    // So that nobody inherits them.
    while system::wait_for(-1) {}
}

fn open_all(data: Data<'static>, plan: &PlanEntry, shared: &Shared) {
    let mut index = shared.next.fetch_add(1, Relaxed);
    while index < plan.files.count() {
        file(data, plan, shared, index);
        index = shared.next.fetch_add(1, Relaxed);
    }
    look_up(data, plan, shared);
}

fn work(data: Data<'static>, plan: &PlanEntry, shared: &Shared, number: u32) {
    if (1..=LOOKING_UP).contains(&number) {
        look_up(data, plan, shared);
    }
    let mut under_way: UnderWay = [NONE; 3];
    while let Some(at) = plan.requests.at(shared.next.fetch_add(1, Relaxed)) {
        let [oldest, older, newest] = under_way;
        if oldest != NONE {
            request(data, plan, shared, oldest, system::await_end);
        }
        request(data, plan, shared, at, system::readahead);
        under_way = [older, newest, at];
    }
    look_up(data, plan, shared);
}

/// Places of requests that the disk has at once from one worker. A disk needs no more from all of them to
/// be busy, and the program's own reads do not wait long behind so few.
type UnderWay = [usize; 3];
/// In place of a request.
const NONE: usize = usize::MAX;

/// Does it to the request at this place.
fn request(
    data: Data<'static>,
    plan: &PlanEntry,
    shared: &Shared,
    at: usize,
    call: fn(i32, u64, u32),
) {
    let part = data.part(at);
    if let Some(file) = file(data, plan, shared, part.file) {
        call(file, part.offset, part.bytes);
    }
}

/// Whether a path is there does not matter: its folders are in memory afterwards.
fn look_up(data: Data<'static>, plan: &PlanEntry, shared: &Shared) {
    while let Some(at) = plan.looked_up.at(shared.next_path.fetch_add(1, Relaxed)) {
        data.0.get(data.u32(at) as usize..).and_then(system::stat);
    }
}

fn file(data: Data<'static>, plan: &PlanEntry, shared: &Shared, index: u32) -> Option<i32> {
    let state = shared.files.get(index as usize)?;
    match state.load(Relaxed) {
        LEFT_ALONE => None,
        0 => {
            // Two may open it at once, which is no harm.
            let opened = plan.files.at(index).and_then(|at| gate::open(data, &data.file(at)));
            state.store(opened.map_or(LEFT_ALONE, |file| file + 1), Relaxed);
            opened
        }
        known => Some(known - 1),
    }
}

impl Shared {
    fn new(files: usize) -> Option<Shared> {
        let memory = system::memory((files + 2) * size_of::<State>(), true)?;
        // SAFETY: zeroed memory of this size, which is never unmapped, and only used by atomic calls;
        // pages are aligned for all of them.
        unsafe {
            let numbers = memory.cast::<AtomicU32>();
            let states = core::slice::from_raw_parts(memory.cast::<State>().add(2), files);
            Some(Shared { next: &*numbers, next_path: &*numbers.add(1), files: states })
        }
    }
}

//! What a loading process tells: in memory that is shared with it, as nothing else survives a crash.
//!
//! Whatever a library has written there by mistake is read as what it may be: numbers, and text up
//! to the end of its place.

use super::super::clock::Instant;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU32, AtomicU64, Ordering::SeqCst};

/// Bytes of a path or an error that are kept.
const TEXT: usize = 1000;
/// Bytes of the paths of all modules together.
const NAMES: usize = 4 << 20;

/// How far the load of a library has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum State {
    Waiting = 0,
    Loading = 1,
    Loaded = 2,
    Refused = 3,
    Exited = 4,
    Killed = 5,
    TimedOut = 6,
    Traced = 7,
}

impl State {
    fn of(number: u32) -> State {
        use State::{Exited, Killed, Loaded, Loading, Refused, TimedOut, Traced, Waiting};
        let states = [Waiting, Loading, Loaded, Refused, Exited, Killed, TimedOut, Traced];
        states.into_iter().find(|state| *state as u32 == number).unwrap_or(Loading)
    }
}

/// What is told of one library. All zeros at first.
#[repr(C)]
pub(super) struct Entry {
    state: AtomicU32,
    /// Exit code or number of the signal.
    pub(super) detail: AtomicI32,
    pub(super) took_ns: AtomicU64,
    pub(super) minor_faults: AtomicU64,
    pub(super) major_faults: AtomicU64,
    pub(super) read_bytes: AtomicU64,
    /// Modules that came into the process, those that left it again included.
    pub(super) modules: AtomicU64,
    /// Whether it has started a thread or a process, or written to its standard output or error.
    pub(super) side_effects: AtomicU64,
    text: [AtomicU8; TEXT],
}

impl Entry {
    pub(super) fn set(&self, state: State) {
        self.state.store(state as u32, SeqCst);
    }

    pub(super) fn state(&self) -> State {
        State::of(self.state.load(SeqCst))
    }

    /// Keeps a path or an error; what is too long loses its end.
    pub(super) fn set_text(&self, text: &[u8]) {
        let place = self.text.iter().take(TEXT - 1);
        place.zip(text).for_each(|(place, byte)| place.store(*byte, SeqCst));
    }

    /// What was kept, unless it may have lost its end.
    pub(super) fn path(&self) -> Option<PathBuf> {
        let bytes = until_zero(&self.text);
        let whole = !bytes.is_empty() && bytes.len() < TEXT - 1;
        whole.then(|| PathBuf::from(OsString::from_vec(bytes)))
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&until_zero(&self.text)).into_owned()
    }
}

/// What is told of the whole process.
#[repr(C)]
pub(super) struct Header {
    /// The library that is being loaded, counted from 1; 0 before the first.
    pub(super) at: AtomicU32,
    /// The same of one that is loaded again, without being timed; 0 where none is.
    pub(super) again: AtomicU32,
    /// When that began: ticks of the launch clock.
    pub(super) began: AtomicU64,
    /// The process has loaded everything.
    pub(super) done: AtomicU32,
    /// Its threads then.
    pub(super) threads: AtomicU32,
    /// Processes that were started to load.
    pub(super) processes: AtomicU32,
    /// Other processes that had to be ended.
    pub(super) left_running: AtomicU32,
    names_end: AtomicU32,
}

/// The shared memory.
pub(super) struct Table {
    start: NonNull<u8>,
    bytes: usize,
    entries: usize,
}

impl Table {
    /// For so many libraries.
    pub(super) fn new(entries: usize) -> io::Result<Table> {
        let bytes = size_of::<Header>() + entries * size_of::<Entry>() + NAMES;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a fresh mapping, which goes with this value.
        let start = unsafe { libc::mmap(null_mut(), bytes, protection, flags, -1, 0) };
        match NonNull::new(start.cast::<u8>()) {
            Some(start) if start.as_ptr().cast() != libc::MAP_FAILED => {
                Ok(Table { start, bytes, entries })
            }
            _ => Err(io::Error::last_os_error()),
        }
    }

    pub(super) fn header(&self) -> &Header {
        // SAFETY: the mapping is large enough and aligned to pages; the structure is made of
        // atomics, for which any bytes are valid.
        unsafe { self.start.cast::<Header>().as_ref() }
    }

    /// # Panics
    /// There is no such entry.
    pub(super) fn entry(&self, index: usize) -> &Entry {
        assert!(index < self.entries, "{index} of {}", self.entries);
        // SAFETY: within the mapping, as was just checked; both structures are multiples of eight
        // bytes long, and any bytes are valid atomics.
        unsafe { self.start.add(size_of::<Header>()).cast::<Entry>().add(index).as_ref() }
    }

    fn names(&self) -> &[AtomicU8] {
        let before = size_of::<Header>() + self.entries * size_of::<Entry>();
        // SAFETY: the rest of the mapping; any bytes are valid atomics.
        unsafe {
            std::slice::from_raw_parts(self.start.add(before).cast::<AtomicU8>().as_ptr(), NAMES)
        }
    }

    /// Adds the path of a module; one for which there is no room is lost.
    pub(super) fn add_name(&self, path: &[u8]) {
        let end = self.header().names_end.load(SeqCst) as usize;
        let place = self.names().get(end..end + path.len() + 1);
        let Some(place) = place else { return };
        place.iter().zip(path).for_each(|(place, byte)| place.store(*byte, SeqCst));
        self.header().names_end.store((end + path.len() + 1) as u32, SeqCst);
    }

    /// All paths that were added, by whichever process.
    pub(super) fn all_names(&self) -> Vec<PathBuf> {
        let end = (self.header().names_end.load(SeqCst) as usize).min(NAMES);
        let bytes: Vec<u8> = self.names()[..end].iter().map(|byte| byte.load(SeqCst)).collect();
        let names = bytes.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        names.map(|name| PathBuf::from(OsString::from_vec(name.to_vec()))).collect()
    }

    /// A load begins: of the library at `index`, for the first time or again.
    pub(super) fn begin(&self, index: usize, again: bool) {
        let header = self.header();
        let (at, other) = match again {
            true => (&header.again, None),
            false => (&header.at, Some(&header.again)),
        };
        header.began.store(Instant::now().ticks(), SeqCst);
        other.into_iter().for_each(|other| other.store(0, SeqCst));
        at.store(index as u32 + 1, SeqCst);
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`; every reference into it borrows this value.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

fn until_zero(text: &[AtomicU8]) -> Vec<u8> {
    text.iter().map(|byte| byte.load(SeqCst)).take_while(|byte| *byte != 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_is_read_and_nonsense_does_no_harm() {
        let table = Table::new(3).unwrap();
        let entry = table.entry(2);
        assert_eq!((entry.state(), entry.path()), (State::Waiting, None));
        entry.set(State::Loaded);
        entry.set_text(b"/lib/a.so");
        assert_eq!((entry.state(), entry.path()), (State::Loaded, Some("/lib/a.so".into())));
        entry.set_text(&[b'x'; 5000]);
        assert_eq!((entry.path(), entry.text().len()), (None, TEXT - 1));
        entry.state.store(77, SeqCst);
        assert_eq!(entry.state(), State::Loading);
        table.add_name(b"/lib/a.so");
        table.add_name(b"/lib/b.so");
        assert_eq!(table.all_names(), [PathBuf::from("/lib/a.so"), "/lib/b.so".into()]);
        table.header().names_end.store(u32::MAX, SeqCst);
        table.add_name(b"lost");
        assert_eq!(table.all_names().len(), 2);
    }
}

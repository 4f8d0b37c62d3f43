//! Ring buffers that the kernel fills with perf records, one for each CPU.
//!
//! The events of one CPU share its ring (PERF_EVENT_IOC_SET_OUTPUT): fewer pages are locked,
//! and records carry the identifier of their event.

use super::attr::Attr;
use super::record::Record;
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap};
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};

/// `data_head`, `data_tail`, `data_offset` and `data_size` of `struct perf_event_mmap_page`.
const HEAD: usize = 1024;
const TAIL: usize = 1032;

/// Pages of data for a user with CAP_IPC_LOCK, and the number that the default of
/// `kernel.perf_event_mlock_kb` (516) leaves to everybody else.
const PAGES: [usize; 6] = [256, 128, 64, 32, 16, 8];

const IOC_SET_OUTPUT: libc::c_ulong = 0x2405;
const IOC_ID: libc::c_ulong = 0x8008_2407;

/// The same events on each of several CPUs.
pub(crate) struct Rings {
    rings: Vec<Ring>,
    /// Identifier of each opened event and the place of its attribute in the list given.
    events: HashMap<u64, usize>,
    /// The events feed the rings as long as they are open.
    _open: Vec<OwnedFd>,
}

impl Rings {
    /// Opens `attrs` for the calling thread's children on each of `cpus`; the first feeds the
    /// ring directly.
    pub(crate) fn open(attrs: &[Attr], cpus: &[u32]) -> io::Result<Rings> {
        let mut opened = Rings { rings: Vec::new(), events: HashMap::new(), _open: Vec::new() };
        for &cpu in cpus {
            let mut carrier: Option<RawFd> = None;
            for (index, attr) in attrs.iter().enumerate() {
                let attr = if index == 0 { attr.waking_at(32 * 1024) } else { *attr };
                let fd = attr.open(cpu as i32)?;
                if let Some(carrier) = carrier {
                    // SAFETY: passes a descriptor by value.
                    check(unsafe { libc::ioctl(fd.as_raw_fd(), IOC_SET_OUTPUT, carrier) })?;
                } else {
                    opened.rings.push(Ring::map(&fd)?);
                    carrier = Some(fd.as_raw_fd());
                }
                opened.events.insert(identifier(&fd)?, index);
                opened._open.push(fd);
            }
        }
        Ok(opened)
    }

    /// Descriptors that become readable when a ring fills.
    pub(crate) fn descriptors(&self) -> Vec<RawFd> {
        self.rings.iter().map(|ring| ring.fd).collect()
    }

    /// Takes every record written so far; for a sample together with the place of its event in
    /// the list given to [`Rings::open`].
    pub(crate) fn drain(&mut self, mut take: impl FnMut(Record, Option<usize>)) {
        let events = &self.events;
        let mut take = |record: Record| {
            let place = match &record {
                Record::Sample { identifier, .. } => events.get(identifier).copied(),
                _ => None,
            };
            take(record, place);
        };
        for ring in &mut self.rings {
            ring.drain(&mut take);
        }
    }
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn identifier(fd: &OwnedFd) -> io::Result<u64> {
    let mut id: u64 = 0;
    // SAFETY: the kernel writes a u64 into `id`.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), IOC_ID, &raw mut id) })?;
    Ok(id)
}

struct Ring {
    fd: RawFd,
    /// One page of control data, then `data_bytes` of records.
    base: *mut u8,
    page_bytes: usize,
    data_bytes: usize,
    /// Reused for each record.
    record: Vec<u8>,
}

impl Ring {
    /// Maps the largest ring that the limit on locked memory allows.
    fn map(fd: &OwnedFd) -> io::Result<Ring> {
        let page_bytes = rustix::param::page_size();
        let mut error = Errno::PERM;
        for pages in PAGES {
            let bytes = (pages + 1) * page_bytes;
            let protection = ProtFlags::READ | ProtFlags::WRITE;
            // SAFETY: a fresh shared mapping of the event; it is unmapped in `drop`.
            let base = unsafe { mmap(null_mut(), bytes, protection, MapFlags::SHARED, fd, 0) };
            match base {
                Ok(base) => {
                    return Ok(Ring {
                        fd: fd.as_raw_fd(),
                        base: base.cast(),
                        page_bytes,
                        data_bytes: pages * page_bytes,
                        record: Vec::new(),
                    });
                }
                Err(refused) => error = refused,
            }
        }
        Err(error.into())
    }

    /// A counter of the control page.
    fn control(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the control page is mapped as long as `self` lives, the offset is aligned, and
        // the kernel reads and writes these counters atomically.
        unsafe { AtomicU64::from_ptr(self.base.add(offset).cast()) }
    }

    fn drain(&mut self, take: &mut impl FnMut(Record)) {
        // Pairs with the kernel's barrier: records up to `head` are complete.
        let head = self.control(HEAD).load(Ordering::Acquire);
        let mut tail = self.control(TAIL).load(Ordering::Relaxed);
        while tail < head {
            let size = self
                .copy(tail, 8)
                .map_or(0, |()| usize::from(u16::from_ne_bytes([self.record[6], self.record[7]])));
            if size < 8 || self.copy(tail, size).is_none() {
                // No record is that small or larger than the ring: give up what is there.
                tail = head;
                break;
            }
            if let Some(record) = Record::parse(&self.record) {
                take(record);
            }
            tail += size as u64;
        }
        self.control(TAIL).store(tail, Ordering::Release);
    }

    /// Copies `size` bytes at position `from`, which may wrap around, into `self.record`.
    fn copy(&mut self, from: u64, size: usize) -> Option<()> {
        if size > self.data_bytes {
            return None;
        }
        let start = (from % self.data_bytes as u64) as usize;
        let first = size.min(self.data_bytes - start);
        self.record.clear();
        // SAFETY: both parts lie within the data pages, which the kernel does not write between
        // tail and head.
        unsafe {
            let data = self.base.add(self.page_bytes);
            self.record.extend_from_slice(std::slice::from_raw_parts(data.add(start), first));
            self.record.extend_from_slice(std::slice::from_raw_parts(data, size - first));
        }
        Some(())
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: unmaps exactly what `map` mapped; nothing refers to it any more.
        unsafe { libc::munmap(self.base.cast(), self.page_bytes + self.data_bytes) };
    }
}

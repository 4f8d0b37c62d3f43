//! `struct perf_event_attr`, as far as it is used here (include/uapi/linux/perf_event.h).

use super::Scope;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// What an event counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// Page faults served without input.
    MinorFaults,
    /// Page faults that waited for input.
    MajorFaults,
    /// A tracepoint, by its id.
    Tracepoint(u64),
    /// Processor time, so many times a second.
    CpuClock { frequency_hz: u32 },
}

const TYPE_SOFTWARE: u32 = 1;
const TYPE_TRACEPOINT: u32 = 2;
const SW_CPU_CLOCK: u64 = 0;
const SW_PAGE_FAULTS_MIN: u64 = 5;
const SW_PAGE_FAULTS_MAJ: u64 = 6;

pub(super) const SAMPLE_IP: u64 = 1;
pub(super) const SAMPLE_TID: u64 = 1 << 1;
pub(super) const SAMPLE_TIME: u64 = 1 << 2;
pub(super) const SAMPLE_ADDR: u64 = 1 << 3;
pub(super) const SAMPLE_RAW: u64 = 1 << 10;
pub(super) const SAMPLE_IDENTIFIER: u64 = 1 << 16;

const DISABLED: u64 = 1;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HV: u64 = 1 << 6;
const MMAP: u64 = 1 << 8;
const COMM: u64 = 1 << 9;
const FREQUENCY: u64 = 1 << 10;
const ENABLE_ON_EXEC: u64 = 1 << 12;
const TASK: u64 = 1 << 13;
const WATERMARK: u64 = 1 << 14;
const MMAP_DATA: u64 = 1 << 17;
const SAMPLE_ID_ALL: u64 = 1 << 18;
const MMAP2: u64 = 1 << 23;
const COMM_EXEC: u64 = 1 << 24;
const USE_CLOCKID: u64 = 1 << 25;

const FLAG_FD_CLOEXEC: libc::c_ulong = 1 << 3;

/// PERF_ATTR_SIZE_VER5: known to every kernel since 4.1.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct Attr {
    kind: u32,
    size: u32,
    config: u64,
    /// With [`FREQUENCY`] samples a second.
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_watermark: u32,
    bp_type: u32,
    config1: u64,
    config2: u64,
    branch_sample_type: u64,
    sample_regs_user: u64,
    sample_stack_user: u32,
    clock_id: i32,
    sample_regs_intr: u64,
    aux_watermark: u32,
    sample_max_stack: u16,
    reserved: u16,
}

const _: () = assert!(size_of::<Attr>() == 112);

impl Attr {
    /// Every occurrence in programs that the calling thread starts, and in their descendants,
    /// from their execve on, on the launch clock.
    pub(crate) fn new(event: EventKind, scope: Scope) -> Self {
        let (kind, config, raw) = match event {
            EventKind::MinorFaults => (TYPE_SOFTWARE, SW_PAGE_FAULTS_MIN, 0),
            EventKind::MajorFaults => (TYPE_SOFTWARE, SW_PAGE_FAULTS_MAJ, 0),
            EventKind::Tracepoint(id) => (TYPE_TRACEPOINT, id, SAMPLE_RAW),
            EventKind::CpuClock { .. } => (TYPE_SOFTWARE, SW_CPU_CLOCK, 0),
        };
        let (sample_period, frequency) = match event {
            EventKind::CpuClock { frequency_hz } => (frequency_hz.into(), FREQUENCY),
            _ => (1, 0),
        };
        let exclude = if scope == Scope::User { EXCLUDE_KERNEL } else { 0 };
        Attr {
            kind,
            size: size_of::<Attr>() as u32,
            config,
            sample_period,
            sample_type: SAMPLE_IDENTIFIER
                | SAMPLE_IP
                | SAMPLE_TID
                | SAMPLE_TIME
                | SAMPLE_ADDR
                | raw,
            flags: DISABLED
                | ENABLE_ON_EXEC
                | INHERIT
                | EXCLUDE_HV
                | SAMPLE_ID_ALL
                | USE_CLOCKID
                | frequency
                | exclude,
            clock_id: libc::CLOCK_MONOTONIC_RAW,
            ..Attr::default()
        }
    }

    /// Adds records of mappings, of new processes and of execve.
    pub(crate) fn with_processes(mut self) -> Self {
        self.flags |= MMAP | MMAP2 | MMAP_DATA | COMM | COMM_EXEC | TASK;
        self
    }

    /// Also what happens before execve: the kernel reads the beginning of a program before it.
    pub(crate) fn before_execve_too(mut self) -> Self {
        self.flags &= !(DISABLED | ENABLE_ON_EXEC);
        self
    }

    /// Wakes a reader as soon as `bytes` wait in the ring.
    pub(crate) fn waking_at(mut self, bytes: u32) -> Self {
        self.flags |= WATERMARK;
        self.wakeup_watermark = bytes;
        self
    }

    /// Opens the event for the calling thread on `cpu`, or on every CPU for −1.
    pub(crate) fn open(&self, cpu: i32) -> io::Result<OwnedFd> {
        // SAFETY: the attribute is complete, of the size it states, and outlives the call.
        let fd = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                std::ptr::from_ref(self),
                0,
                cpu,
                -1,
                FLAG_FD_CLOEXEC,
            )
        };
        match RawFd::try_from(fd) {
            // SAFETY: the kernel has just made this descriptor for us.
            Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

//! Memory of processes, by modules and sections, as `headstart sharing` reports it.

use crate::MappedVa;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// Version of [`SharingReport`] as JSON.
pub const SHARING_REPORT_SCHEMA: u32 = 1;

/// Memory of a section, a mapping, a module or a process, in KiB; proc_pid_smaps(5) defines the
/// words. `rss_kib` is the sum of `private_kib` and `shared_kib`, and that of `shareable_kib` and
/// `copied_kib`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryFigures {
    /// Addresses that it takes.
    pub size_kib: u64,
    /// Of these, those that may be read, written or executed.
    pub committed_kib: u64,
    /// In memory: the resident set, which Windows calls the working set.
    pub rss_kib: u64,
    /// In memory, mapped by this process alone.
    pub private_kib: u64,
    /// In memory, mapped by other processes too.
    pub shared_kib: u64,
    /// In memory, pages of a file or of shared memory as they are there: whoever else maps them
    /// shares them.
    pub shareable_kib: u64,
    /// In memory, pages that belong to no file: copies of a file's pages that were written to, and
    /// anonymous memory. Such pages are shared only between a process and its children.
    pub copied_kib: u64,
    /// Written to swap.
    pub swap_kib: u64,
}

impl AddAssign for MemoryFigures {
    fn add_assign(&mut self, other: MemoryFigures) {
        self.size_kib += other.size_kib;
        self.committed_kib += other.committed_kib;
        self.rss_kib += other.rss_kib;
        self.private_kib += other.private_kib;
        self.shared_kib += other.shared_kib;
        self.shareable_kib += other.shareable_kib;
        self.copied_kib += other.copied_kib;
        self.swap_kib += other.swap_kib;
    }
}

/// Memory of whole mappings, for which the kernel counts more than for parts of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MappingFigures {
    /// What there is of parts too.
    #[serde(flatten)]
    pub memory: MemoryFigures,
    /// Each page in memory divided by the number of processes that map it. The kernel rounds down to
    /// a KiB for each mapping; only those of whole processes are exact.
    pub pss_kib: u64,
    /// Of the private memory, what was written to.
    pub private_dirty_kib: u64,
    /// Of the shared memory, what was written to.
    pub shared_dirty_kib: u64,
    /// Transparent huge pages of anonymous memory; part of `copied_kib`.
    pub huge_kib: u64,
    /// Pages of hugetlbfs, which are not part of `rss_kib`.
    pub hugetlb_kib: u64,
}

impl AddAssign for MappingFigures {
    fn add_assign(&mut self, other: MappingFigures) {
        self.memory += other.memory;
        self.pss_kib += other.pss_kib;
        self.private_dirty_kib += other.private_dirty_kib;
        self.shared_dirty_kib += other.shared_dirty_kib;
        self.huge_kib += other.huge_kib;
        self.hugetlb_kib += other.hugetlb_kib;
    }
}

/// What a mapping that belongs to no image is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryKind {
    /// The heap that grows by brk(2).
    Heap,
    /// The stack of the first thread.
    Stack,
    /// Memory of no file: most heaps, stacks of threads, generated code.
    Anonymous,
    /// A file that is no image, or an image that is mapped as data.
    File,
    /// Memory that processes share by a name or a descriptor: memfd, /dev/shm, System V.
    SharedMemory,
    /// What the kernel maps into every process: vdso, vvar.
    Kernel,
}

/// How the memory of a module was divided among its sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SectionDivision {
    /// Page by page, in agreement with the figures of the mappings.
    Pages,
    /// Some mappings could not be divided: each is listed as one, by its first and last section.
    Mappings,
}

/// One section of a module; figures of all processes together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharingSection {
    /// Its name; `headers` for those of the file, `(none)` for what is in no section.
    pub name: String,
    /// What the mapped pages permit, such as `r-x`; several where they differ.
    pub protection: String,
    /// A page counts for the section that has the most bytes of it, so that a small section may
    /// have none.
    #[serde(flatten)]
    pub memory: MemoryFigures,
}

/// One image file in the processes; figures of all processes together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharingModule {
    /// Its path, as the kernel has it.
    pub path: String,
    /// The file was deleted or replaced since.
    pub deleted: bool,
    /// ELF or PE.
    pub format: crate::Format,
    /// Sum of the sections.
    #[serde(flatten)]
    pub figures: MappingFigures,
    /// Part of `copied_kib`: pages that relocations write to, as the tables of the file say.
    pub relocated_kib: u64,
    /// How the figures of the sections were obtained.
    pub division: SectionDivision,
    /// Sections by address.
    pub sections: Vec<SharingSection>,
    /// Where it begins in each process, in the order of [`SharingReport::processes`]; nothing where
    /// a process does not have it.
    pub base: Vec<Option<MappedVa>>,
}

/// Mappings of one kind and name that belong to no image; figures of all processes together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharingRest {
    /// What it is.
    pub kind: MemoryKind,
    /// The file or the name that the kernel has for it; empty where there is none.
    pub name: String,
    /// Sum of its mappings.
    #[serde(flatten)]
    pub figures: MappingFigures,
}

/// Sums of one or more processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharingTotals {
    /// Sum of all mappings; `pss_kib` is the sum of smaps_rollup.
    #[serde(flatten)]
    pub figures: MappingFigures,
    /// What is lost of `pss_kib` by the rounding of each mapping.
    pub pss_rounded_off_kib: u64,
    /// CPU time so far.
    pub cpu_us: u64,
    /// `relocated_kib` of all modules.
    pub relocated_kib: u64,
}

impl AddAssign for SharingTotals {
    fn add_assign(&mut self, other: SharingTotals) {
        self.figures += other.figures;
        self.pss_rounded_off_kib += other.pss_rounded_off_kib;
        self.cpu_us += other.cpu_us;
        self.relocated_kib += other.relocated_kib;
    }
}

/// What a process was doing when its memory was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SharingState {
    /// It went on: nobody stopped it.
    Running,
    /// A copy that waited for something, such as input.
    Idle,
    /// A copy that was ready as asked for.
    Ready,
    /// A copy that was about to end, and was held there.
    Ending,
    /// A copy that was still at work when its time was up.
    Busy,
    /// A copy that a signal, such as its own SIGSTOP, had stopped.
    Stopped,
    /// A child of a copy.
    Child,
}

/// One process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharingProcess {
    /// Its number.
    pub pid: u32,
    /// The copy that it belongs to, from 1; missing where headstart has not started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<u32>,
    /// Its command line, as one would type it; its name where it has none.
    pub command: String,
    /// What it was doing.
    pub state: SharingState,
    /// Whether the sum of its mappings is what the kernel's own sum (smaps_rollup) says; nothing
    /// where the kernel has none.
    pub agrees: Option<bool>,
    /// Its sums.
    pub totals: SharingTotals,
}

/// A process whose memory could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadProcess {
    /// Its number.
    pub pid: u32,
    /// Why, and what helps.
    pub reason: String,
}

/// What `headstart sharing` reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharingReport {
    /// Version of this structure.
    pub schema: u32,
    /// Version of headstart.
    pub headstart: String,
    /// The command that was launched; nothing for processes that ran already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// How many copies of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copies: Option<u32>,
    /// Size of a page.
    pub page_bytes: u64,
    /// The processes.
    pub processes: Vec<SharingProcess>,
    /// Processes whose memory could not be read.
    pub unread: Vec<UnreadProcess>,
    /// Images, the one with the most memory first.
    pub modules: Vec<SharingModule>,
    /// Everything else, the largest first.
    pub rest: Vec<SharingRest>,
    /// Sums of all processes: of `modules` and `rest`.
    pub totals: SharingTotals,
    /// What is not known or not exact, and why.
    pub notes: Vec<String>,
}

/// What `headstart sharing --compare` reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharingComparison {
    /// Version of this structure.
    pub schema: u32,
    /// Version of headstart.
    pub headstart: String,
    /// One for each command.
    pub commands: Vec<SharingReport>,
}

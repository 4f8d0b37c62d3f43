//! Plain data shared by every crate of headstart: no behavior beyond small accessors,
//! no system calls, nothing but serde.
//!
//! Units are in the names: `_us` microseconds, `_kib` binary kilobytes, `_bytes`, `_pages`.
//! A figure that could not be obtained is a [`Reading::Unavailable`], never a zero.

mod address;
mod around;
pub mod bundle;
mod bundle_contents;
mod bundle_remains;
mod called_code;
mod command;
mod debugged;
mod disk;
mod effect;
mod experiment;
mod explanation;
pub mod figures;
mod file_name;
mod file_pages;
mod file_reads;
mod function_order;
mod function_trace;
pub mod growth;
mod identity;
mod ids;
mod image;
mod installed;
mod io;
mod launch;
mod library_load;
pub mod load_table;
mod machine;
mod memory;
mod memory_prices;
pub mod nt_status;
pub mod optimization;
mod order_experiment;
mod page_cache;
mod pagein_experiment;
mod pe;
mod pe_module;
mod pe_set;
mod pf;
mod phase;
mod prefetch_experiment;
mod probe_experiment;
mod programs;
pub mod published;
mod quoting;
mod reading;
pub mod rebase;
mod recording;
mod results;
mod samples;
pub mod simulation;
pub mod text;
mod throughput;
pub mod toolchain;
mod trace;
mod unpacked;
mod waits;

pub use address::{BundleVa, FileOffset, LoadBias, MappedVa, Rva, TlsOffset, Va};
pub use around::{Hooks, OutputTo, Streams};
pub use bundle_contents::{
    BundleContents, BundleDifference, BundleFinish, BundleMemory, BundlePart, BundleStart,
    ImagePages, PartWork, StartStep,
};
pub use bundle_remains::{BundleRemains, CopiedPages, LibraryRemains};
pub use called_code::{CalledCode, CalledModule, OrderForecast};
pub use command::Command;
pub use debugged::{DebugStop, DebuggedDll, DebuggedLaunch, DebuggedProcess};
pub use disk::Disk;
pub use effect::{Effect, Interval, Rules, Summary, Verdict};
pub use experiment::{EXPERIMENT_SCHEMA, Experiment, LaunchOptions, Schedule, Variant};
pub use explanation::{
    BundleReport, CpuidTax, EXPLANATION_SCHEMA, Explanation, FaultTotals, FileWork, Finding,
    FolderGroup, FolderWork, ModuleReport, ProcessReport, Source,
};
pub use file_name::{file_name, folder_name};
pub use file_pages::{
    FilePages, FilePagesReport, PAGES_REPORT_SCHEMA, PageFigures, PageInOrder, PagesReport,
    SectionPages, TouchedFile, TouchedPage,
};
pub use file_reads::{FileRead, FileReads, OtherReads, ReadFile, ReadSum};
pub use function_order::{
    BuildFigures, DeviceCosts, HeldOutLaunch, LayoutFigures, LeftOutGroup, ModuleChange,
    ORDER_REPORT_SCHEMA, ORDER_VERIFICATION_SCHEMA, OrderReport, OrderVerdict, OrderVerification,
    RiseReport,
};
pub use function_trace::{
    ExecutedProgram, FUNCTION_TRACE_SCHEMA, FirstCall, FunctionModule, FunctionTrace, ModuleCalls,
    OpenOfficeStyle, TRACE_REPORT_SCHEMA, TraceReport,
};
pub use identity::{FileKind, Identity, Role, Runtime, Subsystem};
pub use ids::{FunctionId, MemberId, ModuleId, SymbolIndex, SymbolRef, VariantId};
pub use image::{
    ElfFacts, Format, HashStyle, ImageFacts, ImageKind, InspectedFile, Interpreter, Relro,
    SearchPath, VersionNeed,
};
pub use installed::{
    INSTALL_REPORT_SCHEMA, InstallReport, InstalledKind, UNINSTALL_REPORT_SCHEMA, UninstallReport,
    UninstalledFile,
};
pub use io::{
    ContentKind, FileIo, IO_REPORT_SCHEMA, IoAdvice, IoReport, IoSource, KindIo, ReadInSequence,
    SectionIo,
};
pub use launch::{CacheState, ColdCheck, Ending, Launch, Sample, Until};
pub use library_load::{
    AheadWhen, CameWith, FilesAhead, LIBRARY_LOADS_SCHEMA, LibraryLoad, LibraryLoadReport,
};
pub use machine::{Check, CheckState, Machine};
pub use memory::{
    MappingFigures, MemoryFigures, MemoryKind, SHARING_REPORT_SCHEMA, SectionDivision,
    SharingComparison, SharingModule, SharingProcess, SharingReport, SharingRest, SharingSection,
    SharingState, SharingTotals, UnreadProcess,
};
pub use memory_prices::MemoryPrices;
pub use order_experiment::{ORDER_EXPERIMENT_SCHEMA, OrderExperiment, PageinForm, PageinRow};
pub use page_cache::{
    CACHE_EVICTION_SCHEMA, CACHE_STATUS_SCHEMA, CacheEviction, CacheStatus, CacheTotals,
    CachedFile, CachedMetadata, EvictedFile, EvictionLevel, LargePages, MappingProcess,
    SkippedPath,
};
pub use pagein_experiment::{
    AheadForm, AheadFormFigures, PAGEIN_EXPERIMENT_SCHEMA, PageinDisk, PageinExperiment,
    PageinRecording,
};
pub use pe::{
    BoundDll, BoundForwarder, BoundState, Checksum, DebugEntry, GuardFacts, ImportedDll, PeFacts,
    PeFlags, PeKind, PeSection, StrongNameFacts, TlsFacts,
};
pub use pe_module::PeModule;
pub use pe_set::{Collision, Collisions, PE_SET_SCHEMA, PeSet, SetFinding, StampTwins};
pub use pf::{
    PF_NAMES_SCHEMA, PfFacts, PfFormat, PfListedFile, PfReference, PfVolume, PredictedPfName,
    PredictedPfNames,
};
pub use phase::{Phase, PhaseTime};
pub use prefetch_experiment::{
    PREFETCH_EXPERIMENT_SCHEMA, PrefetchExperiment, PrefetchForm, PrefetchFormTimes,
};
pub use probe_experiment::{
    PROBE_EXPERIMENT_SCHEMA, ProbeExperiment, ProbeFigures, ProbeKind, ProbeRow, ProbedState,
};
pub use programs::{
    FileRights, InstallStep, InstalledProgram, ListedProgram, PROGRAMS_SCHEMA, ProgramAdvice,
    ProgramChange, ProgramList, ProgramOutcome, ProgramPlace, ProgramVariant, ProgramsReport,
};
pub use quoting::{enclosed_for_windows, quoted, quoted_for_posix, quoted_path, words};
pub use reading::Reading;
pub use recording::{
    AHEAD_REPORT_SCHEMA, AheadReport, FileRange, LookedUpPath, RECORDING_LIST_SCHEMA,
    RECORDING_REPORT_SCHEMA, RecordedFile, RecordedIdentity, Recording, RecordingEntry,
    RecordingList, RecordingMode, RecordingReport, SkippedAhead, StaleFile,
};
pub use results::{ColdSummary, EndingCount, RESULTS_SCHEMA, Results, TimeUnit, VariantResult};
pub use samples::{CodeSample, Hot, HotFunction, HotInstruction, Hottest, LaunchSamples};
pub use throughput::{JobLaunch, Scaling, Throughput};
pub use trace::{
    FileCall, FileOperation, LoaderLine, LoaderLog, Mapping, Mark, MarkKind, MemoryChange,
    PageFault, PageFaults, PhaseTrace, TracedImage, TracedProcess,
};
pub use unpacked::{UnpackTimes, UnpackedFiles, UnpackingMount};
pub use waits::{ThreadLife, Wait, WaitCaller, WaitFor, WaitReport, WaitTrace, Waits};

//! What can be done better, as facts.

use super::obstacle::{Changeable, Obstacle, obstacle, to_checksum, to_moving, to_realigning};
use super::{collisions, twins};
use crate::names::{key, key_of_file};
use model::{BoundDll, Collisions, GuardFacts, PeFacts, PeKind, StampTwins};
use std::path::Path;

/// Something that can be done better.
#[derive(Clone, Debug, PartialEq)]
pub struct SurveyFinding {
    /// What is the matter.
    pub kind: FindingKind,
    /// The images concerned.
    pub files: Vec<String>,
    /// Which of these can be changed so that it is better; all, where nothing here changes them.
    pub changeable: Changeable,
}

/// What is the matter with some images of a set.
#[derive(Clone, Debug, PartialEq)]
pub enum FindingKind {
    /// They are malformed.
    Problems,
    /// Their preferred base is taken, and they have no relocations.
    Immovable,
    /// They have a very large Control Flow Guard table. This is the one that costs most.
    Guard {
        /// Its path.
        path: String,
        /// Whether it is a program or a DLL.
        kind: PeKind,
        /// The table.
        guard: GuardFacts,
    },
    /// Their preferred bases are taken.
    Collisions {
        /// Images of the whole set that Windows moves anyway.
        dynamic_base: usize,
        /// Of those that collide, images that would still do after all that can be moved are.
        left: usize,
        /// Of these, images that can be moved without their signatures.
        left_signed: usize,
    },
    /// Some of their import hints are wrong.
    WrongHints {
        /// So many.
        wrong: u64,
        /// Of so many.
        checked: u64,
    },
    /// Sections begin where Wine cannot map them.
    FileAlignment {
        /// Bytes of these sections, which Wine reads.
        bytes: u64,
    },
    /// They share `TimeDateStamp` and `CheckSum` with others.
    SameStamps {
        /// The largest group.
        largest: StampTwins,
        /// System calls with which Wine compares all pairs.
        system_calls: u64,
    },
    /// They are bound to DLLs that have changed, or that ASLR moves.
    StaleBindings {
        /// Such DLLs, counted for each image.
        dlls: usize,
        /// Whether they can be bound again, and would stay so.
        can_be_bound: bool,
    },
    /// They are copied when they are started from other media (SWAPRUN).
    RunFromSwap,
    /// Their checksum is not that of their content.
    Checksums,
}

impl FindingKind {
    /// How it is called in JSON.
    pub fn id(&self) -> &'static str {
        match self {
            FindingKind::Problems => "problems",
            FindingKind::Immovable => "immovable",
            FindingKind::Guard { .. } => "guard",
            FindingKind::Collisions { .. } => "collisions",
            FindingKind::WrongHints { .. } => "wrong-hints",
            FindingKind::FileAlignment { .. } => "file-alignment",
            FindingKind::SameStamps { .. } => "same-stamps",
            FindingKind::StaleBindings { .. } => "stale-bindings",
            FindingKind::RunFromSwap => "run-from-swap",
            FindingKind::Checksums => "checksums",
        }
    }
}

/// All findings, what keeps images from working first, then what costs most.
pub(super) fn all(
    files: &[PeFacts],
    collisions: &Collisions,
    twins: &[StampTwins],
) -> Vec<SurveyFinding> {
    let malformed = those(files, |file| !file.problems.is_empty());
    let swapped = those(files, |file| file.flags.swap_run_net || file.flags.swap_run_removable);
    let all = [
        Some(finding(FindingKind::Problems, malformed)),
        Some(finding(FindingKind::Immovable, collisions.immovable.clone())),
        guard(files),
        Some(moved(files, collisions)),
        Some(hints(files)),
        Some(alignment(files)),
        same_stamps(files, twins),
        Some(stale_bindings(files)),
        Some(finding(FindingKind::RunFromSwap, swapped).changed_unless(files, obstacle)),
        Some(checksums(files)),
    ];
    all.into_iter().flatten().filter(|finding| !finding.files.is_empty()).collect()
}

fn finding(kind: FindingKind, files: Vec<String>) -> SurveyFinding {
    let changeable = Changeable { free: files.len(), ..Changeable::default() };
    SurveyFinding { kind, files, changeable }
}

impl SurveyFinding {
    /// With what keeps some of its files from being changed.
    fn changed_unless(
        self,
        files: &[PeFacts],
        obstacle: impl Fn(&PeFacts) -> Option<Obstacle>,
    ) -> SurveyFinding {
        let about = files.iter().filter(|file| self.files.contains(&file.path));
        SurveyFinding { changeable: Changeable::of(about.map(obstacle)), ..self }
    }
}

/// Paths of the files for which something holds.
fn those(files: &[PeFacts], holds: impl Fn(&PeFacts) -> bool) -> Vec<String> {
    files.iter().filter(|file| holds(file)).map(|file| file.path.clone()).collect()
}

fn guard(files: &[PeFacts]) -> Option<SurveyFinding> {
    let many =
        |file: &PeFacts| file.guard.clone().filter(|guard| guard.functions >= GuardFacts::MANY);
    let tables = files.iter().filter_map(|file| Some((file, many(file)?)));
    let (file, guard) =
        tables.max_by_key(|(file, guard)| (file.kind == PeKind::Program, guard.functions))?;
    let kind = FindingKind::Guard { path: file.path.clone(), kind: file.kind, guard };
    Some(finding(kind, those(files, |file| many(file).is_some())))
}

/// Of images at one place, all but one have to be movable.
fn moved(files: &[PeFacts], collisions: &Collisions) -> SurveyFinding {
    let stays = |file: &&PeFacts| file.kind != PeKind::Library || to_moving(file).is_some();
    let staying: Vec<PeFacts> = files.iter().filter(stays).cloned().collect();
    let left: Vec<String> =
        collisions::find(&staying).moved.into_iter().map(|moved| moved.path).collect();
    let signed =
        |file: &PeFacts| left.contains(&file.path) && to_moving(file) == Some(Obstacle::Signed);
    let kind = FindingKind::Collisions {
        dynamic_base: files.iter().filter(|file| file.flags.dynamic_base).count(),
        left: left.len(),
        left_signed: those(files, signed).len(),
    };
    finding(kind, collisions.moved.iter().map(|moved| moved.path.clone()).collect())
}

fn hints(files: &[PeFacts]) -> SurveyFinding {
    let wrong = files.iter().filter_map(|file| file.wrong_hints).sum();
    let checked = files.iter().map(|file| file.hints_checked).sum();
    let paths = those(files, |file| file.wrong_hints.is_some_and(|wrong| wrong > 0));
    finding(FindingKind::WrongHints { wrong, checked }, paths).changed_unless(files, obstacle)
}

/// Bytes of sections whose place in the file keeps Wine from mapping them.
fn bytes_read(file: &PeFacts) -> u64 {
    file.unmapped_sections().map(|section| u64::from(section.file_bytes)).sum()
}

fn alignment(files: &[PeFacts]) -> SurveyFinding {
    let paths = those(files, |file| bytes_read(file) > 0);
    let bytes = files.iter().map(bytes_read).sum();
    finding(FindingKind::FileAlignment { bytes }, paths).changed_unless(files, to_realigning)
}

fn same_stamps(files: &[PeFacts], twins: &[StampTwins]) -> Option<SurveyFinding> {
    let twins = twins::but_copies(files, twins);
    let largest = twins.first()?.clone();
    let system_calls = twins.iter().map(|group| group.extra_system_calls).sum();
    let paths = twins.into_iter().flat_map(|group| group.files).collect();
    let kind = FindingKind::SameStamps { largest, system_calls };
    Some(finding(kind, paths).changed_unless(files, to_moving))
}

fn stale_bindings(files: &[PeFacts]) -> SurveyFinding {
    fn stale(file: &PeFacts) -> impl Iterator<Item = &BoundDll> {
        file.bound.iter().filter(|dll| dll.valid == Some(false))
    }
    let bound: Vec<&PeFacts> = files.iter().filter(|file| stale(file).next().is_some()).collect();
    let can_be_bound = bound.iter().all(|file| {
        let fit = obstacle(file).is_none() && !file.flags.no_bind;
        fit && stale(file).all(|dll| stays_where_it_wants(files, file, &dll.name))
    });
    let dlls = bound.iter().map(|file| stale(file).count()).sum();
    let paths = bound.iter().map(|file| file.path.clone()).collect();
    let kind = FindingKind::StaleBindings { dlls, can_be_bound };
    finding(kind, paths).changed_unless(files, obstacle)
}

/// Whether a DLL is among the files, and loaders leave it at its preferred base.
fn stays_where_it_wants(files: &[PeFacts], importer: &PeFacts, dll: &str) -> bool {
    let key = key(dll.as_bytes());
    files.iter().any(|file| {
        let same = key_of_file(Path::new(&file.path)) == key && file.machine == importer.machine;
        // One without a time stamp is not bound to.
        same && !file.flags.dynamic_base && file.time_stamp != 0
    })
}

fn checksums(files: &[PeFacts]) -> SurveyFinding {
    let wrong = |file: &PeFacts| {
        file.checksum.stored != 0 && file.checksum.stored != file.checksum.computed
    };
    finding(FindingKind::Checksums, those(files, wrong)).changed_unless(files, to_checksum)
}

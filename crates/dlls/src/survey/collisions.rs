//! Images whose preferred places overlap.

use super::names::name;
use files::folder_of;
use model::{Collision, Collisions, PeFacts, PeKind, Va};
use std::collections::BTreeMap;
use std::path::Path;

const PAGE: u64 = 4096;

/// Places that are taken in one process: start and image to end. Those of DLLs of one name may
/// overlap, as only one of these is loaded.
#[derive(Default)]
struct Taken {
    places: BTreeMap<(Va, usize), Va>,
    widest: u64,
}

impl Taken {
    fn add(&mut self, start: Va, end: Va, image: usize) {
        self.places.insert((start, image), end);
        self.widest = self.widest.max(end - start);
    }

    /// The images that have a part of a range, the lowest first.
    fn by(&self, start: Va, end: Va) -> impl Iterator<Item = usize> {
        let within = self.places.range((Va(start.0.saturating_sub(self.widest)), 0)..(end, 0));
        within.filter(move |(_, until)| **until > start).map(|((_, image), _)| *image)
    }
}

/// Who is moved, when images take their places in order: by the one of its own folder, if there
/// is a choice.
pub(super) fn find(files: &[PeFacts]) -> Collisions {
    let mut collisions = Collisions::default();
    let mut programs: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut taken: BTreeMap<&str, Taken> = BTreeMap::new();
    for (index, file) in files.iter().enumerate() {
        if file.kind == PeKind::Program {
            programs.entry(&file.machine).or_default().push(index);
        }
    }
    for (index, file) in files.iter().enumerate().filter(|(_, file)| file.kind == PeKind::Library) {
        let (start, end) = range(file);
        if end == start {
            continue;
        }
        let taken = taken.entry(&file.machine).or_default();
        let overlaps = |&&program: &&usize| {
            files.get(program).is_some_and(|program| {
                let (from, to) = range(program);
                from < end && start < to
            })
        };
        let program = programs.get(&*file.machine).and_then(|all| all.iter().find(overlaps));
        let (own, folder) = (name(file), folder_of(Path::new(&file.path)));
        let others = taken.by(start, end).filter_map(|by| files.get(by));
        let others = others.filter(|by| name(by) != own);
        let by = others.min_by_key(|by| folder_of(Path::new(&by.path)) != folder);
        match by.or(program.and_then(|program| files.get(*program))) {
            Some(by) => add(&mut collisions, file, by),
            None => taken.add(start, end, index),
        }
    }
    collisions
}

fn add(collisions: &mut Collisions, file: &PeFacts, by: &PeFacts) {
    collisions.moved.push(Collision { path: file.path.clone(), by: by.path.clone() });
    if file.flags.relocations_stripped {
        collisions.immovable.push(file.path.clone());
    } else {
        collisions.relocations += file.relocation_count();
        collisions.pages += file.relocated_pages;
    }
}

/// Addresses that an image takes at its preferred base.
fn range(file: &PeFacts) -> (Va, Va) {
    let bytes = u64::from(file.size_of_image).next_multiple_of(PAGE);
    (file.base, file.base.saturating_add(bytes))
}

//! Images whose preferred places overlap.

use model::{Collision, Collisions, PeFacts, PeKind};
use std::collections::BTreeMap;

const PAGE: u64 = 4096;

/// Places that are taken in one process: start to end and image.
#[derive(Default)]
struct Taken(BTreeMap<u64, (u64, usize)>);

impl Taken {
    /// The image at the lowest address that has a part of a range.
    fn by(&self, start: u64, end: u64) -> Option<usize> {
        let before = self.0.range(..=start).next_back();
        let before = before.filter(|(_, (end, _))| *end > start);
        let within = self.0.range(start..end).next();
        before.or(within).map(|(_, (_, image))| *image)
    }
}

/// Who is moved, when images take their places in order.
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
        match taken.by(start, end).or(program.copied()).and_then(|by| files.get(by)) {
            Some(by) => add(&mut collisions, file, by),
            None => {
                taken.0.insert(start, (end, index));
            }
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
fn range(file: &PeFacts) -> (u64, u64) {
    let bytes = u64::from(file.size_of_image).next_multiple_of(PAGE);
    (file.base, file.base.saturating_add(bytes))
}

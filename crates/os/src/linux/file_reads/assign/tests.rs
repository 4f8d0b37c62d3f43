//! Reads assigned to files, from events as the kernel gives them and from others.

use super::*;
use proptest::prelude::*;

const DISK: u64 = 8 << 20;
const PARTITION: u64 = DISK + 1;

/// A file with holes in pages 4 and 90.
fn file() -> WatchedFile {
    WatchedFile {
        path: "/program".into(),
        inode: 10,
        device: Some(PARTITION),
        disk: Some(DISK),
        holes: Vec::from([4..5, 90..91]),
    }
}

fn added(thread: u32, inode: u64, pages: Range<u64>) -> Event {
    Event::Added { thread, added: Added { device: PARTITION, inode, pages } }
}

fn sectors(disk: u64, first: u64, pages: u64) -> Sectors {
    Sectors { disk, first, count: pages * page_bytes() / SECTOR_BYTES }
}

fn asked(thread: u32, disk: u64, first: u64, pages: u64) -> Event {
    Event::Asked { thread, sectors: sectors(disk, first, pages) }
}

fn done(disk: u64, first: u64, pages: u64) -> Event {
    Event::Done { sectors: sectors(disk, first, pages) }
}

/// Reads of [`file`], as first page, pages, and time of the end; events are one nanosecond apart.
fn reads(events: Vec<Event>) -> Vec<(u64, u64, Option<u64>)> {
    let at = |(at_ns, event)| Happening { at_ns, event };
    let happenings: Vec<Happening> = (1..).zip(events).map(at).collect();
    let assigned = assign(&happenings, &[file()]).0.remove(0);
    let pages = |read: &Read| (read.offset.0 / page_bytes(), read.bytes / page_bytes());
    assigned.reads.iter().map(|read| (pages(read).0, pages(read).1, read.done_ns)).collect()
}

#[test]
fn a_read_ends_when_all_of_it_is_there() {
    let events = vec![
        added(1, 10, 0..2),
        added(1, 10, 2..4),
        asked(1, DISK, 100, 4),
        done(DISK, 100, 3),
        done(DISK + 16, 100, 9),
        // Merged with what lies behind it.
        done(DISK, 100 + 3 * page_bytes() / SECTOR_BYTES, 50),
    ];
    assert_eq!(reads(events), [(0, 4, Some(6))]);
}

#[test]
fn threads_read_at_the_same_time_and_parts_of_files_lie_apart() {
    let events = vec![
        added(1, 10, 20..24),
        added(2, 10, 50..51),
        // The file's pieces on the disk.
        asked(1, DISK, 800, 1),
        asked(2, DISK, 100, 1),
        asked(1, DISK, 900, 3),
        // Sequential reading.
        added(1, 10, 24..26),
        asked(1, DISK, 1000, 2),
    ];
    assert_eq!(reads(events), [(20, 1, None), (50, 1, None), (21, 3, None), (24, 2, None)]);
}

#[test]
fn what_is_no_read_of_the_file_is_left_out() {
    let metadata = Added { device: 0, inode: PARTITION, pages: 7..8 };
    let events = vec![
        added(1, 10, 0..2),
        // The file system looks up where that is.
        Event::Added { thread: 1, added: metadata },
        // The device below the file's own, and another thread.
        asked(1, DISK + 16, 500, 2),
        asked(2, DISK, 500, 2),
        asked(1, DISK, 100, 2),
        asked(1, DISK, 600, 2),
        // Pages that the launch writes; then another file is read.
        added(1, 10, 30..31),
        added(1, 11, 0..1),
        asked(1, DISK, 700, 1),
    ];
    assert_eq!(reads(events), [(0, 2, None)]);
}

#[test]
fn holes_are_not_read() {
    let pages = (2..7).map(|page| added(1, 10, page..page + 1));
    let events = pages.chain([asked(1, DISK, 100, 2), asked(1, DISK, 200, 2)]);
    assert_eq!(reads(events.collect()), [(2, 2, None), (5, 2, None)]);
}

#[test]
fn what_is_read_besides_is_counted_by_file() {
    let events = vec![
        Event::AskedMetadata { sectors: sectors(DISK, 10, 1) },
        asked(2, DISK, 900, 1),
        added(1, 11, 0..3),
        asked(1, DISK, 700, 3),
        // The device below.
        asked(1, DISK + 16, 700, 3),
        added(1, 10, 0..1),
        asked(1, DISK, 100, 1),
    ];
    let at = |(at_ns, event)| Happening { at_ns, event };
    let happenings: Vec<Happening> = (1..).zip(events).map(at).collect();
    let (assigned, besides) = assign(&happenings, &[file()]);
    let sum = |reads, pages| ReadSum { reads, bytes: pages * page_bytes() };
    assert_eq!(besides.metadata, sum(1, 1));
    assert_eq!(besides.unassigned, sum(1, 1));
    assert_eq!(besides.files, HashMap::from([((PARTITION, 11), sum(1, 3))]));
    assert_eq!(assigned[0].reads.len(), 1);
}

fn event() -> impl Strategy<Value = Event> {
    // Numbers that meet, and any.
    let number = || prop_oneof![0_u64..40, any::<u64>()];
    let part = (prop_oneof![Just(DISK), any::<u64>()], number(), number());
    let part = part.prop_map(|(disk, first, count)| Sectors { disk, first, count });
    prop_oneof![
        (0_u32..3, 9_u64..12, number(), 0_u64..64).prop_map(|(thread, inode, first, count)| {
            added(thread, inode, first..first.saturating_add(count))
        }),
        (0_u32..3, part.clone()).prop_map(|(thread, sectors)| Event::Asked { thread, sectors }),
        part.prop_map(|sectors| Event::Done { sectors }),
    ]
}

proptest! {
    #[test]
    fn whatever_comes_each_page_is_read_at_most_once(events in prop::collection::vec(event(), 0..60)) {
        let at = |(at_ns, event)| Happening { at_ns, event };
        let asked = events.iter().filter(|event| matches!(event, Event::Asked { .. })).count();
        let happenings: Vec<Happening> = (1..).zip(events).map(at).collect();
        let found = assign(&happenings, &[file()]).0.remove(0);
        prop_assert!(found.reads.len() <= asked);
        prop_assert!(found.reads.len() as u64 <= found.pages);
        for read in &found.reads {
            prop_assert!(read.done_ns.is_none_or(|done| done > read.at_ns));
        }
    }
}

//! Records and notices, whole, cut off and wrong.

use super::*;

const MARK: LoadMark = LoadMark(*b"sixteen bytes...");

/// A record of load `number`, from tick 100 to tick 350, by thread 9; the record before the first load has no times.
fn written(number: u64, library: u64, path: &str) -> Vec<u8> {
    let mut bytes = vec![0; RECORD_BYTES as usize];
    put(&mut bytes, 0, &MARK.0);
    put(&mut bytes, field::NUMBER, &number.to_le_bytes());
    if number != u64::MAX {
        put(&mut bytes, field::BEFORE, &100_u64.to_le_bytes());
        put(&mut bytes, field::AFTER, &350_u64.to_le_bytes());
    }
    put(&mut bytes, field::FREQUENCY, &10_000_000_u64.to_le_bytes());
    put(&mut bytes, field::LIBRARY, &library.to_le_bytes());
    put(&mut bytes, field::ERROR, &126_u32.to_le_bytes());
    put(&mut bytes, field::CHARACTERS, &(path.len() as u32).to_le_bytes());
    put(&mut bytes, field::MODULES_BEFORE, &24_u32.to_le_bytes());
    put(&mut bytes, field::MODULES_AFTER, &40_u32.to_le_bytes());
    put(&mut bytes, field::REGISTRATION, &u32::MAX.to_le_bytes());
    put(&mut bytes, field::THREAD, &9_u32.to_le_bytes());
    bytes.extend(path.encode_utf16().flat_map(u16::to_le_bytes));
    bytes
}

fn put(bytes: &mut [u8], at: u32, value: &[u8]) {
    bytes[at as usize..at as usize + value.len()].copy_from_slice(value);
}

/// A record that says that this many notices were written before it.
fn told(number: u64, notices: u32) -> Vec<u8> {
    let mut bytes = written(number, 7, "C:\\a.dll");
    put(&mut bytes, field::REGISTRATION, &0_u32.to_le_bytes());
    put(&mut bytes, field::NOTICES, &notices.to_le_bytes());
    more(&mut bytes, 0);
    bytes
}

/// There are so many more modules after the load than before.
fn more(record: &mut [u8], modules: u32) {
    put(record, field::MODULES_AFTER, &(24 + 8 * modules).to_le_bytes());
}

/// A notice at this tick, from thread 9.
fn noticed(ticks: u64, reason: u32, base: u64, path: &str) -> Vec<u8> {
    let mut bytes = vec![0; notice::BYTES as usize];
    let length = 2 * path.encode_utf16().count() as u32;
    put(&mut bytes, 0, &MARK.of_notices());
    put(&mut bytes, notice::TICKS, &ticks.to_le_bytes());
    put(&mut bytes, notice::BASE, &base.to_le_bytes());
    put(&mut bytes, notice::REASON, &reason.to_le_bytes());
    put(&mut bytes, notice::THREAD, &9_u32.to_le_bytes());
    put(&mut bytes, notice::LENGTH, &length.to_le_bytes());
    put(&mut bytes, notice::KEPT, &length.to_le_bytes());
    bytes.extend(path.encode_utf16().flat_map(u16::to_le_bytes));
    bytes
}

fn names(record: &LoadRecord) -> Option<Vec<String>> {
    let arrivals = record.arrivals.as_ref()?.iter();
    Some(arrivals.map(|arrival| String::from_utf16_lossy(&arrival.path)).collect())
}

/// Output that is cut off anywhere gives fewer records, but never a different one.
fn cut_off_gives_fewer(whole: &[u8]) {
    let all = records(whole, MARK);
    for end in 0..whole.len() {
        assert!(all.starts_with(&records(&whole[..end], MARK)), "{end}");
    }
}

#[test]
fn records_are_told_from_what_libraries_print() {
    let parts: [&[u8]; 5] = [
        &written(u64::MAX, 0, ""),
        b"a library says hello\n",
        &written(0, 7, "C:\\a.dll"),
        &written(1, 0, "Z:\\x.exe"),
        &MARK.0,
    ];
    let found = records(&parts.concat(), MARK);
    assert_eq!(found.len(), 3);
    assert_eq!(found[0].number, None);
    let path = "C:\\a.dll".encode_utf16().collect();
    let first = LoadRecord {
        number: Some(0),
        us: 25.0,
        error: None,
        modules: 2,
        arrivals: None,
        lost: false,
        between: 0,
        mapped_before: 0,
        path,
        has_whole_path: true,
    };
    assert_eq!(found[1], first);
    assert_eq!((found[2].error, found[2].path.len()), (Some(126), 0));
    let long = records(&written(0, 7, &"x".repeat(PATH_CHARACTERS as usize)), MARK);
    assert!(!long[0].has_whole_path);
    // Windows ends such a path with a NUL.
    let cut = "x".repeat(PATH_CHARACTERS as usize - 1);
    let found = records(&written(0, 7, &format!("{cut}\0")), MARK);
    let path = cut.encode_utf16().collect::<Vec<_>>();
    assert_eq!((&found[0].path, found[0].has_whole_path), (&path, false));
    cut_off_gives_fewer(&parts.concat());
}

#[test]
fn notices_belong_to_the_record_that_follows_them() {
    let mut other = noticed(200, CAME, 0x3000, "C:\\o\u{1f600}.dll");
    put(&mut other, notice::THREAD, &10_u32.to_le_bytes());
    put(&mut other, notice::LENGTH, &9999_u32.to_le_bytes());
    let parts: [&[u8]; 14] = [
        &told(u64::MAX, 0),
        &noticed(99, CAME, 0x9000, "C:\\early.dll"),
        &noticed(110, CAME, 0x1000, "C:\\b.dll"),
        b"a library says hello\n",
        &noticed(120, GOES, 0x1000, "C:\\b.dll"),
        &noticed(130, CAME, 0x1000, "C:\\c.dll"),
        &other,
        &noticed(250, 3, 0x1000, "C:\\strange.dll"),
        &noticed(340, GOES, 0x8000, "C:\\never-came.dll"),
        &noticed(350, CAME, 0x2000, "C:\\a.dll"),
        &noticed(351, GOES, 0x2000, "C:\\a.dll"),
        &told(0, 9),
        &told(1, 0),
        &noticed(200, CAME, 0x7000, "C:\\no-record.dll"),
    ];
    let found = records(&parts.concat(), MARK);
    assert_eq!(found.len(), 3);
    let arrivals = found[1].arrivals.as_ref().unwrap();
    let paths = ["C:\\b.dll", "C:\\c.dll", "C:\\o\u{1f600}.dll", "C:\\a.dll"];
    assert_eq!(names(&found[1]).unwrap(), paths);
    let times: Vec<_> = arrivals.iter().map(|it| (it.at_us, it.left_at_us)).collect();
    assert_eq!(times, [(1.0, Some(2.0)), (3.0, None), (10.0, None), (25.0, None)]);
    let other: Vec<bool> = arrivals.iter().map(|it| it.by_other_thread && !it.is_whole).collect();
    assert_eq!(other, [false, false, true, false]);
    assert_eq!((found[1].modules, found[1].between), (4, 1));
    assert_eq!((found[2].modules, names(&found[2])), (0, Some(vec![])));
    cut_off_gives_fewer(&parts.concat());
}

/// It belongs to the load before, which says that it was lost.
#[test]
fn a_notice_that_comes_too_late_is_between_no_loads() {
    for (ticks, between) in [(90, 0), (350, 0), (351, 1)] {
        let mut second = told(1, 1);
        put(&mut second, field::BEFORE, &400_u64.to_le_bytes());
        put(&mut second, field::AFTER, &500_u64.to_le_bytes());
        let parts = [told(0, 0), noticed(ticks, CAME, 0x1000, "C:\\b.dll"), second];
        let found = records(&parts.concat(), MARK);
        assert_eq!((found[1].between, names(&found[1])), (between, Some(vec![])), "{ticks}");
    }
}

/// What is not known gives no count.
#[test]
fn modules_that_were_not_counted_are_not_compared() {
    for at in [field::MODULES_BEFORE, field::MODULES_AFTER] {
        let mut record = told(0, 1);
        put(&mut record, at, &0_u32.to_le_bytes());
        let found = records(&[noticed(200, CAME, 1, "a"), record.clone()].concat(), MARK);
        assert_eq!((found[0].modules, found[0].mapped_before), (1, 0));
        put(&mut record, field::NOTICES, &9_u32.to_le_bytes());
        assert_eq!(records(&record, MARK)[0].modules, 0);
    }
    // More modules than the loader reported have left.
    let mut record = told(0, 0);
    put(&mut record, field::MODULES_BEFORE, &80_u32.to_le_bytes());
    assert_eq!(records(&record, MARK)[0].mapped_before, 0);
}

/// There are two more modules after the load, and the loader reported four, and some that were unloaded.
#[test]
fn modules_that_were_mapped_before_are_counted() {
    let came = ["a", "b", "c", "d"].map(|name| noticed(200, CAME, 1, name)).concat();
    for (gone, expected) in [(0, 2), (1, 1), (2, 0)] {
        let mut record = told(0, 4 + gone);
        more(&mut record, 2);
        let gone = noticed(300, GOES, 0x7000, "old").repeat(gone as usize);
        let found = records(&[came.clone(), gone, record].concat(), MARK);
        assert_eq!((found[0].modules, found[0].mapped_before), (4, expected));
    }
    // Other threads load and unload between the counts and the load.
    let mut other = noticed(90, CAME, 0x7000, "other");
    put(&mut other, notice::THREAD, &10_u32.to_le_bytes());
    let found = records(&[came, other, told(0, 5)].concat(), MARK);
    assert_eq!((found[0].modules, found[0].mapped_before), (4, 0));
}

/// A library has had the callback unregistered, say. A load that was refused may leave modules that are not reported.
#[test]
fn where_more_modules_came_than_were_reported_names_are_not_known() {
    let mut record = told(0, 1);
    more(&mut record, 2);
    let came = noticed(200, CAME, 1, "a");
    let found = records(&[came.clone(), record.clone()].concat(), MARK);
    assert_eq!((found[0].modules, names(&found[0])), (2, None));
    put(&mut record, field::LIBRARY, &0_u64.to_le_bytes());
    let found = records(&[came, record].concat(), MARK);
    assert_eq!(names(&found[0]).unwrap(), ["a"]);
}

/// Then modules are counted by their handles.
#[test]
fn if_notices_are_missing_names_are_not_known() {
    let came = noticed(200, CAME, 0x1000, "C:\\b.dll");
    let mut lost = told(0, 1);
    put(&mut lost, field::LOST, &1_u32.to_le_bytes());
    let mut refused = told(0, 1);
    put(&mut refused, field::REGISTRATION, &0xc000_0001_u32.to_le_bytes());
    for (notices, record, is_lost) in [
        (came.clone(), told(0, 2), false),
        (came.clone(), told(0, u32::MAX), false),
        (came.clone(), told(0, 0), false),
        (Vec::new(), told(0, 1), false),
        (came.clone(), lost, true),
        (came, refused, false),
    ] {
        let mut record = record;
        more(&mut record, 2);
        let found = records(&[notices, record].concat(), MARK);
        assert_eq!((found[0].modules, names(&found[0])), (2, None));
        assert_eq!(found[0].lost, is_lost);
    }
}

/// Lengths are checked.
#[test]
fn wrong_lengths_are_refused() {
    for kept in [NAME_LIMIT + 1, NAME_LIMIT, u32::MAX, 1 << 31] {
        let mut bad = noticed(200, CAME, 0x1000, "C:\\b.dll");
        put(&mut bad, notice::KEPT, &kept.to_le_bytes());
        let found = records(&[bad, told(0, 1)].concat(), MARK);
        assert_eq!((found.len(), names(&found[0])), (1, None), "{kept}");
    }
    let mut bad = written(0, 7, "C:\\a.dll");
    put(&mut bad, field::CHARACTERS, &u32::MAX.to_le_bytes());
    let found = records(&[bad, told(1, 0)].concat(), MARK);
    assert_eq!(found.len(), 1);
    // Any byte of the output may be wrong, which includes odd lengths. That does no harm.
    let whole = [noticed(200, CAME, 1, "C:\\b.dll"), told(0, 1)].concat();
    for at in 0..whole.len() {
        for value in [0, 1, 0xff, !whole[at]] {
            let mut bytes = whole.clone();
            bytes[at] = value;
            assert!(records(&bytes, MARK).len() <= 1);
        }
    }
}

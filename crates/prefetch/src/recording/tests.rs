//! Files of recordings: whole, damaged, hostile.

use super::*;
use model::{FileRange, LookedUpPath, RecordedFile, RecordedIdentity, Recording, RecordingMode};
use proptest::prelude::*;

fn sample() -> Recording {
    let identity = RecordedIdentity {
        device: 5,
        inode: 7,
        size_bytes: 20_000,
        modified_ns: -3,
        build_id: Some("abcd".to_owned()),
    };
    Recording {
        program: "/bin/a".to_owned(),
        command: "a -v".to_owned(),
        mode: RecordingMode::Exact,
        approximate_files: 0,
        launches: 1,
        total_us: 12.5,
        page_bytes: 4096,
        files: vec![RecordedFile {
            path: "/bin/a".to_owned(),
            identity,
            ranges: vec![FileRange::from((16384, 3616)), FileRange::from((0, 8192))],
            touched_us: vec![1.0, 2.5],
        }],
        looked_up: vec![LookedUpPath { path: "/lib/x".to_owned(), found: false }],
        notes: vec!["a note".to_owned()],
    }
}

#[test]
fn what_is_written_is_read() {
    assert_eq!(read(&write(&sample())), Ok(sample()));
    assert_eq!(sample().bytes(), 11_808);
}

#[test]
fn the_samples_stand_in_front() {
    let bytes = write(&sample());
    let plan = crate::plan::plan(&sample(), crate::plan::Amount::Recorded, model::Disk::Flash);
    let found = samples(&bytes[..MOST_SAMPLE_BYTES.min(bytes.len())]).unwrap();
    assert_eq!((found.samples, found.files), (plan.samples, plan.files));
    assert!(samples(&bytes[..50]).is_none() && samples(b"x").is_none());
}

#[test]
fn other_files_and_other_versions_are_named() {
    assert_eq!(read(b"\x7fELF...."), Err(RecordingProblem::OtherFile));
    let mut bytes = write(&sample());
    bytes[8] = 9;
    assert_eq!(read(&bytes), Err(RecordingProblem::Version(9)));
}

#[test]
fn every_rule_is_checked() {
    let broken: [fn(&mut Recording); 9] = [
        |found| found.page_bytes = 1000,
        |found| found.total_us = f64::NAN,
        |found| found.files[0].path = "bin/a".to_owned(),
        |found| found.looked_up[0].path = "../x".to_owned(),
        |found| found.files[0].touched_us.truncate(1),
        |found| found.files[0].touched_us[0] = -1.0,
        |found| found.files[0].ranges[0] = FileRange::from((4096, 4096)),
        |found| found.files[0].ranges[0] = FileRange::from((16384, 4096)),
        |found| found.files[0].ranges[0] = FileRange::from((u64::MAX - 4095, 8192)),
    ];
    for (at, edit) in broken.into_iter().enumerate() {
        let mut found = sample();
        edit(&mut found);
        assert!(matches!(read(&write(&found)), Err(RecordingProblem::Damaged(_))), "{at}");
    }
}

proptest! {
    #[test]
    fn a_changed_byte_is_found(at in 0_usize..400, bit in 0_u32..8) {
        let mut bytes = write(&sample());
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        let changed = read(&bytes);
        prop_assert!(changed.is_err(), "{at}");
    }

    #[test]
    fn no_body_panics(body in proptest::collection::vec(any::<u8>(), 0..300)) {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        let body = [&0_u32.to_le_bytes()[..], &body].concat();
        bytes.extend(Sha256::digest(&body));
        bytes.extend(body);
        let _ = read(&bytes);
        bytes[44] = 200;
        let _ = samples(&bytes);
        prop_assert!(read(&bytes[..bytes.len() / 2]).is_err());
    }
}

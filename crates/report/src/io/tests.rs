//! Views of a launch whose reads are known, and of one whose page faults are.

use super::*;
use model::{ContentKind, Ending, FileOffset, FileRead, KindIo, OtherReads};

const STYLE: Style = Style { color: false, width: 110, unicode: true };

fn section(name: &str, bytes: Reading<u64>, major_faults: Option<u64>) -> SectionIo {
    let name = name.to_owned();
    SectionIo { name, kind: ContentKind::Relocations, bytes, major_faults }
}

fn only_root<T>() -> Reading<T> {
    Reading::unavailable("page faults do not tell", "be root")
}

fn report(source: IoSource) -> IoReport {
    let is_known = source == IoSource::BlockReads;
    let sum = |reads, bytes| match is_known {
        true => Reading::Value(ReadSum { reads, bytes }),
        false => only_root(),
    };
    let number = |value| if is_known { Reading::Value(value) } else { only_root() };
    let file = FileIo {
        path: "/lib/a,b.so".to_owned(),
        file_bytes: 64 << 10,
        read_ahead_kib: Reading::Value(128),
        reads: sum(2, 16 << 10),
        small_reads: sum(2, 16 << 10),
        distance_bytes: number(4096),
        read_us: if is_known { Reading::Value(300.0) } else { only_root() },
        major_faults: 3,
        unread_pages: number(0),
        sections: vec![section(".rela.dyn", number(16 << 10), (!is_known).then_some(3))],
    };
    let others = OtherReads {
        metadata: ReadSum { reads: 1, bytes: 4096 },
        files: vec![("/etc/passwd".to_owned(), ReadSum { reads: 1, bytes: 4096 })],
        unassigned: ReadSum::default(),
    };
    IoReport {
        schema: 1,
        headstart: "0".to_owned(),
        command: "program".to_owned(),
        ending: Ending::Code(0),
        is_cold: true,
        total_us: 2500.0,
        source,
        files_from: "files of a test".to_owned(),
        total: sum(4, 24 << 10),
        read_us: if is_known { Reading::Value(300.0) } else { only_root() },
        distance_bytes: number(4096),
        kernel_bytes: Reading::Value(24 << 10),
        resident_pages: Reading::Value(0),
        brought_pages: number(0),
        kinds: vec![KindIo {
            kind: ContentKind::Relocations,
            bytes: number(16 << 10),
            major_faults: (!is_known).then_some(3),
            share: 1.0,
        }],
        files: vec![file],
        others: if is_known { Reading::Value(others) } else { only_root() },
        sequence: None,
        advice: Vec::new(),
        notes: vec!["a note".to_owned()],
    }
}

fn sequence() -> Vec<ReadInSequence> {
    let read = |at_us, offset| FileRead {
        at_us,
        duration_us: Reading::Value(150.0),
        offset: FileOffset(offset),
        bytes: 8192,
    };
    let one = |at_us, offset, distance_bytes| ReadInSequence {
        file: 0,
        read: read(at_us, offset),
        distance_bytes,
        section: Some(".rela.dyn".to_owned()),
    };
    vec![one(100.0, 0, None), one(400.0, 12288, Some(4096))]
}

#[test]
fn sums_files_kinds_and_advice_are_shown() {
    let shown = view(&report(IoSource::BlockReads), &["do it".to_owned()], &STYLE, false);
    for part in [
        "A cold launch of 2.500 ms read 24.0 KiB in 4 reads, 6.0 KiB on average.",
        "  a,b.so                    2  16.0 KiB",
        "  other: passwd             1   4.0 KiB",
        "  file system metadata      1   4.0 KiB",
        "  all                       4  24.0 KiB",
        "  relocations  16.0 KiB  100.0 %\n",
        "  .rela.dyn  16.0 KiB\n",
        "- do it\n",
        "note: a note",
    ] {
        assert!(shown.contains(part), "{part:?} is not in\n{shown}");
    }
    assert!(!shown.contains("kernel itself"), "both counts are the same");
}

#[test]
fn every_read_is_a_line_of_the_table_and_of_the_csv() {
    let mut found = report(IoSource::BlockReads);
    found.sequence = Some(sequence());
    let shown = view(&found, &[], &STYLE, true);
    assert!(shown.contains("  a,b.so     2   0.40  0.15  12,288  8,192     4,096  .rela.dyn\n"));
    let csv = csv(&found, &sequence());
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[1], "1,\"/lib/a,b.so\",100.0,150.0,0,8192,,.rela.dyn");
    assert_eq!(lines[2], "2,\"/lib/a,b.so\",400.0,150.0,12288,8192,4096,.rela.dyn");
    assert_eq!(lines.len(), 3);
}

#[test]
fn page_faults_are_called_what_they_are() {
    let shown = view(&report(IoSource::MajorFaults), &[], &STYLE, false);
    for part in ["waited for input in 3 page faults on 1 file.", "counted 24.0 KiB of reads"] {
        assert!(shown.contains(part), "{part:?} is not in\n{shown}");
    }
    assert!(shown.contains("  relocations             3  100.0 %\n"), "{shown}");
    assert!(!shown.contains("bytes") && !shown.contains("metadata"), "{shown}");
}

#[test]
fn published_sums_are_in_a_table_of_their_own() {
    let shown = published(&PublishedOrder::openoffice(), &STYLE);
    for part in ["fwkmi.dll", "1,587,200", "28,928,000", "Windows XP"] {
        assert!(shown.contains(part), "{part:?} is not in\n{shown}");
    }
}

//! Sums of reads, by construction.

use super::*;
use model::{
    CacheState, ColdCheck, Ending, FileOffset, FileRead, IoAdvice, Mapping, MemoryChange,
    OtherReads, PageFault,
};

const PAGE: u64 = 4096;

fn read(at_us: f64, page: u64, pages: u64) -> FileRead {
    let offset = FileOffset(page * PAGE);
    FileRead { at_us, duration_us: Reading::Value(100.0), offset, bytes: pages * PAGE }
}

fn read_file(path: String, pages: u64, reads: Vec<FileRead>) -> ReadFile {
    let read_ahead_kib = Reading::Value(128);
    ReadFile { path, read_ahead_kib, major_faults: 1, pages, reads }
}

fn found(files: Vec<ReadFile>) -> FileReads {
    FileReads {
        total_us: 1e4,
        ending: Ending::Code(0),
        cold: ColdCheck {
            state: CacheState::ColdEvicted,
            files: 1,
            total_pages: 1,
            resident_pages: Reading::Value(0),
        },
        brought_pages: Reading::Value(0),
        major_faults: Reading::Value(1),
        files,
        others: OtherReads::default(),
        read_bytes: Reading::Value(0),
        lost: 0,
    }
}

#[test]
fn sections_sum_to_the_file_and_kinds_to_all_files() {
    let own = text::text(std::env::current_exe().unwrap());
    let plain = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(plain.path(), vec![1; 20 * PAGE as usize]).unwrap();
    let all = std::env::current_exe().unwrap().metadata().unwrap().len() / PAGE;
    let reads = vec![read(1.0, 0, 8), read(3.0, 20, 4), read(4.0, 12, all - 12)];
    let files = vec![
        read_file(text::text(plain.path()), 7, vec![read(2.0, 3, 5)]),
        read_file(own.clone(), all - 4 + 4, reads),
        read_file("/none".to_owned(), 0, Vec::new()),
    ];
    let (files, sequence) = by_file(&found(files), PAGE);
    assert_eq!(files.iter().map(|file| &file.path).collect::<Vec<_>>()[0], &own);
    assert_eq!(files.len(), 2, "a file that was not used is not listed");
    for file in &files {
        let sections: u64 = file.sections.iter().filter_map(|section| section.bytes.get()).sum();
        assert_eq!(sections, file.reads.get().unwrap().bytes, "{file:?}");
    }
    // 12 pages further, and back from page 24 to page 12.
    assert_eq!(files[0].distance_bytes.get(), Some((12 + 12) * PAGE));
    assert_eq!(files[1].unread_pages.get(), Some(2));
    assert_eq!(files[0].small_reads.get().unwrap(), ReadSum { reads: 1, bytes: 4 * PAGE });
    let times: Vec<f64> = sequence.iter().map(|read| read.read.at_us).collect();
    assert_eq!(times, [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(sequence[0].section.as_deref().map(|name| name == ".text"), Some(false));
    assert_eq!((sequence[1].section.as_ref(), sequence[1].distance_bytes), (None, None));
    let kinds = kinds(&files);
    let bytes: u64 = kinds.iter().filter_map(|kind| kind.bytes.get()).sum();
    let all: u64 = files.iter().map(|file| file.reads.get().unwrap().bytes).sum();
    assert_eq!(bytes, all);
    assert!((kinds.iter().map(|kind| kind.share).sum::<f64>() - 1.0).abs() < 1e-9);
    assert!(kinds.iter().any(|kind| kind.kind == ContentKind::Text));
}

#[test]
fn faults_are_given_to_the_file_that_was_mapped_last() {
    let own = text::text(std::env::current_exe().unwrap());
    let mapping = |start, file_offset, path: &str| {
        let (pid, at_us, bytes, executable) = (7, 1.0, 16 * PAGE, false);
        let path = path.to_owned();
        MemoryChange::Mapped(Mapping { pid, at_us, start, bytes, file_offset, executable, path })
    };
    let fault = |address, major| PageFault { pid: 7, at_us: 2.0, address, major };
    let faults = PageFaults {
        total_us: 10.0,
        pid: 7,
        source: String::new(),
        mappings: vec![
            mapping(0x10000, 0, "/old"),
            MemoryChange::Executed { pid: 7, at_us: 1.0 },
            mapping(0x10000, 0, &own),
            mapping(0x80000, 0, "//anon"),
        ],
        faults: vec![
            fault(0x10000, true),
            fault(0x11000, false),
            fault(0x80000, true),
            fault(0x90000 + 16 * PAGE, true),
        ],
        read_bytes_by_file: Reading::Value(Vec::new()),
        read_bytes: Reading::Value(0),
        lost: 0,
    };
    let files = by_fault(&faults, PAGE);
    assert_eq!((files.len(), files[0].path.as_str(), files[0].major_faults), (1, own.as_str(), 1));
    assert_eq!(files[0].sections[0].major_faults, Some(1));
    assert!(files[0].reads.value().is_none() && files[0].sections[0].bytes.value().is_none());
    assert_eq!(kinds(&files)[0].major_faults, Some(1));
}

#[test]
fn advice_follows_what_is_read() {
    let section = |name: &str, kind, bytes| SectionIo {
        name: name.to_owned(),
        kind,
        bytes: Reading::Value(bytes),
        major_faults: None,
    };
    let file = |path: &str, file_bytes, reads, small, sections| FileIo {
        path: path.to_owned(),
        file_bytes,
        read_ahead_kib: Reading::Value(128),
        reads: Reading::Value(reads),
        small_reads: Reading::Value(small),
        distance_bytes: Reading::Value(0),
        read_us: Reading::Value(1.0),
        major_faults: 0,
        unread_pages: Reading::Value(0),
        sections,
    };
    let sum = |reads, bytes| ReadSum { reads, bytes };
    let whole = file("/whole", 1 << 20, sum(20, 900 << 10), sum(0, 0), vec![]);
    let sections = vec![
        section(".rela.dyn", ContentKind::Relocations, 150 << 10),
        section(".relr.dyn", ContentKind::Relocations, 8 << 10),
    ];
    let apart = file("/apart", 8 << 20, sum(30, 600 << 10), sum(20, 100 << 10), sections);
    let few = file("/few", 1 << 20, sum(3, 12 << 10), sum(3, 12 << 10), vec![]);
    let found = advice(&[whole, apart, few]);
    assert_eq!(found.len(), 3, "{found:?}");
    let IoAdvice::Relocations { bytes, unpacked_bytes, path, .. } = &found[0] else { panic!() };
    assert_eq!((*bytes, *unpacked_bytes, path.as_str()), (158 << 10, 150 << 10, "/apart"));
    assert!(matches!(&found[1], IoAdvice::ReadWhole { path, .. } if path == "/whole"));
    assert!(matches!(&found[2], IoAdvice::Scattered { path, .. } if path == "/apart"));
    assert_eq!(advice(&[]), []);
}

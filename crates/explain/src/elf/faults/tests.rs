//! Tests of attributing page faults.

use super::*;
use model::{Command, Mapping, PageFault};

const BASE: u64 = 0x7f00_0000_0000;

fn mapping(pid: u32, at_us: f64, start: u64, pages: u64, path: &str) -> MemoryChange {
    let (bytes, path) = (pages * 4096, path.to_owned());
    let (file_offset, executable) = (0, true);
    Mapping { pid, at_us, start, bytes, file_offset, executable, path }.into()
}

/// What the record says of execve.
fn executed(pid: u32, at_us: f64) -> MemoryChange {
    MemoryChange::Executed { pid, at_us }
}

fn fault(pid: u32, at_us: f64, address: u64, major: bool) -> PageFault {
    PageFault { pid, at_us, address, major }
}

fn command() -> Command {
    let argv = vec!["p".into()];
    Command { argv, program: "/bin/p".into(), directory: None, environment: Vec::new() }
}

fn attribution(mappings: Vec<MemoryChange>, faults: Vec<PageFault>) -> Attribution {
    let mut inputs = Inputs::nothing(command(), "a test");
    inputs.real_paths.insert("/lib/l.so".into(), "/usr/lib/l.so.1".into());
    let record = PageFaults {
        total_us: 100.0,
        pid: 1,
        source: "a test".into(),
        mappings,
        faults,
        read_bytes_by_file: Reading::unavailable("", ""),
        read_bytes: Reading::unavailable("", ""),
        lost: 0,
    };
    attribute(&record, &inputs, &Bundled::default(), |us| {
        if us < 3.0 { Phase::Map } else { Phase::Main }
    })
}

fn minor(found: &Attribution, program: &str, file: &str) -> u64 {
    found.files.get(&(program.to_owned(), file.to_owned())).map_or(0, |faults| faults.minor)
}

#[test]
fn later_mappings_replace_earlier_ones() {
    let mappings = vec![
        mapping(1, 1.0, 0x1000, 4, "/bin/p"),
        mapping(1, 2.0, BASE, 10, "/lib/l.so"),
        mapping(1, 3.0, BASE + 0x4000, 2, "//anon"),
    ];
    let faults = vec![
        fault(1, 2.5, BASE + 0x4000, false),
        fault(1, 3.5, BASE + 0x4000, false),
        fault(1, 3.5, BASE + 0x5fff, false),
        fault(1, 3.5, BASE + 0x6000, true),
        fault(1, 3.5, BASE + 0xa000, false),
        fault(1, 3.5, 0x1000, false),
    ];
    let found = attribution(mappings, faults);
    assert_eq!(minor(&found, "/bin/p", "/usr/lib/l.so.1"), 1);
    assert_eq!(found.files[&("/bin/p".into(), "/usr/lib/l.so.1".into())].major, 1);
    assert_eq!(minor(&found, "/bin/p", "/bin/p"), 1);
    assert_eq!(found.anonymous, Faults { minor: 3, major: 0 });
    let of = |phase| &found.phases[&("/bin/p".to_owned(), phase)];
    assert_eq!((of(Phase::Map).minor, of(Phase::Map).anonymous), (1, 0));
    assert_eq!((of(Phase::Main).minor, of(Phase::Main).anonymous), (4, 3));
    let inputs = Inputs::nothing(command(), "a test");
    let others = found.others(&inputs, &Bundled::default());
    assert_eq!(others, [("/bin/p".to_owned(), 1), ("/usr/lib/l.so.1".to_owned(), 1)]);
}

#[test]
fn faults_on_a_bundle_are_those_of_the_library_at_their_place() {
    let place = |from, to| FileOffset(from)..FileOffset(to);
    let library = |path: &str, places| model::BundlePart {
        path: path.to_owned(),
        places,
        work: model::PartWork::default(),
    };
    // The file has its parts in another order than memory.
    let one = library("/lib/l.so", vec![place(0x9000, 0xa000), place(0x2000, 0x3000)]);
    let two = library("/lib/m.so", vec![place(0xa000, 0xc000)]);
    let mut inputs = Inputs::nothing(command(), "a test");
    inputs.real_paths.insert("/lib/l.so".into(), "/usr/lib/l.so.1".into());
    let contents =
        model::BundleContents { libraries: vec![one, two], ..model::BundleContents::default() };
    inputs.contents.insert("/bin/p".to_owned(), contents);
    let at = |start, file_offset, pages: u64| Mapping {
        pid: 1,
        at_us: 1.0,
        start,
        bytes: pages * 4096,
        file_offset,
        executable: true,
        path: "/bin/p".to_owned(),
    };
    let record = PageFaults {
        total_us: 100.0,
        pid: 1,
        source: "a test".into(),
        mappings: vec![
            at(0x1000, 0, 1).into(),
            at(BASE, 0x8000, 4).into(),
            // What begins inside leaves the rest in its place.
            mapping(1, 1.5, BASE + 0x1000, 1, "//anon"),
            at(0x4000, 0x2000, 1).into(),
        ],
        faults: [0x1000, 0x4000, BASE, BASE + 0x1000, BASE + 0x2000, BASE + 0x3fff]
            .map(|address| fault(1, 2.0, address, false))
            .to_vec(),
        read_bytes_by_file: Reading::unavailable("", ""),
        read_bytes: Reading::unavailable("", ""),
        lost: 0,
    };
    let bundled = Bundled::new(&inputs, &[]);
    let found = attribute(&record, &inputs, &bundled, |_| Phase::Main);
    assert_eq!(minor(&found, "/bin/p", "/bin/p"), 2);
    assert_eq!(minor(&found, "/bin/p", "/usr/lib/l.so.1"), 1);
    assert_eq!(minor(&found, "/bin/p", "/lib/m.so"), 2);
    assert_eq!(found.anonymous.minor, 1);
    let others = found.others(&inputs, &bundled);
    assert_eq!(others, [("/bin/p".to_owned(), 2)], "libraries are no other files");
}

#[test]
fn exec_empties_and_fork_inherits() {
    let mappings = vec![
        mapping(1, 1.0, 0x1000, 4, "/bin/sh"),
        mapping(1, 2.0, BASE, 4, "/lib/l.so"),
        mapping(2, 2.5, 0x1000, 4, "/bin/sh"),
        mapping(2, 2.5, BASE, 4, "/lib/l.so"),
        executed(1, 4.0),
        mapping(1, 5.0, 0x9000, 4, "/bin/p"),
    ];
    let faults =
        vec![fault(2, 3.0, BASE, false), fault(1, 6.0, BASE, false), fault(1, 6.0, 0x9000, false)];
    let found = attribution(mappings, faults);
    assert_eq!(minor(&found, "/bin/sh", "/usr/lib/l.so.1"), 1);
    assert_eq!(minor(&found, "/bin/p", "/bin/p"), 1);
    assert_eq!(found.anonymous.minor, 1);
}

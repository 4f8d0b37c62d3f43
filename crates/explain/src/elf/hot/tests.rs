//! From samples to functions, on records made by hand and one real file.

use super::*;
use model::{CodeSample, Mapping, MemoryChange};

const NOWHERE: &str = "/nowhere";

fn mapping(pid: u32, at_us: f64, start: u64, path: &str) -> Mapping {
    let (bytes, path) = (0x1000, path.to_owned());
    Mapping { pid, at_us, start, bytes, file_offset: 0x2000, executable: true, path }
}

fn mapped(pid: u32, at_us: f64, start: u64, path: &str) -> MemoryChange {
    mapping(pid, at_us, start, path).into()
}

fn sample(pid: u32, at_us: f64, address: u64) -> CodeSample {
    CodeSample { pid, at_us, address, kernel: address > u64::MAX / 2 }
}

fn launch(mappings: Vec<MemoryChange>, samples: Vec<CodeSample>) -> LaunchSamples {
    LaunchSamples {
        total_us: 100.0,
        pid: 1,
        frequency_hz: 20_000,
        with_kernel: true,
        samples,
        mappings,
        lost: 0,
    }
}

fn sampled(launch: &LaunchSamples, ready_us: Option<f64>) -> Sampled {
    let mut sampled = Sampled::default();
    sampled.add(launch, ready_us);
    sampled
}

fn hidden() -> Reading<KernelSymbols> {
    Reading::unavailable("hidden", "do")
}

#[test]
fn samples_belong_to_what_is_mapped_at_their_time() {
    let mut data = mapping(1, 3.0, 0x5000, "/data");
    data.executable = false;
    let mappings = vec![
        mapped(1, 1.0, 0x5000, "/old"),
        mapped(1, 2.0, 0x5000, "/new"),
        data.into(),
        mapped(2, 4.0, 0x5000, "/other"),
        mapped(2, 5.0, 0x9000, "//anon"),
        MemoryChange::Executed { pid: 1, at_us: 20.0 },
    ];
    let samples = vec![
        sample(1, 1.5, 0x5010),
        sample(1, 4.0, 0x5010),
        sample(1, 4.5, 0x5fff),
        sample(1, 4.6, 0x6000),
        sample(2, 6.0, 0x5010),
        sample(2, 7.0, 0x9000),
        sample(1, 8.0, u64::MAX - 8),
        sample(1, 21.0, 0x5010),
    ];
    let sampled = sampled(&launch(mappings, samples), None);
    let file = |path: &str| -> Vec<(u64, u64)> {
        sampled.tally.files[path].iter().map(|(offset, count)| (*offset, *count)).collect()
    };
    assert_eq!(file("/old"), [(0x2010, 1)]);
    assert_eq!(file("/new"), [(0x2010, 1), (0x2fff, 1)], "behind data that holds no code");
    assert_eq!(file("/other"), [(0x2010, 1)]);
    let memory: Vec<(&str, u64)> =
        sampled.tally.memory.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(memory, [("//anon", 1), ("[unknown]", 2)], "execve unmapped the last one's");
    assert_eq!(sampled.tally.kernel.len(), 1);
    assert_eq!(sampled.samples(), 8);
}

#[test]
fn what_comes_after_the_ready_moment_does_not_count() {
    let samples = (0..10).map(|at| sample(1, f64::from(at), 0x5000)).collect();
    let launch = launch(vec![mapped(1, 0.0, 0x5000, "/x")], samples);
    assert_eq!(sampled(&launch, Some(4.0)).samples(), 4);
}

#[test]
fn what_cannot_be_named_keeps_its_share_and_says_why() {
    let samples = vec![sample(1, 1.0, 0x5000), sample(1, 2.0, u64::MAX - 8), sample(1, 3.0, 7)];
    let mut launch = launch(vec![mapped(1, 0.0, 0x5000, "/no/such/file")], samples);
    launch.lost = 2;
    let hot = sampled(&launch, None).finish(&hidden(), Path::new(NOWHERE));
    let modules: Vec<&str> = hot.functions.iter().map(|f| f.module.as_str()).collect();
    assert_eq!(modules, ["/no/such/file", "[kernel]", "[unknown]"]);
    assert!(hot.functions.iter().all(|f| f.function == "[no symbols]" && f.samples == 1));
    assert!(hot.functions.iter().all(|f| f.kernel == (f.module == "[kernel]")));
    let notes = hot.notes.join("\n");
    for words in ["only 3 samples", "hidden; do", "2 records were lost", "/no/such/file"] {
        assert!(notes.contains(words), "{words}: {notes}");
    }
    assert!(hot.hottest.reason().is_some());
}

#[test]
fn code_of_other_processors_is_named_but_not_disassembled() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testfiles/elf");
    let path = format!("{folder}/aarch64.so");
    let facts = image::elf::facts(Path::new(&path)).unwrap();
    assert_eq!(facts.machine, "aarch64");
    let bytes = std::fs::metadata(&path).unwrap().len();
    let mut whole = mapping(1, 0.0, 0x10_0000, &path);
    (whole.bytes, whole.file_offset) = (bytes, 0);
    let samples = (0..bytes).step_by(4).map(|at| sample(1, 1.0, 0x10_0000 + at)).collect();
    let hot =
        sampled(&launch(vec![whole.into()], samples), None).finish(&hidden(), Path::new(NOWHERE));
    assert!(hot.functions.iter().any(|f| f.function != "[no symbols]"), "{hot:?}");
    assert!(hot.hottest.reason().unwrap().contains("x86"), "{hot:?}");
}

#[test]
fn nothing_sampled_is_said() {
    let hot = Sampled::default().finish(&hidden(), Path::new(NOWHERE));
    assert!(hot.functions.is_empty() && hot.samples == 0);
    assert!(hot.notes[0].contains("only 0 samples"));
    assert!(hot.hottest.reason().is_some());
}

//! Damaged programs and libraries: a bundle or a reason, without a panic, an endless loop, or
//! memory and files out of proportion.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

use bundle::{BundleError, BundleOptions, RUN};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const LIBRARY: &str = "#include <stdio.h>\n\
    static __thread int count = 3; int shared = 5; static int *where = &shared;\n\
    __attribute__((constructor)) static void begin(void) { *where += count; }\n\
    int answer(void) { return *where; }";
const PROGRAM: &str = "#include <stdio.h>\nextern int shared; int answer(void);\n\
    static const char *volatile words[] = {\"is\", \"was\"};\n\
    int main(void) { return printf(\"%s %d %d\\n\", words[0], answer(), shared) < 0; }";

/// Numbers at which sums and sizes go wrong.
const HOSTILE: [u64; 16] = [
    u64::MAX,
    u64::MAX - 7,
    u64::MAX - 4095,
    1 << 63,
    (1 << 63) - 8,
    0xffff_8000_0000_0000,
    1 << 47,
    0x7fff_ffff_f000,
    1 << 40,
    1 << 32,
    (1 << 32) - 1,
    1 << 31,
    0x7000_0000,
    0x10_0001,
    1,
    0,
];
const ROUNDS: u64 = 700;
/// A case takes milliseconds.
const LONGEST: Duration = Duration::from_secs(10);
/// The whole program's memory at its largest.
const MOST_KIB: u64 = 1 << 20;
/// A bundle of some hundred KiB, with whole huge pages between its parts.
const LARGEST: u64 = 64 << 20;

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// In memory where that is, as thousands of files are synchronized.
    fn new() -> Place {
        let memory = Path::new("/dev/shm");
        let folder =
            if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        Place { folder: folder.unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn build(&self) -> Option<[Vec<u8>; 2]> {
        let cc = testkit::tool("cc")?;
        let folder = self.folder.path();
        testkit::compile(&cc, folder, "libone.so", LIBRARY, &["-shared", "-fPIC", "-O1"]);
        let near = ["-L.", "-lone", "-Wl,-rpath,$ORIGIN", "-pie", "-fPIE", "-O1"];
        testkit::compile(&cc, folder, "program", PROGRAM, &near);
        Some(["program", "libone.so"].map(|name| fs::read(self.path(name)).unwrap()))
    }

    /// What came of these bytes; the fault, if there is one.
    fn attempt(&self, [program, library]: [&[u8]; 2], fixed: bool) -> Result<bool, String> {
        for (name, bytes) in [("program", program), ("libone.so", library)] {
            // A file of its own: mappings of the one before stay whole.
            let path = self.path(name);
            let _ = fs::remove_file(&path);
            fs::write(&path, bytes).unwrap();
        }
        let out = self.path("out");
        let _ = fs::remove_dir_all(&out);
        fs::create_dir(&out).unwrap();
        let options = BundleOptions { fixed, ..BundleOptions::default() };
        let started = Instant::now();
        let made =
            catch_unwind(AssertUnwindSafe(|| bundle::make(&self.path("program"), &out, &options)));
        if started.elapsed() > LONGEST {
            return Err(format!("took {:?}", started.elapsed()));
        }
        match made {
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let fixed = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
                Err(text.or(fixed).unwrap_or_default())
            }
            Ok(Ok(made)) if made.figures.bytes > LARGEST => {
                Err(format!("{} bytes", made.figures.bytes))
            }
            Ok(Ok(_)) => Ok(true),
            Ok(Err(error)) => self.refused(&out, &error).map(|()| false),
        }
    }

    fn refused(&self, out: &Path, error: &BundleError) -> Result<(), String> {
        let left: Vec<_> = fs::read_dir(out).unwrap().map(|entry| entry.unwrap().path()).collect();
        let said = error.to_string();
        if !left.is_empty() || out.join(RUN).exists() {
            return Err(format!("{left:?} was left with: {said}"));
        }
        // Running out of space is no answer to a file of some KiB.
        let large = ["too large", "No space left", "annot allocate"];
        if said.is_empty() || large.iter().any(|text| said.contains(text)) {
            return Err(format!("said: {said}"));
        }
        Ok(())
    }
}

/// Numbers that are the same at every run (Knuth's MMIX).
struct Chance(u64);

impl Chance {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % below.max(1)
    }
}

/// Ranges of a file's bytes that say something of the rest: its headers, and the parts that the
/// program headers name besides code.
fn telling(bytes: &[u8]) -> Vec<(usize, usize)> {
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let headers = u16::from_le_bytes(bytes[56..58].try_into().unwrap()) as usize;
    let mut ranges = vec![(16, 64), (64, 64 + 56 * headers)];
    for at in (0..headers).map(|index| 64 + 56 * index) {
        let kind = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let flags = u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap());
        if kind != 1 || flags & 1 == 0 {
            ranges.push((word(at + 8), word(at + 8) + word(at + 32)));
        }
    }
    ranges.retain(|&(start, end)| start < end && end <= bytes.len());
    ranges
}

fn damage(bytes: &mut [u8], ranges: &[(usize, usize)], chance: &mut Chance) {
    for _ in 0..=chance.next(2) {
        let (start, end) = ranges[chance.next(ranges.len() as u64) as usize];
        let at = start + chance.next((end - start) as u64) as usize;
        match chance.next(4) {
            0 => bytes[at] ^= 1 << chance.next(8),
            // A field of four bytes.
            1 => {
                let at = at & !3;
                let value = HOSTILE[chance.next(16) as usize] as u32;
                bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            }
            _ => {
                let at = (at & !7).min(bytes.len() - 8);
                let value = HOSTILE[chance.next(16) as usize];
                bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
            }
        }
    }
}

fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn damaged_files_give_a_bundle_or_a_reason() {
    let place = Place::new();
    let Some([program, library]) = place.build() else { return };
    let mut faults = Vec::new();
    let mut made = 0;
    let mut look = |what: String, found: Result<bool, String>| match found {
        Ok(done) => made += u64::from(done),
        Err(fault) => faults.push(format!("{what}: {fault}")),
    };
    look("whole".to_owned(), place.attempt([&program, &library], false));
    look("whole, fixed".to_owned(), place.attempt([&program, &library], true));
    let ranges = [telling(&program), telling(&library)];
    for round in 0..ROUNDS {
        let mut chance = Chance(round);
        let mut files = [program.clone(), library.clone()];
        let one = round as usize % 2;
        damage(&mut files[one], &ranges[one], &mut chance);
        let found = place.attempt([&files[0], &files[1]], round % 4 >= 2);
        look(format!("round {round}"), found);
    }
    for length in (0..program.len()).step_by(program.len() / 60) {
        look(format!("program of {length}"), place.attempt([&program[..length], &library], false));
    }
    for length in (0..library.len()).step_by(library.len() / 60) {
        look(format!("library of {length}"), place.attempt([&program, &library[..length]], true));
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert!(made > 10 && made < ROUNDS, "{made}");
    assert!(peak_kib() < MOST_KIB, "{} KiB", peak_kib());
}

/// Each field of each program header, and each value of the dynamic table, with each hostile
/// number.
#[test]
fn every_field_with_every_hostile_number() {
    let place = Place::new();
    let Some([program, library]) = place.build() else { return };
    let mut faults = Vec::new();
    let whole = [&program, &library];
    for one in 0..2 {
        let bytes = whole[one];
        let headers = u16::from_le_bytes(bytes[56..58].try_into().unwrap()) as usize;
        let segments = (0..headers * 7).map(|field| 64 + 8 * field);
        let dynamic = telling_dynamic(bytes);
        for (index, at) in segments.chain(dynamic).enumerate() {
            // Two of the numbers a field; all of them come to each kind of field.
            for number in [index % 16, (index + 7) % 16] {
                let mut changed = bytes.clone();
                changed[at..at + 8].copy_from_slice(&HOSTILE[number].to_le_bytes());
                let mut files = [program.as_slice(), library.as_slice()];
                files[one] = &changed;
                let fixed = (index + number) % 2 == 1;
                if let Err(fault) = place.attempt(files, fixed) {
                    let number = HOSTILE[number];
                    faults.push(format!("{one} at {at}, {number:#x}, fixed {fixed}: {fault}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// Where the values of the dynamic table are.
fn telling_dynamic(bytes: &[u8]) -> Vec<usize> {
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let headers = u16::from_le_bytes(bytes[56..58].try_into().unwrap()) as usize;
    let mut places = (0..headers).map(|index| 64 + 56 * index);
    let at = places.find(|&at| bytes[at..at + 4] == 2_u32.to_le_bytes()).unwrap();
    let (start, size) = (word(at + 8), word(at + 32));
    (start + 8..start + size).step_by(16).collect()
}

//! Look-ups in caches: against `ldconfig -p`, against the loader with another cache in place of the
//! system's, and in damaged ones.
#![allow(clippy::unwrap_used)]

mod search_oracle;

use loader::search::{Cache, SearchError, Searcher};
use search_oracle::{Case, both, both_fail, can_replace, in_namespace, library, program};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where Debian has it; not along everyone's PATH.
const LDCONFIG: &str = "/sbin/ldconfig";

fn ldconfig() -> bool {
    let there = Path::new(LDCONFIG).exists();
    if !there {
        testkit::skip("needs ldconfig: apt-get install libc-bin");
    }
    there
}

#[test]
fn every_name_of_the_systems_cache_has_the_path_that_ldconfig_tells() {
    if !ldconfig() {
        return;
    }
    let output = Command::new(LDCONFIG).arg("-p").output().unwrap();
    let listing = String::from_utf8_lossy(&output.stdout);
    let mut first = BTreeMap::new();
    for line in listing.lines().filter(|line| line.contains("(libc6,x86-64")) {
        let (name, rest) = line.trim().split_once(" (libc6,x86-64").unwrap();
        // Entries for special processors are the subject of other tests.
        let path = rest.strip_prefix(") => ").map(PathBuf::from);
        first.entry(name).or_insert(path);
    }
    let searcher = Searcher::new("x86_64", None).unwrap();
    let mut compared = 0;
    for (name, path) in first {
        if let Some(path) = path {
            assert_eq!(searcher.cached(name), Some(path), "{name}");
            compared += 1;
        }
    }
    assert!(compared > 0, "{listing}");
    assert_eq!(searcher.cached("libno-such-thing.so.1"), None);
    assert_eq!(searcher.cached(""), None);
}

#[test]
fn the_best_subfolder_of_the_cache_is_taken() {
    let Some(cc) = testkit::tool("cc") else { return };
    if !ldconfig() || !can_replace() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let libs = root.path().join("libs");
    let places = ["glibc-hwcaps/x86-64-v4", "glibc-hwcaps/x86-64-v3", "glibc-hwcaps/x86-64-v2"];
    let more = ["glibc-hwcaps/x86-64-v9", "tls", "x86_64", "haswell", "xeon_phi", "tls/x86_64"];
    std::fs::create_dir_all(&libs).unwrap();
    let made = library(&cc, &libs, "libx.so", &["-Wl,-soname,libx.so"]);
    for place in places.iter().chain(&more) {
        std::fs::create_dir_all(libs.join(place)).unwrap();
        std::fs::copy(&made, libs.join(place).join("libx.so")).unwrap();
    }
    let main = program(&cc, root.path(), &["-Llibs", "-lx"]);
    let mut winners = Vec::new();
    loop {
        let cache = build_cache(root.path());
        let case = Case { cache: Some(&cache), ..Case::of(&main) };
        let attempts = both(&case);
        let winner = attempts[0].1.clone();
        // With the winner gone the cache is out of date, and nothing else of it is tried.
        std::fs::remove_file(&winner).unwrap();
        let (error, words, _) = both_fail(&case);
        assert!(matches!(error, SearchError::NotFound { .. }), "{error}\n{words}");
        winners.push(winner.clone());
        if winner == made {
            break;
        }
    }
    assert!(winners.len() >= 3, "{winners:?}");
    assert!(!winners.contains(&libs.join("glibc-hwcaps/x86-64-v9/libx.so")), "{winners:?}");
}

/// The cache that ldconfig makes for `root/libs`; the system's stay as they are.
fn build_cache(root: &Path) -> PathBuf {
    let (cache, configuration, aside) = (root.join("cache"), root.join("conf"), root.join("aside"));
    std::fs::write(&configuration, format!("{}\n", root.join("libs").display())).unwrap();
    std::fs::create_dir_all(&aside).unwrap();
    let mut command = in_namespace(&[(&aside, Path::new("/var/cache/ldconfig"))]);
    command.args([LDCONFIG, "-X", "-C"]).arg(&cache).arg("-f").arg(&configuration);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    cache
}

/// An entry: name, path, flags, hwcap.
type Entry<'a> = (&'a str, &'a str, u32, u64);

const OURS: u32 = 0x0303;

/// A cache of the new format whose header begins at `start` of its file; entries sorted by the
/// caller, the last name first.
fn new_format(entries: &[Entry<'_>], subfolders: &[&str], start: usize) -> Vec<u8> {
    let mut strings = Vec::new();
    let base = 48 + 24 * entries.len();
    let mut add = |text: &str| {
        strings.extend(text.bytes().chain([0]));
        u32::try_from(base + strings.len() - text.len() - 1).unwrap()
    };
    let mut table = Vec::new();
    for (name, path, flags, hwcap) in entries {
        let words = [*flags, add(name), add(path), 0].map(u32::to_le_bytes).concat();
        table.extend(words.into_iter().chain(hwcap.to_le_bytes()));
    }
    // Names of subfolders count from the beginning of the file.
    let first = u32::try_from(start).unwrap();
    let names: Vec<u32> = subfolders.iter().map(|name| first + add(name)).collect();
    while !(base + strings.len()).is_multiple_of(4) {
        strings.push(0);
    }
    let extension = u32::try_from(start + base + strings.len()).unwrap();
    let mut bytes = b"glibc-ld.so.cache1.1".to_vec();
    let counts = [entries.len(), strings.len(), 2].map(|n| u32::try_from(n).unwrap());
    bytes.extend(counts.iter().chain(&[extension, 0, 0, 0]).flat_map(|word| word.to_le_bytes()));
    bytes.extend(table.into_iter().chain(strings));
    let size = u32::try_from(4 * names.len()).unwrap();
    let sections = [0xeaa4_2174, 1, 1, 0, extension + 24, size];
    bytes.extend(sections.iter().chain(&names).flat_map(|word: &u32| word.to_le_bytes()));
    bytes
}

/// The same in the format of libc5, without hwcap.
fn old_format(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut bytes = b"ld.so-1.7.0\0".to_vec();
    bytes.extend(u32::try_from(entries.len()).unwrap().to_le_bytes());
    let mut strings = Vec::new();
    for (name, path, flags, _) in entries {
        let offset = u32::try_from(strings.len()).unwrap();
        strings.extend(name.bytes().chain([0]).chain(path.bytes()).chain([0]));
        let end = u32::try_from(name.len() + 1).unwrap();
        bytes.extend([*flags, offset, offset + end].into_iter().flat_map(u32::to_le_bytes));
    }
    bytes.extend(strings);
    bytes
}

/// The old format with the new one where its strings begin, as ldconfig wrote it before 2.32.
fn both_formats(entries: &[Entry<'_>]) -> Vec<u8> {
    let table = 16 + 12 * entries.len();
    let start = table.next_multiple_of(8);
    let mut bytes = old_format(entries);
    bytes.truncate(table);
    bytes.resize(start, 0);
    bytes.extend(new_format(entries, &[], start));
    bytes
}

#[test]
fn every_format_is_read_as_the_loader_reads_it() {
    let Some(cc) = testkit::tool("cc") else { return };
    if !can_replace() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let made = library(&cc, root.path(), "libx10.so.2", &["-Wl,-soname,libx10.so.2"]);
    let path = made.display().to_string();
    let main = program(
        &cc,
        root.path(),
        &[
            "-L.",
            "-l:libx10.so.2",
            "-Wl,-z,nodefaultlib",
            "-nodefaultlibs",
            "-nostartfiles",
            "-Wl,-e,main",
        ],
    );
    let entries = [
        ("libx10.so.10", "/nowhere/1", OURS, 0),
        ("libx10.so.2", "/nowhere/2", 3, 0),
        ("libx10.so.2", path.as_str(), OURS, 0),
        ("libx9.so.2", "/nowhere/3", OURS, 0),
        ("libx.so.2", "/nowhere/4", OURS, 0),
    ];
    let mut other_endian = new_format(&entries, &[], 0);
    other_endian[28] = 3;
    let mut too_many = new_format(&entries, &[], 0);
    too_many[20..24].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
    let caches = [
        ("new", new_format(&entries, &[], 0), true),
        ("old", old_format(&entries), true),
        ("both", both_formats(&entries), true),
        ("another endianness", other_endian, false),
        ("more entries than bytes", too_many, false),
        ("no cache", b"no cache at all, but long enough for a header of a cache".to_vec(), false),
        ("empty", Vec::new(), false),
    ];
    let cache = root.path().join("cache");
    for (what, bytes, found) in caches {
        std::fs::write(&cache, bytes).unwrap();
        let case = Case { cache: Some(&cache), ..Case::of(&main) };
        let tried =
            if found { search_oracle::simulate(&case).attempts } else { both_fail(&case).2 };
        let real = search_oracle::launch(&case).1;
        assert_eq!(tried, real, "{what}");
        assert_eq!(tried.iter().any(|(_, path)| *path == made), found, "{what}: {tried:?}");
    }
}

#[test]
fn damaged_caches_give_nothing_worse_than_no_path() {
    let named = |level: u64, index: u64| (1 << 62) | (level << 32) | index;
    let entries = [
        ("liba10.so", "/best/liba10.so", OURS, named(1, 0)),
        ("liba10.so", "/some/liba10.so", OURS, 0),
        ("liba2.so", "/some/liba2.so", OURS, 1 << 63),
        ("lib.so", "/some/lib.so", OURS, 0),
    ];
    for good in
        [new_format(&entries, &["x86-64-v2"], 0), old_format(&entries), both_formats(&entries)]
    {
        let look_up = |bytes: &[u8]| {
            let searcher = Searcher::new("x86_64", None).unwrap();
            let searcher = searcher.with_cache(Cache::from_bytes(bytes.to_vec()));
            ["liba10.so", "liba2.so", "lib.so"].map(|name| searcher.cached(name))
        };
        assert!(look_up(&good).iter().all(Option::is_some));
        for end in 0..good.len() {
            look_up(&good[..end]);
        }
        for at in 0..good.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut bytes = good.clone();
                bytes[at] = value;
                look_up(&bytes);
                bytes[at..good.len().min(at + 4)].fill(value);
                look_up(&bytes);
            }
        }
    }
}

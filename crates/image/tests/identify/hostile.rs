//! Damaged files: an answer, never a panic, never more than 64 KiB, and no "no" that was not read.

use super::made::{AMD64, I386, Pe};
use image::identify::{BUDGET_BYTES, identify_bytes};
use model::{FileKind, Identity, Role};
use proptest::prelude::*;
use std::path::Path;

fn look(bytes: &[u8]) -> Identity {
    let identity = identify_bytes(bytes);
    assert!(identity.bytes_read <= BUDGET_BYTES);
    assert!(!identity.detail.is_empty() || identity.kind == FileKind::Unreadable);
    identity
}

fn testfile(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testfiles/elf").join(name))
        .unwrap()
}

fn cygwin(machine: u16) -> Vec<u8> {
    let pe = Pe::new(machine).importing(&["KERNEL32.dll", "ntdll.dll", "cygwin1.dll"], 700);
    pe.named("a.dll").bytes()
}

#[test]
fn a_pe_file_cut_anywhere_denies_nothing() {
    for machine in [I386, AMD64] {
        let bytes = cygwin(machine);
        assert_eq!(look(&bytes).runtimes.len(), 1);
        for length in 0..bytes.len() {
            let found = look(&bytes[..length]);
            let cut = found.detail.contains("cut short") || found.unknown.is_some();
            let known = found.kind != FileKind::Pe || !found.runtimes.is_empty();
            assert!(cut || known, "{length}: {found:?}");
        }
    }
}

#[test]
fn an_elf_file_cut_anywhere_says_what_it_knows() {
    for (name, role) in
        [("pie", Role::Pie), ("versions.so", Role::Library), ("static", Role::Static)]
    {
        let bytes = testfile(name);
        assert_eq!(look(&bytes).role, Some(role), "{name}");
        for length in 4..bytes.len() {
            let found = look(&bytes[..length]);
            assert_eq!(found.kind, FileKind::Elf);
            let said = found.unknown.is_some() || found.detail.contains("cut short");
            assert!(found.role == Some(role) || (found.role.is_none() && said), "{found:?}");
        }
    }
}

#[test]
fn counts_that_are_too_large_end_the_reading() {
    let mut pe = Pe::new(AMD64).bytes();
    for at in [0x86, 0x94] {
        pe[at..at + 2].fill(0xff);
    }
    pe.resize(5_000_000, 0xff);
    let found = look(&pe);
    assert!(found.unknown.is_some_and(|unknown| unknown.contains("64 KiB")));
    let mut elf = testfile("versions.so");
    elf.resize(5_000_000, 0xff);
    // e_phentsize and e_phnum.
    for (size, count) in [(0xff_u8, 0xfe_u8), (0, 0xff), (1, 0xff), (56, 0xff)] {
        elf[54..56].fill(size);
        elf[56..58].fill(count);
        look(&elf);
    }
}

/// The system refuses to read there, which says nothing about the file.
#[test]
fn places_that_no_file_has_are_no_failure_to_read() {
    let mut bytes = testfile("versions.so");
    bytes.resize(8192, 0);
    let segments = u64::from_le_bytes(bytes[32..40].try_into().unwrap()) as usize;
    for index in 0..usize::from(bytes[56]) {
        let offset = segments + 56 * index + 8;
        bytes[offset..offset + 8].fill(0xfe);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("far");
    std::fs::write(&path, bytes).unwrap();
    let found = image::identify::identify(&path).unwrap();
    assert_eq!((found.kind, found.role), (FileKind::Elf, None));
    assert!(found.unknown.is_some_and(|unknown| unknown.contains("outside the file")));
}

#[test]
fn descriptors_without_an_end_are_left() {
    let mut pe = Pe::new(AMD64);
    pe.directory(1, &[0x11; 200_000]);
    let found = look(&pe.bytes());
    assert!(found.unknown.is_some_and(|unknown| unknown.contains("beyond 64 KiB")));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_have_an_answer(
        magic in 0..14_usize,
        bytes in prop::collection::vec(any::<u8>(), 0..5000),
    ) {
        let magics: [&[u8]; 14] = [
            b"", b"MZ", b"\x7fELF", b"#!", b"!<arch>\n", b"PK\x03\x04", b"\xca\xfe\xba\xbe",
            b"\xcf\xfa\xed\xfe", b"\0asm", b"BC\xc0\xde", b"\x64\x86", b"\0\0\xff\xff",
            b"\xef\xbb\xbf#!", b"\xca\xfe\xba\xbf",
        ];
        look(&[magics[magic], &bytes].concat());
    }

    #[test]
    fn damage_is_survived(
        file in 0..4_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..30),
        words in prop::collection::vec((any::<prop::sample::Index>(), any::<u32>()), 0..6),
        padding in 0..100_000_usize,
        cut in any::<Option<prop::sample::Index>>(),
    ) {
        let mut bytes = match file {
            0 => cygwin(I386),
            1 => cygwin(AMD64),
            2 => testfile("versions.so"),
            _ => testfile("pie"),
        };
        for (index, value) in changes {
            let at = index.index(bytes.len());
            bytes[at] = value;
        }
        for (index, value) in words {
            // Headers are at the start: damage there goes furthest.
            let at = index.index(700) / 4 * 4;
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        bytes.resize(bytes.len() + padding, 0x41);
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        look(&bytes);
    }
}

//! ELF files that compilers seldom make: cores, very many segments, other loaders, other types.

use image::identify::identify_bytes;
use model::{FileKind, Identity, Role};
use std::path::Path;

fn pie() -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testfiles/elf/pie")).unwrap()
}

fn with_type(number: u8) -> Identity {
    let mut bytes = pie();
    bytes[16] = number;
    identify_bytes(&bytes)
}

#[test]
fn types_of_files() {
    assert_eq!((with_type(1).role, with_type(4).role), (Some(Role::Object), Some(Role::Core)));
    assert_eq!((with_type(2).role, with_type(3).role), (Some(Role::Executable), Some(Role::Pie)));
    let odd = with_type(77);
    assert_eq!((odd.kind, odd.role), (FileKind::Elf, None));
    assert!(odd.detail.starts_with("image of unknown type, "), "{}", odd.detail);
    let mut damaged = pie();
    damaged[4] = 9;
    assert_eq!(identify_bytes(&damaged).detail, "damaged, or cut short within its header");
}

/// PN_XNUM: the first section header has the number of program headers.
#[test]
fn very_many_segments_are_counted_elsewhere() {
    let mut bytes = pie();
    let sections = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
    assert!(sections > 0);
    let count = u32::from(u16::from_le_bytes([bytes[56], bytes[57]]));
    bytes[56..58].fill(0xff);
    bytes[sections + 44..sections + 48].copy_from_slice(&count.to_le_bytes());
    assert_eq!(identify_bytes(&bytes).role, Some(Role::Pie));
    bytes[sections + 44..sections + 48].fill(0xff);
    let found = identify_bytes(&bytes);
    assert_eq!(found.role, None);
    assert!(found.unknown.is_some_and(|unknown| unknown.contains("beyond 64 KiB")));
}

#[test]
fn a_loader_other_than_glibcs_is_named() {
    let mut bytes = pie();
    let usual = b"/lib64/ld-linux-x86-64.so.2";
    let at = bytes.windows(usual.len()).position(|window| window == usual).unwrap();
    assert_eq!(identify_bytes(&bytes).detail, "PIE, x86_64");
    let other = b"/lib/ld-musl-x86_64.so.1\0\0\0";
    bytes[at..at + other.len()].copy_from_slice(other);
    let found = identify_bytes(&bytes);
    assert_eq!(found.detail, "PIE, x86_64, loader /lib/ld-musl-x86_64.so.1");
    assert_eq!(found.interpreter.as_deref(), Some("/lib/ld-musl-x86_64.so.1"));
}

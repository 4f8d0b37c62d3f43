//! Signed files, signed by osslsigncode.
#![allow(clippy::unwrap_used)]

mod common;

use common::{library, output, signed};
use dlls::signature;
use image::pe::edit::{KeepChecksum, PeDraft};
use image::pe::{Pe, spec};
use std::fs;
use workload::Arch;

const DIRECTORY: usize = 64 + 24 + 112 + spec::SECURITY * 8;

fn settle(bytes: &[u8], strip: bool) -> Result<(bool, Vec<u8>), String> {
    let mut draft = PeDraft::of(&Pe::parse("x.dll", bytes).unwrap());
    let stripped = signature::settle(&mut draft, "x.dll", strip).map_err(|no| no.to_string())?;
    Ok((stripped.authenticode, draft.finish(KeepChecksum::AsItWas)))
}

#[test]
fn a_signature_is_refused_or_removed_as_osslsigncode_removes_it() {
    let Some(openssl) = testkit::tool("openssl") else { return };
    let Some(osslsigncode) = testkit::tool("osslsigncode") else { return };
    let Some(readobj) = testkit::tool("llvm-readobj-19") else { return };
    for arch in [Arch::X86_64, Arch::I686] {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("plain.dll"), library(arch)).unwrap();
        let with = signed(&openssl, &osslsigncode, &at("plain.dll"));
        let bytes = fs::read(&with).unwrap();
        let refused = settle(&bytes, false).unwrap_err();
        assert!(refused.contains("it is signed (Authenticode)"), "{refused}");

        let (stripped, ours) = settle(&bytes, true).unwrap();
        assert!(stripped);
        fs::write(at("ours.dll"), &ours).unwrap();
        let (input, out) = (with.display().to_string(), at("theirs.dll").display().to_string());
        output(&osslsigncode, &["remove-signature", "-in", &input, "-out", &out]);
        assert!(fs::read(out).unwrap() == ours, "{arch:?}");
        // The same but for the fill in front of the signature: it was signed with a right checksum.
        let plain = library(arch);
        let computed = Pe::parse("", &ours).unwrap();
        assert_eq!(computed.headers().checksum, computed.computed_checksum());
        assert_eq!(ours.len(), plain.len().next_multiple_of(8));

        let headers = output(&readobj, &["--file-headers", at("ours.dll").to_str().unwrap()]);
        assert!(headers.contains("CertificateTableRVA: 0x0"), "{headers}");
        assert!(headers.contains("CertificateTableSize: 0x0"), "{headers}");
        assert!(!settle(&ours, true).unwrap().0, "it has none any more");
    }
}

/// The library with a directory entry for a signature of 64 bytes.
fn with_entry(rva: u32, size: u32) -> Vec<u8> {
    let mut bytes = library(Arch::X86_64);
    bytes[DIRECTORY..DIRECTORY + 4].copy_from_slice(&rva.to_le_bytes());
    bytes[DIRECTORY + 4..DIRECTORY + 8].copy_from_slice(&size.to_le_bytes());
    bytes
}

#[test]
fn a_signature_elsewhere_than_at_the_end_is_not_removed() {
    let length = library(Arch::X86_64).len() as u32;
    let within = length - 64;
    for (rva, size) in [(within, 64), (64, length - 64), (length, 64), (8, u32::MAX)] {
        let refused = settle(&with_entry(rva, size), true).unwrap_err();
        assert!(refused.contains("not at the end of the file"), "{rva:#x} {size:#x}: {refused}");
    }
    let mut followed = with_entry(length, 64);
    followed.extend([7; 64 + 8]);
    assert!(settle(&followed, true).unwrap_err().contains("appended"));
    followed.truncate(length as usize + 64 + 7);
    let (stripped, bytes) = settle(&followed, true).unwrap();
    assert!(stripped && bytes == library(Arch::X86_64));
}

#[test]
fn an_entry_without_address_or_size_is_no_signature() {
    for (rva, size) in [(0, u32::MAX), (0, 8), (4096, 0)] {
        let bytes = with_entry(rva, size);
        assert_eq!(settle(&bytes, true).unwrap(), (false, bytes));
    }
}

#[test]
fn an_image_that_windows_only_loads_signed_is_refused() {
    let mut bytes = library(Arch::X86_64);
    let characteristics = 64 + 24 + 70;
    bytes[characteristics] |= spec::IMAGE_DLLCHARACTERISTICS_FORCE_INTEGRITY as u8;
    for strip in [false, true] {
        assert!(settle(&bytes, strip).unwrap_err().contains("FORCE_INTEGRITY"));
    }
}

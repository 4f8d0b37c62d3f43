//! Strong names of .NET assemblies: valid ones are never made invalid in silence.
//!
//! The committed assemblies were signed by Mono's sn; here openssl judges, and sn where it is
//! installed.
#![allow(clippy::unwrap_used)]

use dlls::Refusal;
use dlls::flags::{Change, Flag};
use dlls::realign::RealignOptions;
use dlls::signature::{self, Signatures};
use image::pe::edit::{KeepChecksum, PeDraft};
use image::pe::{Pe, StrongNameState, spec};
use std::path::Path;

fn assembly(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testfiles/pe");
    std::fs::read(folder.join(name)).unwrap()
}

fn signed() -> Vec<u8> {
    assembly("strong-name.dll")
}

fn state(bytes: &[u8]) -> Option<StrongNameState> {
    Pe::parse("", bytes).unwrap().strong_name().map(|name| name.state)
}

/// What a strong name's signature is over: ECMA-335, II.6.2.1.3.
fn signed_bytes(bytes: &[u8]) -> Vec<u8> {
    let file = Pe::parse("", bytes).unwrap();
    let headers = file.headers();
    let mut hidden = bytes.to_vec();
    let at = headers.checksum_offset().index();
    hidden[at..at + 4].fill(0);
    let at = headers.directory_offset(spec::SECURITY).index();
    hidden[at..at + 8].fill(0);
    let mut all = hidden[..headers.section_offset(headers.sections.len()).index()].to_vec();
    let hole = file.strong_name().unwrap().signature.unwrap();
    let hole = hole.start.index()..hole.end.index();
    for section in &headers.sections {
        let start = section.offset.index();
        let end = start + section.file_bytes as usize;
        let holds = start <= hole.start && hole.end <= end;
        let (first, second) = if holds { (hole.start, hole.end) } else { (end, end) };
        all.extend(&hidden[start..first]);
        all.extend(&hidden[second..end]);
    }
    all
}

/// An ASN.1 value.
fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).unwrap().to_be_bytes();
    [&[tag, 0x82], &length[..], content].concat()
}

/// The public key of an assembly as openssl reads it.
fn public_key(bytes: &[u8]) -> Vec<u8> {
    let at = bytes.windows(4).position(|four| four == b"RSA1").unwrap();
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let (modulus_bytes, exponent) = (number(at + 4) as usize / 8, number(at + 8));
    let modulus = bytes[at + 12..at + 12 + modulus_bytes].iter().rev().copied();
    let modulus: Vec<u8> = std::iter::once(0).chain(modulus).collect();
    let exponent = [&[0], &exponent.to_be_bytes()[..]].concat();
    let key = der(0x30, &[der(2, &modulus), der(2, &exponent)].concat());
    let rsa = [&[6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1], &[5, 0][..]].concat();
    der(0x30, &[der(0x30, &rsa), der(3, &[&[0], &key[..]].concat())].concat())
}

/// Whether the signature is right; `None` without openssl.
fn valid(bytes: &[u8]) -> Option<bool> {
    let openssl = testkit::tool("openssl")?;
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.display().to_string()
    };
    let place = Pe::parse("", bytes).unwrap().strong_name()?.signature?;
    let signature: Vec<u8> =
        bytes[place.start.index()..place.end.index()].iter().rev().copied().collect();
    let (key, signature) = (write("key.der", &public_key(bytes)), write("signature", &signature));
    let data = write("data", &signed_bytes(bytes));
    let mut command = std::process::Command::new(openssl);
    command.args(["dgst", "-sha1", "-keyform", "DER", "-verify", &key]);
    let by_openssl = command.args(["-signature", &signature, &data]).output().unwrap();
    let valid = by_openssl.status.success();
    if let Some(sn) = testkit::tool("sn") {
        let file = write("assembly.dll", bytes);
        let said = std::process::Command::new(sn).args(["-v", &file]).output().unwrap();
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        assert_eq!(said.contains("is strongnamed"), valid, "{said}");
    }
    Some(valid)
}

#[test]
fn the_committed_assembly_is_signed_and_the_check_can_fail() {
    let bytes = signed();
    let Some(right) = valid(&bytes) else { return };
    assert!(right);
    let mut changed = bytes.clone();
    *changed.last_mut().unwrap() ^= 1;
    assert_eq!(valid(&changed), Some(false));
    // Neither a checksum nor an Authenticode signature is a part of what is signed.
    let mut summed = PeDraft::of(&Pe::parse("", &bytes).unwrap()).finish(KeepChecksum::Compute);
    let at = Pe::parse("", &bytes).unwrap().headers().checksum_offset().index();
    summed[at] ^= 0xff;
    assert_eq!(valid(&summed), Some(true));
}

/// One change by each verb that takes a file for itself.
type Verb = fn(&mut PeDraft) -> Result<(), Refusal>;

const VERBS: [(&str, Verb); 2] = [
    ("realign", |draft| {
        let options = RealignOptions { file_alignment: 4096, keep_overlay: false };
        dlls::realign::realign(draft, "x.dll", &options).map(drop)
    }),
    ("flags", |draft| {
        let change = Change { set: vec![Flag::NoBind], clear: Vec::new() };
        dlls::flags::change(draft, "x.dll", &change).map(drop)
    }),
];

#[test]
fn a_strong_name_is_refused_or_cleared_in_words() {
    let bytes = signed();
    let draft = || PeDraft::of(&Pe::parse("x.dll", &bytes).unwrap());
    let refused = signature::settle(&mut draft(), "x.dll", false).unwrap_err();
    let advised = Signatures { strong_name: true, ..Signatures::default() };
    assert_eq!(refused.advice(), Some(dlls::Advice::StripSignature(advised)));
    let refused = refused.to_string();
    assert!(refused.contains("with a strong name"), "{refused}");
    for (verb, change) in VERBS {
        let mut draft = draft();
        let removed = signature::settle(&mut draft, "x.dll", true).unwrap();
        assert_eq!(removed, Signatures { strong_name: true, ..Signatures::default() });
        assert!(removed.removed().unwrap().contains("sn -R"));
        change(&mut draft).unwrap();
        let new = draft.finish(KeepChecksum::AsItWas);
        assert_eq!(state(&new), Some(StrongNameState::Public), "{verb}");
        let place = Pe::parse("", &new).unwrap().strong_name().unwrap().signature.unwrap();
        let signature = &new[place.start.index()..place.end.index()];
        assert!(signature.len() == 128 && signature.iter().all(|&byte| byte == 0), "{verb}");
        assert_ne!(valid(&new), Some(true), "{verb}");
        // Nothing is left to be lost.
        let mut again = PeDraft::of(&Pe::parse("x.dll", &new).unwrap());
        assert_eq!(signature::settle(&mut again, "x.dll", false).unwrap(), Signatures::default());
    }
}

#[test]
fn rebase_refuses_a_strong_name_too() {
    let bytes = signed();
    let file = Pe::parse("x.dll", &bytes).unwrap();
    let options = |strip_signature| dlls::rebase::RebaseOptions {
        strip_signature,
        ..dlls::rebase::RebaseOptions::default()
    };
    let examined = dlls::rebase::examine("x.dll", &file, options(false));
    let obstacle = examined.obstacle.unwrap().to_string();
    assert!(obstacle.contains("strong name"), "{obstacle}");
    let rebase = |strip| {
        dlls::rebase::rebase("x.dll", bytes.clone(), model::Va(0x2000_0000), options(strip))
    };
    assert!(rebase(false).unwrap_err().to_string().contains("strong name"));
    let done = rebase(true).unwrap();
    assert!(done.stripped.strong_name && !done.stripped.authenticode);
    assert_eq!(state(&done.bytes), Some(StrongNameState::Public));
    // At the base that it has nothing changes.
    let stays =
        dlls::rebase::rebase("x.dll", bytes.clone(), model::Va(0x40_0000), options(false)).unwrap();
    assert!(stays.bytes == bytes && stays.stripped == Signatures::default());
}

#[test]
fn room_for_a_signature_is_none() {
    let bytes = assembly("delay-signed.dll");
    assert_eq!(state(&bytes), Some(StrongNameState::Delayed));
    let mut draft = PeDraft::of(&Pe::parse("x.dll", &bytes).unwrap());
    assert_eq!(signature::settle(&mut draft, "x.dll", false).unwrap(), Signatures::default());
    assert!(draft.finish(KeepChecksum::AsItWas) == bytes);
}

/// Headers that say what is not so are never cleared somewhere else.
#[test]
fn a_signature_outside_of_the_file_is_not_cleared() {
    let bytes = signed();
    let place = {
        let file = Pe::parse("", &bytes).unwrap();
        file.offset(file.directory(spec::COM_DESCRIPTOR).unwrap().rva).unwrap().index() + 32
    };
    for (rva, size) in [(0x7fff_0000_u32, 128_u32), (0x2000, u32::MAX), (0, 128), (0x80, 128)] {
        let mut bytes = bytes.clone();
        bytes[place..place + 4].copy_from_slice(&rva.to_le_bytes());
        bytes[place + 4..place + 8].copy_from_slice(&size.to_le_bytes());
        let mut draft = PeDraft::of(&Pe::parse("x.dll", &bytes).unwrap());
        let Err(refused) = signature::settle(&mut draft, "x.dll", true) else {
            panic!("{rva:#x} {size:#x}")
        };
        assert!(refused.to_string().contains("not in the file"), "{refused}");
    }
}

/// As Mono's own assemblies are: delay-signed, and signed again by a tool that does not set the flag.
#[test]
fn a_signature_counts_without_the_flag() {
    let mut bytes = signed();
    let flags = {
        let file = Pe::parse("", &bytes).unwrap();
        file.offset(file.directory(spec::COM_DESCRIPTOR).unwrap().rva).unwrap().index() + 16
    };
    bytes[flags] &= !8;
    assert_eq!(state(&bytes), Some(StrongNameState::Signed));
    let draft = || PeDraft::of(&Pe::parse("x.dll", &bytes).unwrap());
    assert!(signature::settle(&mut draft(), "x.dll", false).is_err());
    let mut cleared = draft();
    assert!(signature::settle(&mut cleared, "x.dll", true).unwrap().strong_name);
    assert_eq!(state(cleared.bytes()), Some(StrongNameState::Delayed));
}

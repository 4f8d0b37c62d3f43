//! What the tests share. Each of them uses a part.
#![allow(clippy::unwrap_used, dead_code)]

pub mod memory;

use dlls::realign::{RealignOptions, Realigned, realign};
use image::pe::Pe;
use image::pe::edit::{KeepChecksum, PeDraft};
use std::path::{Path, PathBuf};
use std::process::Command;
use workload::{Arch, By, Format, PeOptions, Pietrek, pe};

/// A library and its program, emitted: `(name, bytes)`, the program first.
pub fn workload(arch: Arch, dlls: u32, pe: PeOptions) -> Vec<(String, Vec<u8>)> {
    let sizes = Pietrek { dlls, functions: 60, globals: 3, by: By::Name, ..Pietrek::default() };
    let asked = Pietrek { format: Format::Pe, arch, pe, ..sizes };
    (0..=dlls).map(|index| pe::pietrek::file(&asked, index).unwrap()).collect()
}

/// A library with a checksum.
pub fn library(arch: Arch) -> Vec<u8> {
    workload(arch, 1, PeOptions::default()).pop().unwrap().1
}

/// A file laid out anew, unsigned and without anything appended.
pub fn realigned(bytes: &[u8], file_alignment: u32) -> Result<(Realigned, Vec<u8>), String> {
    let options = RealignOptions { file_alignment, keep_overlay: false };
    realigned_by(bytes, options)
}

/// The same, by any choice.
pub fn realigned_by(bytes: &[u8], options: RealignOptions) -> Result<(Realigned, Vec<u8>), String> {
    let mut draft = PeDraft::of(&Pe::parse("it", bytes).unwrap());
    let done = realign(&mut draft, "it", &options).map_err(|no| no.to_string())?;
    Ok((done, draft.finish(KeepChecksum::AsItWas)))
}

/// What a tool prints; it has to be content.
pub fn output(tool: &Path, words: &[&str]) -> String {
    let output = Command::new(tool).args(words).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{tool:?} {words:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Signs a file with a certificate of its own; the signed file is `signed.dll` beside it.
pub fn signed(openssl: &Path, osslsigncode: &Path, file: &Path) -> PathBuf {
    let folder = file.parent().unwrap();
    let at = |name: &str| folder.join(name).display().to_string();
    let (key, certificate, out) = (at("key.pem"), at("cert.pem"), at("signed.dll"));
    let subject = ["-subj", "/CN=test", "-days", "2", "-nodes"];
    let key_words = ["req", "-x509", "-newkey", "rsa:2048", "-keyout", &key, "-out", &certificate];
    output(openssl, &[&key_words[..], &subject[..]].concat());
    let input = file.display().to_string();
    output(
        osslsigncode,
        &["sign", "-certs", &certificate, "-key", &key, "-in", &input, "-out", &out],
    );
    PathBuf::from(out)
}

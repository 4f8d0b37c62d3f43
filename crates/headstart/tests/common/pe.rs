//! Generated sets of PE files, and commands on them.

use super::{run, stderr};
use std::fs;
use std::path::{Path, PathBuf};

/// A program with its DLLs, which `generate pietrek --format pe` makes with these options.
pub fn set(folder: &Path, options: &[&str]) -> Vec<PathBuf> {
    let words = ["generate", "pietrek", "--format", "pe", "--out", folder.to_str().unwrap()];
    let made = run(&[&words[..], options].concat());
    assert!(made.status.success(), "{}", stderr(&made));
    files(folder)
}

/// What is in a folder, in order; nothing where it is not there.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The contents of files.
pub fn bytes(files: &[PathBuf]) -> Vec<Vec<u8>> {
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

/// A command line of `pe` on these files.
pub fn words<'a>(first: &[&'a str], files: &'a [PathBuf]) -> Vec<&'a str> {
    let files = files.iter().map(|file| file.to_str().unwrap());
    std::iter::once("pe").chain(first.iter().copied()).chain(files).collect()
}

//! Sets of PE files, each rewritten by one verb after the other into folders of their own.

use crate::context::Context;
use anyhow::{Context as _, Result};
use std::path::{Path, PathBuf};

/// A rewritten set.
pub struct Variant {
    /// What was done to it.
    pub name: &'static str,
    /// Where all its files are.
    pub folder: PathBuf,
}

/// A verb with its options.
pub type Step = &'static [&'static str];

pub const REBASE: Step = &["pe", "rebase", "--auto"];
pub const REBASE_PROGRAMS: Step = &["pe", "rebase", "--auto", "--programs"];
pub const REALIGN: Step = &["pe", "realign"];
pub const HINTS: Step = &["pe", "hints"];
pub const BIND: Step = &["pe", "bind"];
pub const UNBIND: Step = &["pe", "unbind"];
pub const ORDINAL: Step = &["pe", "ordinal"];

/// Rewrites `files` by each of `ways` into folders below `folder`.
///
/// # Errors
/// headstart fails or declines, or a file cannot be copied.
pub fn variants(
    context: &Context,
    folder: &Path,
    files: &[PathBuf],
    ways: &[(&'static str, &[Step])],
    search: &[PathBuf],
) -> Result<Vec<Variant>> {
    let mut variants = Vec::new();
    for (index, (name, steps)) in ways.iter().enumerate() {
        let mut present = folder.join(format!("{index}"));
        copy(files, &present)?;
        for (number, step) in steps.iter().enumerate() {
            let out = folder.join(format!("{index}-{number}"));
            rewrite(context, step, &present, &out, search)
                .with_context(|| format!("{name}: {}", step.join(" ")))?;
            present = out;
        }
        variants.push(Variant { name, folder: present });
    }
    Ok(variants)
}

fn copy(files: &[PathBuf], folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    for file in files {
        let name = file.file_name().context("a file has a name")?;
        let copied = std::fs::copy(file, folder.join(name));
        copied.with_context(|| format!("{} cannot be copied", file.display()))?;
    }
    Ok(())
}

/// Rewrites all files of a folder.
fn rewrite(
    context: &Context,
    step: Step,
    from: &Path,
    out: &Path,
    search: &[PathBuf],
) -> Result<()> {
    let mut words: Vec<String> = step.iter().map(|word| (*word).to_owned()).collect();
    words.extend(["--strip-signature", "--out"].map(str::to_owned));
    words.push(out.display().to_string());
    if [HINTS, BIND].contains(&step) {
        words
            .extend(search.iter().flat_map(|path| ["--search".into(), path.display().to_string()]));
    }
    let mut files: Vec<String> = std::fs::read_dir(from)?
        .map(|entry| Ok(entry?.path().display().to_string()))
        .collect::<Result<_>>()?;
    files.sort();
    files.retain(|file| !file.ends_with(".json"));
    words.extend(files);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    context.headstart.run(&words).map(|_| ())
}

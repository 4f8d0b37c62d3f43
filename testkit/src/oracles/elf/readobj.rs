//! What llvm-readobj says of an ELF file. It follows the dynamic table as a loader does, so that
//! it also reads files without section headers.

use crate::oracles::Difference;
use anyhow::{Context, Result, ensure};
use model::ElfFacts;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const PROGRAM: &str = "llvm-readobj-19";

/// The tables of a loader, read by llvm-readobj.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tables {
    load_segments: u32,
    needed: Vec<String>,
    /// Where nothing but dynamic ones is counted: by type, with those of RELR as relative ones.
    relocations: BTreeMap<String, u64>,
    relocation_count: u64,
    /// Symbols are found by section headers only.
    imports_and_exports: Option<(u64, u64)>,
}

/// Where headstart's facts differ from llvm-readobj's.
///
/// # Errors
/// It cannot be run, or cannot read the file.
pub fn differences(image: &ElfFacts, path: &Path) -> Result<Vec<Difference>> {
    let flags = ["--dyn-relocations", "--needed-libs", "--program-headers", "--dyn-symbols"];
    let output = Command::new(PROGRAM).args(flags).arg(path).output();
    let output = output.with_context(|| format!("{PROGRAM} cannot be run; install llvm-19"))?;
    let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "{PROGRAM} on {}: {complaints}", path.display());
    let text = String::from_utf8_lossy(&output.stdout);
    // An object file, a static program, or debug information has no table for a loader.
    if !text.contains("PT_DYNAMIC") || !complaints.is_empty() {
        return Ok(Vec::new());
    }
    let theirs = tables(&text);
    let ours = comparable(image, &theirs);
    if theirs == ours {
        return Ok(Vec::new());
    }
    Ok(vec![Difference {
        path: image.path.clone(),
        tool: PROGRAM.to_owned(),
        fact: "tables of a loader",
        oracle: format!("{theirs:?}"),
        headstart: format!("{ours:?}"),
        complaints,
    }])
}

/// headstart's facts in llvm-readobj's form.
fn comparable(image: &ElfFacts, theirs: &Tables) -> Tables {
    let mut relocations = image.relocations.clone();
    if let Some(packed) = relocations.remove("RELR") {
        let relative = theirs.relocations.keys().find(|name| name.ends_with("_RELATIVE"));
        *relocations.entry(relative.cloned().unwrap_or_default()).or_default() += packed;
    }
    if image.link_time_relocations > 0 {
        relocations.clone_from(&theirs.relocations);
    }
    Tables {
        load_segments: image.load_segments,
        needed: image.needed.clone(),
        relocations,
        relocation_count: image.relocation_count() - image.link_time_relocations,
        imports_and_exports: theirs.imports_and_exports.map(|_| (image.imports, image.exports)),
    }
}

fn tables(text: &str) -> Tables {
    let mut relocations: BTreeMap<String, u64> = BTreeMap::new();
    for line in part(text, "Dynamic Relocations {") {
        // A relocation of MIPS64 has three types, of which only the first says what it is.
        let kind = line.split([' ', '/']).filter(|word| !word.is_empty()).nth(1);
        let kind = kind.unwrap_or_default();
        *relocations.entry(kind.to_owned()).or_default() += 1;
    }
    let segments = text.lines().filter(|line| line.trim() == "Type: PT_LOAD (0x1)");
    Tables {
        load_segments: segments.count() as u32,
        needed: part(text, "NeededLibraries [").map(|line| line.trim().to_owned()).collect(),
        relocation_count: relocations.values().sum(),
        relocations,
        imports_and_exports: symbols(text),
    }
}

/// Undefined symbols without the first, and defined ones that others see; `None` for no symbols.
fn symbols(text: &str) -> Option<(u64, u64)> {
    let (mut imports, mut exports, mut is_local) = (0_u64, 0, false);
    for line in part(text, "DynamicSymbols [").map(str::trim) {
        if let Some(binding) = line.strip_prefix("Binding: ") {
            is_local = binding.starts_with("Local");
        } else if let Some(section) = line.strip_prefix("Section: ") {
            let is_undefined = section.starts_with("Undefined");
            imports += u64::from(is_undefined);
            exports += u64::from(!is_undefined && !is_local);
        }
    }
    Some((imports.checked_sub(1)?, exports))
}

/// The lines of a part up to the bracket that closes it.
fn part<'a>(text: &'a str, start: &'static str) -> impl Iterator<Item = &'a str> {
    let lines = text.lines().skip_while(move |line| *line != start).skip(1);
    lines.take_while(|line| !line.starts_with([']', '}']))
}

//! Real programs, rewritten by each verb: the same output and exit code.

use super::launches;
use super::rewritten::{BIND, HINTS, REALIGN, REBASE_PROGRAMS, Step, UNBIND, variants};
use crate::context::Context;
use crate::report::Row;
use crate::subjects::pe_files;
use anyhow::{Context as _, Result};
use model::Ending;
use os::wine::Wine;
use std::path::Path;

/// Package, program, arguments.
const PROGRAMS: [(&str, &str, &[&str]); 5] = [
    ("ninja", "ninja.exe", &["--version"]),
    ("cmake", "cmake.exe", &["--help"]),
    ("cmake", "ctest.exe", &["--version"]),
    ("ripgrep", "rg.exe", &["--help"]),
    ("ruff", "ruff.exe", &["--version"]),
];
const WAYS: [(&str, &[Step]); 7] = [
    ("as shipped", &[]),
    ("rebase", &[REBASE_PROGRAMS]),
    ("hints", &[HINTS]),
    ("realign", &[REALIGN]),
    // Bound imports need room in the headers, which this makes.
    ("realign, bind", &[REALIGN, BIND]),
    ("realign, bind, unbind", &[REALIGN, BIND, UNBIND]),
    ("rebase, hints, realign, bind", &[REBASE_PROGRAMS, HINTS, REALIGN, BIND]),
];
/// Of the programs, those that have to run here at all.
const LEAST: usize = 2;

/// A row for each program.
pub fn rows(context: &Context, wine: &Wine) -> Result<Vec<Row>> {
    let libraries = testkit::pe::libraries().context("no DLLs of Wine")?;
    let (mut rows, mut running) = (Vec::new(), 0);
    for (package, program, arguments) in PROGRAMS {
        let files = pe_files::named(package)?.files;
        let is_it =
            |file: &&std::path::PathBuf| file.file_name().is_some_and(|name| name == program);
        let file = files.iter().find(is_it).with_context(|| format!("no {program}"))?;
        let folder = context.scratch.join(program);
        let figure = format!("{program} {}", arguments.join(" "));
        let shipped = [file.clone()];
        let sets = variants(context, &folder, &shipped, &WAYS, std::slice::from_ref(&libraries))?;
        let run = |folder: &Path| {
            let words: Vec<&str> = [program].into_iter().chain(arguments.iter().copied()).collect();
            launches::run(context, wine, folder, &words)
        };
        let shipped = run(&sets[0].folder)?;
        if shipped.stdout.is_empty() || shipped.ending != Ending::Code(0) {
            let how = format!("{:?} as shipped: Wine cannot run it", shipped.ending);
            rows.push(Row::shown(figure, how));
            continue;
        }
        running += 1;
        let mut differ = Vec::new();
        for set in &sets[1..] {
            if run(&set.folder)? != shipped {
                differ.push(set.name);
            }
        }
        let value = match differ.is_empty() {
            true => format!("the same {} bytes, {} ways", shipped.stdout.len(), sets.len() - 1),
            false => format!("differs after {}", differ.join("; ")),
        };
        rows.push(Row::bar(figure, value, "the same", differ.is_empty()));
    }
    let enough = running >= LEAST;
    rows.push(Row::bar("programs that Wine runs", running.to_string(), "≥ 2", enough));
    Ok(rows)
}

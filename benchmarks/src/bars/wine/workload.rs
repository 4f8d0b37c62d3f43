//! Generated libraries and a program that calls every import, rewritten by each verb.

use super::launches;
use super::rewritten::{BIND, HINTS, ORDINAL, REALIGN, REBASE, Step, UNBIND, Variant, variants};
use crate::context::Context;
use crate::report::Row;
use anyhow::{Context as _, Result};
use model::Ending;
use os::wine::Wine;
use std::path::PathBuf;

const WAYS: [(&str, &[Step]); 9] = [
    ("as generated", &[]),
    ("rebase", &[REBASE]),
    ("hints", &[HINTS]),
    ("realign", &[REALIGN]),
    ("ordinal", &[ORDINAL]),
    // Bound imports need room in the headers, which realign makes.
    ("realign, bind", &[REALIGN, BIND]),
    ("realign, bind, unbind", &[REALIGN, BIND, UNBIND]),
    ("rebase, ordinal, realign, bind", &[REBASE, ORDINAL, REALIGN, BIND]),
    ("rebase, realign, bind", &[REBASE, REALIGN, BIND]),
];
const PROGRAM: &str = "LoadTimeTest.exe";

/// A row for each way, and one for a bound program whose DLLs have changed.
pub fn rows(context: &Context, wine: &Wine) -> Result<Vec<Row>> {
    let generated = context.scratch.join("generated");
    let out = generated.display().to_string();
    context.headstart.run(&["generate", "pietrek", "--format", "pe", "--out", &out])?;
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&generated)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|ending| ending == "dll" || ending == "exe"));
    let sets = variants(context, &context.scratch.join("rewritten"), &files, &WAYS, &[])?;
    let mut rows = Vec::new();
    for set in &sets {
        rows.push(row(
            context,
            wine,
            set,
            &format!("{} libraries, {}", files.len() - 1, set.name),
        )?);
    }
    let [generated, .., bound] = sets.as_slice() else { return Ok(rows) };
    for file in &files {
        let name = file.file_name().context("a file has a name")?;
        if name != PROGRAM {
            std::fs::copy(generated.folder.join(name), bound.folder.join(name))?;
        }
    }
    rows.push(row(context, wine, bound, "bound program, other DLLs at other bases")?);
    Ok(rows)
}

fn row(context: &Context, wine: &Wine, set: &Variant, figure: &str) -> Result<Row> {
    let run = launches::run(context, wine, &set.folder, &[PROGRAM, "--call"])?;
    let good = run.ending == Ending::Code(0);
    let value = if good { "every import called".to_owned() } else { format!("{:?}", run.ending) };
    Ok(Row::bar(figure, value, "exit code 0", good))
}

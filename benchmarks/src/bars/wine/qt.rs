//! Qt's DLLs, all loaded by one program: as they are shipped, and rewritten.

use super::launches;
use super::memory::Waiting;
use super::mingw;
use super::rewritten::{ORDINAL, REALIGN, REBASE, Step, Variant, variants};
use crate::context::Context;
use crate::report::Row;
use crate::statistics::{least, median};
use crate::subjects::pe_files;
use anyhow::{Context as _, Result};
use model::Ending;
use os::wine::Wine;
use std::path::{Path, PathBuf};

const PACKAGE: &str = "PyQt5-Qt5";
const BIN: &str = "PyQt5/Qt5/bin";
/// Of the Visual C++ runtime, which has to be beside Qt.
const RUNTIME: &str = "msvcp140.dll";
const LOADER: &str = "load_all.exe";
const SOURCE: &str = include_str!("../../../c/load_all.c");
const ROUNDS: usize = 41;
const WAYS: [(&str, &[Step]); 4] = [
    ("as shipped", &[]),
    ("rebase", &[REBASE]),
    ("realign", &[REALIGN]),
    ("rebase + realign", &[REBASE, REALIGN]),
];
/// What both together have to save of the launch.
const LEAST_SAVED: f64 = 0.25;

/// That they load, how long it takes, and what memory.
pub fn rows(context: &Context, wine: &Wine) -> Result<Vec<Row>> {
    let bin = pe_files::named(PACKAGE)?.folder.join(BIN);
    let files = dlls(&bin)?;
    let sets = variants(context, &context.scratch.join("qt"), &files, &WAYS, &[])?;
    let names: Vec<String> =
        files.iter().filter_map(|file| file.file_name()?.to_str().map(str::to_owned)).collect();
    let qt: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| name.starts_with("Qt5")).collect();
    for set in &sets {
        // In the folder of the DLLs, where Windows' loader looks first.
        mingw(&set.folder, LOADER, SOURCE, &[])?;
    }
    let words: Vec<&str> = [LOADER].into_iter().chain(qt.iter().copied()).collect();
    let mut rows = Vec::new();
    for set in &sets {
        let run = launches::run(context, wine, &set.folder, &words)?;
        let good = run.ending == Ending::Code(0) && run.stdout.contains("failed: 0");
        let value = run.stdout.trim_end().replace('\n', "; ");
        rows.push(Row::bar(
            format!("{} Qt DLLs, {}", qt.len(), set.name),
            value,
            "failed: 0",
            good,
        ));
    }
    rows.push(by_ordinal(context, wine, &files)?);
    rows.extend(times(context, wine, &sets, &words)?);
    rows.extend(memories(wine, &sets, &words)?);
    Ok(rows)
}

/// Every DLL, the Visual C++ runtime beside Qt among them, loads by itself if it did before.
fn by_ordinal(context: &Context, wine: &Wine, files: &[PathBuf]) -> Result<Row> {
    let folder = context.scratch.join("qt-ordinal");
    let ways: [(&str, &[Step]); 2] = [("as shipped", &[]), ("by ordinal", &[ORDINAL])];
    let sets = variants(context, &folder, files, &ways, &[])?;
    let [shipped, converted] = sets.as_slice() else { anyhow::bail!("two sets") };
    let runtime = files.iter().any(|file| file.ends_with(RUNTIME));
    let found =
        context.headstart.run(&["verify", "--json", &converted.folder.display().to_string()])?;
    let found: serde_json::Value = serde_json::from_str(&found)?;
    // Were nothing converted, nothing could fail.
    let functions = found["functions"].as_u64().unwrap_or(0);
    let mut others = Vec::new();
    let mut loaded = 0;
    for set in &sets {
        mingw(&set.folder, LOADER, SOURCE, &[])?;
    }
    for name in files.iter().filter_map(|file| file.file_name()?.to_str()) {
        let loads = |set: &Variant| {
            let run = launches::run(context, wine, &set.folder, &[LOADER, name]);
            run.map(|run| run.stdout.contains("failed: 0"))
        };
        let before = loads(shipped)?;
        loaded += u32::from(before);
        if loads(converted)? != before {
            others.push(name);
        }
    }
    let value = format!(
        "{loaded} of {} load; otherwise with {functions} imports by ordinal: {others:?}",
        files.len()
    );
    let good = others.is_empty() && loaded > 0 && functions > 0 && runtime;
    Ok(Row::bar("DLLs beside Qt one by one, by ordinal", value, "the same", good))
}

fn dlls(bin: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(bin).with_context(|| format!("no {}", bin.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "dll") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn times(context: &Context, wine: &Wine, sets: &[Variant], words: &[&str]) -> Result<Vec<Row>> {
    let commands: Vec<_> =
        sets.iter().map(|set| launches::command(wine, &set.folder, words)).collect();
    // The desktop that Wine starts for a program with windows stays with this one.
    let first = sets.first().context("no set")?;
    let desktop = Waiting::start(wine, &first.folder, &[words, &["--wait"]].concat())?;
    let times = launches::in_turns(context, &commands, ROUNDS)?;
    drop(desktop);
    let first = times.first().context("no times")?;
    let mut rows = Vec::new();
    for (set, own) in sets.iter().zip(&times) {
        // Launches of one round are compared with each other.
        let saved = 1.0 - median(own.iter().zip(first).map(|(own, first)| own / first).collect());
        let (fastest, middle) = (least(own) / 1e3, median(own.clone()) / 1e3);
        let value = format!("{middle:.1} ms (fastest {fastest:.1}), {:.1} % saved", saved * 100.0);
        let figure = format!("launch that loads them, {}", set.name);
        rows.push(match set.name {
            "rebase + realign" => Row::bar(figure, value, "≥ 25 % saved", saved >= LEAST_SAVED),
            _ => Row::shown(figure, value),
        });
    }
    Ok(rows)
}

fn memories(wine: &Wine, sets: &[Variant], words: &[&str]) -> Result<Vec<Row>> {
    let waiting = [words, &["--wait"]].concat();
    let mut rows: Vec<Row> = Vec::new();
    let mut first = None;
    for set in sets {
        let memory = Waiting::start(wine, &set.folder, &waiting)?.memory()?;
        let before = *first.get_or_insert(memory);
        let mib = memory.private_kib as f64 / 1024.0;
        let value = format!("{mib:.1} MiB, {} parts of files mapped", memory.mapped);
        let figure = format!("private memory, {}", set.name);
        let good = memory.private_kib < before.private_kib && memory.mapped > before.mapped;
        rows.push(match set.name {
            "rebase + realign" => Row::bar(figure, value, "less, more mapped", good),
            _ => Row::shown(figure, value),
        });
    }
    Ok(rows)
}

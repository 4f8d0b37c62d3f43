//! `headstart pe flags`: what PE images ask of the loader, shown and changed.

use crate::args::DllArgs;
use crate::exit::Usage;
use crate::output;
use crate::progress::FileProgress;
use crate::refusals;
use crate::rewritten;
use anyhow::Result;
use dlls::flags::{self, Change, Changed, Flag};
use dlls::rewrite::{RewrittenFile, rewrite_each};
use image::pe::PeFile;
use image::pe::edit::PeDraft;
use report::flags::{FlagChange, FlagRow};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Show, set or clear flags of Windows programs and DLLs: ASLR, large addresses, SWAPRUN, …
///
/// Without --set and --clear, the flags are shown. Names are those of Microsoft's linker:
/// dynamicbase, highentropyva, largeaddressaware, swaprun:net, swaprun:cd, nxcompat, tsaware,
/// no-bind. A change with which an image could not be loaded is refused; one without effect is
/// noted. A right CheckSum stays right.
#[derive(Debug, clap::Args)]
#[command(mut_group("dll_target", |group| group.required(false)))]
pub struct Arguments {
    #[command(flatten)]
    target: DllArgs,
    /// Flags to set, separated by commas
    #[arg(long, value_name = "FLAG,…", value_delimiter = ',', value_parser = Flag::parse)]
    set: Vec<Flag>,
    /// Flags to clear
    #[arg(long, value_name = "FLAG,…", value_delimiter = ',', value_parser = Flag::parse)]
    clear: Vec<Flag>,
}

/// Shows or changes them.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let Arguments { target, set, clear } = arguments;
    if let Some(flag) = set.iter().find(|flag| clear.contains(flag)) {
        return Err(Usage(format!("{} cannot be both set and cleared", flag.name())).into());
    }
    let somewhere = target.out.is_some() || target.in_place || target.dry_run;
    match (set.is_empty() && clear.is_empty(), somewhere) {
        _ if target.undo => rewritten::undo(target),
        (true, false) => show(target),
        (false, true) => change(target, &Change { set: set.clone(), clear: clear.clone() }),
        (true, true) => Err(Usage(
            "add --set or --clear with the flags to \
             change"
                .to_owned(),
        )
        .into()),
        (false, false) => {
            let ways = "add --out DIR for new files, --in-place, or --dry-run";
            Err(Usage(ways.to_owned()).into())
        }
    }
}

/// Flags of every file that can be read; the others are told of on stderr.
fn show(target: &DllArgs) -> Result<ExitCode> {
    let (mut rows, mut errors) = (Vec::new(), Vec::new());
    for file in &target.files() {
        match PeFile::open(file) {
            Ok(open) => rows.push((file.display().to_string(), flags::of(open.headers()))),
            Err(error) => errors.push(error),
        }
    }
    let names = |flags: &[Flag]| flags.iter().map(|flag| flag.name()).collect::<Vec<_>>();
    let files = rows.iter().map(|(file, flags)| json!({"file": file, "flags": names(flags)}));
    let object = json!({ "schema": rewritten::SCHEMA, "files": files.collect::<Vec<_>>() });
    output::print_either(target.json, &object, |style| {
        let row = |(file, set): &(String, Vec<Flag>)| FlagRow {
            file: file.clone(),
            flags: names(set).into_iter().map(str::to_owned).collect(),
        };
        report::flags::table(&rows.iter().map(row).collect::<Vec<_>>(), style)
    })?;
    errors.iter().for_each(output::tell);
    Ok(if errors.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn change(target: &DllArgs, asked: &Change) -> Result<ExitCode> {
    let change = |draft: &mut PeDraft, path: &str| flags::change(draft, path, asked);
    let files = rewrite_each(&target.request(), &FileProgress, change).map_err(refusals::error)?;
    rewritten::print(
        target,
        &files,
        || rewritten::json(target, &files, object),
        |place, style| {
            let changes: Vec<FlagChange> = files.iter().map(row).collect();
            report::flags::changes(&changes, place, style)
        },
    )
}

fn row(file: &RewrittenFile<Changed>) -> FlagChange {
    let names = |flags: &[Flag]| flags.iter().map(|flag| flag.name().to_owned()).collect();
    FlagChange {
        file: file.name(),
        set: names(&file.done.set),
        cleared: names(&file.done.cleared),
        notes: notes(file),
    }
}

fn notes(file: &RewrittenFile<Changed>) -> Vec<String> {
    let notes = file.done.notes.iter().map(refusals::advised);
    rewritten::notes(file).into_iter().chain(notes).collect()
}

fn object(file: &RewrittenFile<Changed>) -> Result<Value> {
    let names = |flags: &[Flag]| flags.iter().map(|flag| flag.name()).collect::<Vec<_>>();
    let own = json!({ "set": names(&file.done.set), "cleared": names(&file.done.cleared) });
    rewritten::object(file, own, notes(file))
}

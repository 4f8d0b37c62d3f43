//! `headstart record --export`: a recording as a list for tools that make images.

use super::Arguments;
use crate::exit::Usage;
use crate::output;
use anyhow::Result;
use prefetch::export::{self, ListFormat};
use prefetch::store;
use std::path::Path;
use std::process::ExitCode;

/// A format, as it is typed.
pub fn format(text: &str) -> Result<ListFormat, String> {
    let known = ListFormat::ALL.iter().find(|format| format.word() == text);
    known.copied().ok_or_else(|| "write mksquashfs, estargz or nydus".to_owned())
}

/// Prints the list, or writes it to the file of --out.
pub fn run(arguments: &Arguments, format: ListFormat) -> Result<ExitCode> {
    let [one] = arguments.command.as_slice() else {
        return Err(
            Usage("--export takes one recording: the file of record --out".to_owned()).into()
        );
    };
    let recording = store::load(Path::new(one))?;
    let list = export::text(&recording, format, &arguments.root)
        .map_err(|problem| Usage(problem.to_string()))?;
    match &arguments.out {
        Some(out) => {
            output::may_be_written_beside(out, [Path::new(one)])?;
            output::write_file(out, &list.text)?;
        }
        None => output::print(&list.text)?,
    }
    if let Some(first) = list.left_out.first() {
        output::tell(format_args!(
            "note: {} of the recorded files are not below {} and not in the list, such as {first}",
            list.left_out.len(),
            output::quoted(&arguments.root)
        ));
    }
    Ok(ExitCode::SUCCESS)
}

//! The question that the document leaves open: whole files read ahead (OpenOffice's `pagein`, run by
//! the script that starts the program), an order of functions, both, or neither.

use super::OpenOfficeError;
use super::places::Places;
use crate::verify::{VerifyRequest, cold, times};
use model::{Command, PageinForm, PageinRow, ReadFile, Reading, Results, Variant};
use os::LaunchError;
use os::launcher::Launcher;
use std::ffi::OsString;
use std::path::PathBuf;

/// The script that starts the program, as OpenOffice has one.
const START: &str = r#"exec "$0" "$@""#;
/// The script that reads all of the program first.
const PAGEIN: &str = r#"cat "$0" >/dev/null; exec "$0" "$@""#;

/// The forms, that without anything first.
const FORMS: [PageinForm; 4] =
    [PageinForm::Neither, PageinForm::Pagein, PageinForm::Order, PageinForm::Both];

/// Launches all forms cold, in turns: for their reads, and for their times.
pub fn compare(
    places: &Places,
    arguments: &[OsString],
    request: &VerifyRequest,
    launcher: Launcher,
) -> Result<Vec<PageinRow>, OpenOfficeError> {
    let commands = FORMS.iter().map(|form| command(*form, places, arguments));
    let commands: Vec<Command> = commands.collect::<Result<_, _>>()?;
    let watched: [(&Command, Vec<PathBuf>); FORMS.len()] =
        std::array::from_fn(|at| (&commands[at], vec![program(FORMS[at], places)]));
    let reads = cold::in_turns(watched, request, cold::LAUNCHES)?;
    let variants = FORMS.iter().zip(commands);
    let variants = variants.map(|(form, command)| Variant::new(form.words().to_owned(), command));
    let files = [places.before.clone(), places.after.clone()];
    let times = times::cold_in_turns(variants.collect(), request, launcher, &files)?;
    let rows = FORMS.iter().zip(&reads);
    Ok(rows.map(|(form, reads)| row(*form, &cold::median_of(reads), &times)).collect())
}

fn program(form: PageinForm, places: &Places) -> PathBuf {
    match form {
        PageinForm::Neither | PageinForm::Pagein => places.before.clone(),
        PageinForm::Order | PageinForm::Both => places.after.clone(),
    }
}

fn command(
    form: PageinForm,
    places: &Places,
    arguments: &[OsString],
) -> Result<Command, LaunchError> {
    let script = match form {
        PageinForm::Neither | PageinForm::Order => START,
        PageinForm::Pagein | PageinForm::Both => PAGEIN,
    };
    let program = program(form, places).into_os_string();
    let words: [OsString; 4] = ["sh".into(), "-c".into(), script.into(), program];
    let words: Vec<OsString> = words.into_iter().chain(arguments.iter().cloned()).collect();
    os::program::resolve(&words)
}

fn row(form: PageinForm, reads: &Reading<&[ReadFile]>, times: &Reading<Results>) -> PageinRow {
    let sum = |of: fn(&ReadFile) -> u64| reads.clone().map(|files| files.iter().map(of).sum());
    let name = form.words();
    PageinRow {
        form,
        reads: sum(|file| file.reads.len() as u64),
        bytes: sum(ReadFile::bytes),
        distance: sum(cold::distance),
        major_faults: sum(|file| file.major_faults),
        read_us: reads.clone().map(cold::all_read_us),
        median_us: match times {
            Reading::Value(results) => {
                let variant = results.variants.iter().find(|variant| variant.name == name);
                let missing = Reading::unavailable("no launch was counted", "");
                variant.map_or(missing, |variant| Reading::Value(variant.summary.median_us))
            }
            Reading::Unavailable { reason, remedy } => Reading::unavailable(reason, remedy),
        },
        effect: times.value().and_then(|results| {
            results.effects.iter().find(|effect| effect.variant == name).cloned()
        }),
    }
}

//! The question that the document leaves open: whole files read ahead (OpenOffice's `pagein`, run by
//! the script that starts the program), an order of functions, both, or neither.

use super::OpenOfficeError;
use super::places::Places;
use crate::verify::{VerifyRequest, cold, for_root, times};
use model::{CacheState, Command, PageinForm, PageinRow, ReadFile, Reading, Results, Variant};
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
    let reads = match cold::in_turns(watched, request, cold::LAUNCHES) {
        Ok(reads) => Ok(reads),
        Err(error @ LaunchError::NotPermitted { .. }) => Err(error),
        Err(error) => return Err(error.into()),
    };
    let variants = FORMS.iter().zip(commands);
    let variants = variants.map(|(form, command)| Variant::new(form.words().to_owned(), command));
    let how = (request.cold_rounds, CacheState::ColdEvicted);
    let times = times::in_turns(variants.collect(), request, launcher, how)?;
    let rows = FORMS.iter().enumerate();
    Ok(rows
        .map(|(at, form)| row(*form, reads.as_ref().map(|reads| cold::median(&reads[at])), &times))
        .collect())
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

fn row(
    form: PageinForm,
    reads: Result<&[ReadFile], &LaunchError>,
    times: &Reading<Results>,
) -> PageinRow {
    let sum = |of: fn(&ReadFile) -> u64| match reads {
        Ok(files) => Reading::Value(files.iter().map(of).sum()),
        Err(error) => for_root(error),
    };
    let name = form.words();
    PageinRow {
        form,
        reads: sum(|file| file.reads.len() as u64),
        bytes: sum(ReadFile::bytes),
        distance: sum(cold::distance),
        major_faults: sum(|file| file.major_faults),
        read_us: match reads {
            Ok(files) => Reading::Value(files.iter().map(cold::read_us).sum()),
            Err(error) => for_root(error),
        },
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

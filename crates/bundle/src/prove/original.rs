//! What a launch does that starts the original in the place of what was made of it.

use crate::verify::{is_already, looks};
use image::ImageError;
use image::elf::Loadable;
use loader::{Environment, GraphError};
use model::bundle::{BundleChange, ChangeKind, Starts};
use model::text::{name, text};
use startup::STALE_VARIABLE;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What is started, and what is to be said of it, to follow the program's path.
pub struct Original {
    /// [`Starts::Original`] or [`Starts::Nothing`].
    pub starts: Starts,
    /// What is there now, or why it cannot be started.
    pub instead: Option<String>,
}

impl Original {
    /// By the environment.
    pub fn forbidden() -> Original {
        let reason = format!(
            "{STALE_VARIABLE} is set to something other than a number, which forbids that: unset it"
        );
        Original { starts: Starts::Nothing, instead: Some(reason) }
    }
}

/// What becomes of a launch of `program` by `run`, as things are now. `changes`: what is known to
/// have changed; a program that cannot be started is added to it, where it is not there.
pub fn launched(program: &str, run: &Path, changes: &mut Vec<BundleChange>) -> Original {
    let path = name(program);
    let path = Path::new(&path);
    if let Some(reason) = fails(path, run) {
        if changes.iter().all(|change| change.path != program) {
            let what = if path.exists() { ChangeKind::Changed } else { ChangeKind::Missing };
            let (path, found) = (program.to_owned(), reason.clone());
            changes.push(BundleChange { path, what, found });
        }
        return Original { starts: Starts::Nothing, instead: Some(reason) };
    }
    let is_changed =
        |change: &BundleChange| change.path == program && change.what == ChangeKind::Changed;
    let other = is_script(path).then(|| SCRIPT.to_owned()).or_else(|| {
        let image = Loadable::open(path).ok()?;
        let of = text(&looks(&image)?.original);
        Some(format!("which is a bundle of {of} now"))
    });
    let other = other.or_else(|| {
        changes.iter().any(is_changed).then(|| "whose content is different now".to_owned())
    });
    Original { starts: Starts::Original, instead: other }
}

const SCRIPT: &str = "which is a script now (if that starts this bundle again and again, run ends \
                      with exit code 127)";

/// Why a launch of the program ends before its own code.
fn fails(program: &Path, run: &Path) -> Option<String> {
    if let Some(error) = os::program::refusal(program) {
        return Some(error.to_string());
    }
    let same = |one: std::fs::Metadata, other: std::fs::Metadata| {
        (one.dev(), one.ino()) == (other.dev(), other.ino())
    };
    if let (Ok(one), Ok(other)) = (program.metadata(), run.metadata())
        && same(one, other)
    {
        return Some(ITSELF.to_owned());
    }
    let of_itself = |image: &Loadable| looks(image).is_some_and(|looks| looks.original == program);
    if Loadable::open(program).ok().as_ref().is_some_and(of_itself) {
        return Some(ITSELF.to_owned());
    }
    not_loaded(program)
}

/// Whether a launch of the program comes to its own code.
pub fn starts(program: &Path, run: &Path) -> bool {
    fails(program, run).is_none()
}

const ITSELF: &str = "the bundle itself stands in the original program's place; put the original \
                      back";

/// Why the loader ends the launch of a program; `None` where it does not, or where that cannot be
/// told, as with another loader.
pub fn not_loaded(program: &Path) -> Option<String> {
    match loader::load(program, &Environment::own()) {
        Err(error @ (GraphError::Library { .. } | GraphError::CutShort { .. })) => {
            Some(error.to_string())
        }
        _ => None,
    }
}

/// Whether nothing can be made of what stands in the original's place: a script, a static program,
/// a bundle, or one with privileges.
pub fn is_unsuitable(program: &Path) -> bool {
    match Loadable::open(program) {
        Ok(image) => {
            image.interpreter.is_none()
                || is_already(&image).is_some()
                || files::privilege(program).is_some()
        }
        // Whoever may read it knows.
        Err(error) => !matches!(error, ImageError::Io { .. }),
    }
}

fn is_script(program: &Path) -> bool {
    let mut start = [0; 2];
    File::open(program).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *b"#!"
}

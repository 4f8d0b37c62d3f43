//! One loop for those who build the program: trace, order, link again, verify.

use crate::orders::Algorithm;
use crate::plan::plan;
use crate::record;
use crate::shell;
use crate::subject::Subject;
use crate::summary;
use crate::verify::{HeldOutCommand, VerifyError, VerifyRequest, VerifyStep, verify};
use crate::write::{self, Linker};
use files::{Permit, WriteError};
use image::ImageError;
use model::{Command, OrderReport, OrderVerification, quoted, text};
use os::LaunchError;
use os::launcher::Launcher;
use os::trace::functions;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// Stands for the order file in the command that links again.
pub const ORDER: &str = "@ORDER@";
/// Stands for the program that it makes, where that is not to take the old one's place.
pub const OUT: &str = "@OUT@";

/// What to try.
#[derive(Clone, Debug)]
pub struct AttemptRequest {
    /// The launch that matters most.
    pub launch: Command,
    /// Further launches for which the order is made.
    pub also: Vec<Command>,
    /// Launches for which it is not made, and which must not become worse.
    pub held_out: Vec<Command>,
    /// The command that links again, for a shell, with [`ORDER`] and perhaps [`OUT`] in it.
    pub relink: String,
    /// Where it puts the program, for [`OUT`]; else it replaces the program that is launched.
    pub out: Option<PathBuf>,
    /// The linker that reads the order.
    pub linker: Linker,
    /// How the order is made.
    pub algorithm: Algorithm,
    /// Where the order file is left.
    pub order: PathBuf,
    /// How both builds are compared; its commands are filled in here.
    pub verify: VerifyRequest,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempted {
    /// The order, and what it was to change.
    pub order: OrderReport,
    /// What it has changed.
    pub verification: OrderVerification,
}

/// Why nothing came of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttemptError {
    /// A launch could not be made or recorded.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The program could not be read.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The order file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The builds could not be compared.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// The old program could not be kept beside the new one.
    #[error(
        "'{path}' could not be copied before the relink: {source}; make room in its folder, and check \
         that you may write there"
    )]
    Keep {
        /// The program.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The command that links again failed.
    #[error("the relink command ended with {ending}: {command}; its output is above")]
    Relink {
        /// The command.
        command: String,
        /// Its end, in words.
        ending: String,
    },
    /// It made no other program.
    #[error(
        "'{path}' is the same file after the relink; check that the command really links, and that \
         it passes the order file ({ORDER}) to the linker"
    )]
    Unchanged {
        /// The program.
        path: PathBuf,
    },
}

/// Traces, orders, links again and verifies. `launchers` were started before anything large was in
/// memory: for the relink command, and for warm and cold launches.
///
/// The program that was there is kept until the end, and removed then.
///
/// # Errors
/// [`AttemptError`]. The order file is left where it was written already.
pub fn attempt(
    request: AttemptRequest,
    launchers: [Launcher; 3],
    observer: &mut dyn FnMut(VerifyStep),
) -> Result<Attempted, AttemptError> {
    let mut begin = |what| observer(VerifyStep { what, done: 0, of: 1 });
    begin("tracing");
    let [relinker, warm, cold] = launchers;
    let mut order = write_order(&request)?;
    order.file = Some(text::text(&request.order));
    begin("linking again");
    let old = Old::keep(&request)?;
    relink(&request, relinker)?;
    let new = request.out.as_deref().unwrap_or(&request.launch.program);
    old.differs_from(new)?;
    let of_old = |launch: &Command| Command { program: old.path(), ..launch.clone() };
    let of_new = |launch: &Command| Command { program: new.to_owned(), ..launch.clone() };
    let both = |launch: &Command| HeldOutCommand { old: of_old(launch), new: of_new(launch) };
    let verify_request = VerifyRequest {
        old: of_old(&request.launch),
        new: of_new(&request.launch),
        held_out: request.held_out.iter().map(both).collect(),
        ..request.verify.clone()
    };
    let verification = verify(&verify_request, [warm, cold], observer)?;
    Ok(Attempted { order, verification })
}

/// Traces the launches, makes their order, and writes it.
fn write_order(request: &AttemptRequest) -> Result<OrderReport, AttemptError> {
    let launches = [&request.launch].into_iter().chain(&request.also);
    let trace = |launch: &Command| {
        functions(launch, &request.verify.recording).map(|found| record::trace(found, launch))
    };
    let traces = launches.map(trace).collect::<Result<Vec<_>, _>>()?;
    let subject = Subject::open(&request.launch.program)?;
    let plan = plan(&subject, &traces, request.algorithm);
    let functions = summary::ordered_functions(&subject, &plan.order);
    let file =
        write::write(request.linker, &functions, Some(&summary::input_sections(&subject, None)));
    files::write_over(&request.order, file.text.as_bytes(), Permit::Created(0o666))?;
    Ok(summary::report(&subject, &plan, &file))
}

/// The program before it is linked again.
enum Old {
    /// The new one goes elsewhere.
    Stays(PathBuf),
    /// A copy in the same folder, so that it finds what it looks for beside itself.
    Copy(TempPath),
}

impl Old {
    fn keep(request: &AttemptRequest) -> Result<Old, AttemptError> {
        let program = &request.launch.program;
        if request.out.is_some() {
            return Ok(Old::Stays(program.clone()));
        }
        let copy = || {
            let folder = files::folder_of(program);
            let named = tempfile::Builder::new().prefix(".headstart-old-").tempfile_in(folder)?;
            let path = named.into_temp_path();
            std::fs::copy(program, &path)?;
            Ok(path)
        };
        let failed = |source| AttemptError::Keep { path: program.clone(), source };
        copy().map(Old::Copy).map_err(failed)
    }

    fn path(&self) -> PathBuf {
        match self {
            Old::Stays(path) => path.clone(),
            Old::Copy(path) => path.to_path_buf(),
        }
    }

    /// Whether the program was linked again at all.
    fn differs_from(&self, new: &Path) -> Result<(), AttemptError> {
        let content = |path: &Path| std::fs::read(path).ok();
        match (content(&self.path()), content(new)) {
            (Some(old), Some(new)) if old != new => Ok(()),
            _ => Err(AttemptError::Unchanged { path: new.to_owned() }),
        }
    }
}

fn relink(request: &AttemptRequest, mut launcher: Launcher) -> Result<(), AttemptError> {
    let line = build_line(&request.relink, &request.order, request.out.as_deref());
    match shell::run(&line, &mut launcher)? {
        None => Ok(()),
        Some(ending) => Err(AttemptError::Relink { command: line, ending }),
    }
}

/// The command line that links, with its files in the places of [`ORDER`] and [`OUT`].
pub(crate) fn build_line(line: &str, order: &Path, out: Option<&Path>) -> String {
    let order = std::path::absolute(order).unwrap_or_else(|_| order.to_owned());
    let line = line.replace(ORDER, &quoted(&order));
    out.map_or(line.clone(), |out| line.replace(OUT, &quoted(out)))
}

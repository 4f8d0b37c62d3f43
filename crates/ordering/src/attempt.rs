//! One loop for those who build the program: trace, order, link again, verify.

mod error;
mod old;
mod outcome;
mod relink;

use crate::ended::{self, Ended};
use crate::orders::Algorithm;
use crate::plan::plan;
use crate::record;
use crate::subject::Subject;
use crate::summary::{self, Assumption};
use crate::trace::runs::runs;
use crate::verify::{HeldOutCommand, VerifyRequest, VerifyStep, verify};
use crate::write::{self, Linker, Relinker};
pub use error::{AttemptAdvice, AttemptError};
use files::Permit;
use model::{Command, FunctionTrace, OrderReport, OrderVerification, quoted, text};
use old::Old;
use os::launcher::Launcher;
use os::trace::{RecordedFunctions, functions};
pub use outcome::{BecameOfOld, NewBuild};
use std::path::{Path, PathBuf};

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
    /// What that prediction takes for granted.
    pub assumption: Option<Assumption>,
    /// What it has changed.
    pub verification: OrderVerification,
    /// What became of the program that there was before.
    pub old: BecameOfOld,
    /// Where the relink command has put the new one.
    pub new: PathBuf,
}

/// Traces, orders, links again and verifies. `launchers` were started before anything large was in
/// memory: for the relink command, and for warm and cold launches.
///
/// The program that was there is kept until the end. Only if the order is accepted, the new one stays
/// in its place; else the program is put back, and a new one that could be linked is kept beside it.
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
    for launch in &request.held_out {
        of_the_same_program(launch, &request.launch)?;
        // Better found out before the relink.
        recorded(launch, &request)?;
    }
    let [relinker, warm, cold] = launchers;
    let order = write_order(&request)?;
    begin("linking again");
    let old = relink::relinked(&request, relinker)?;
    match verify(&request.comparison(&old.path()), [warm, cold], observer) {
        Ok(verification) => {
            let is_accepted = verification.verdict.is_accepted();
            let old = if is_accepted { old.replaced() } else { old.put_back_beside_new() };
            let (new, assumption) = (request.new_program(), order.assumption);
            Ok(Attempted {
                order: order.report(&request.order),
                assumption,
                verification,
                old,
                new,
            })
        }
        Err(error) => Err(AttemptError::from(error).with(old.put_back_beside_new())),
    }
}

impl AttemptRequest {
    /// Where the relink command puts the program.
    fn new_program(&self) -> PathBuf {
        self.out.as_ref().unwrap_or(&self.launch.program).clone()
    }

    /// The comparison of the program with the old one, which is at `old`.
    fn comparison(&self, old: &Path) -> VerifyRequest {
        let of = |program: PathBuf, launch: &Command| Command { program, ..launch.clone() };
        let both = |launch: &Command| HeldOutCommand {
            old: of(old.to_owned(), launch),
            new: of(self.new_program(), launch),
        };
        let HeldOutCommand { old, new } = both(&self.launch);
        let held_out = self.held_out.iter().map(both).collect();
        VerifyRequest { old, new, held_out, ..self.verify.clone() }
    }
}

/// Only of the relinked program itself there are two builds that can be launched.
fn of_the_same_program(launch: &Command, first: &Command) -> Result<(), AttemptError> {
    let file = |command: &Command| command.program.canonicalize().ok();
    match file(launch).is_some() && file(launch) == file(first) {
        true => Ok(()),
        false => Err(AttemptError::OtherProgram {
            command: launch.line(),
            program: first.program.clone(),
        }),
    }
}

/// An order that was made and written.
struct WrittenOrder {
    report: OrderReport,
    assumption: Option<Assumption>,
    text: String,
}

impl WrittenOrder {
    /// The report, with the file that has the order after the relink: the command may have removed or
    /// changed it.
    fn report(mut self, path: &Path) -> OrderReport {
        let is_device = path.exists() && !path.is_file();
        if is_device || std::fs::read(path).is_ok_and(|bytes| bytes == self.text.as_bytes()) {
            self.report.file = Some(text::text(path));
        } else {
            let done = if path.exists() { "changed" } else { "removed" };
            let path = quoted(path);
            self.report.notes.push(format!("the relink command has {done} the order file {path}"));
        }
        self.report
    }
}

/// Traces the launches, makes their order, and writes it.
fn write_order(request: &AttemptRequest) -> Result<WrittenOrder, AttemptError> {
    let subject = Subject::open(&request.launch.program)?;
    let launches = [&request.launch].into_iter().chain(&request.also);
    let traces = launches.map(|launch| traced(launch, &subject, request));
    let traces = traces.collect::<Result<Vec<_>, _>>()?;
    let sections = summary::input_sections(&subject, None);
    let relinker = Relinker { linker: request.linker, sections: &sections };
    let plan = plan(&subject, &traces, request.algorithm, &relinker);
    let functions = summary::ordered_functions(&subject, &plan.order);
    let file = write::write(request.linker, &functions, Some(&sections));
    if file.functions == 0 {
        return Err(AttemptError::Empty { program: request.launch.program.clone() });
    }
    files::write_named(&request.order, file.text.as_bytes(), Permit::Created(0o666))?;
    let report = summary::report(&subject, &plan, &file);
    let assumption = summary::assumption(&subject, &plan);
    Ok(WrittenOrder { report, assumption, text: file.text })
}

/// A launch that succeeds and calls functions of the program.
fn traced(
    launch: &Command,
    subject: &Subject,
    request: &AttemptRequest,
) -> Result<FunctionTrace, AttemptError> {
    let trace = record::trace(recorded(launch, request)?, launch);
    let found = subject.with_names(|image| runs(std::slice::from_ref(&trace), image));
    if found.runs.is_empty() {
        let program = request.launch.program.clone();
        return Err(AttemptError::NoCalls { command: launch.line(), program });
    }
    Ok(trace)
}

/// A launch that succeeds.
fn recorded(launch: &Command, request: &AttemptRequest) -> Result<RecordedFunctions, AttemptError> {
    let VerifyRequest { recording, ignore_failure, .. } = &request.verify;
    let recorded = functions(launch, recording)?;
    ended::checked(&recorded, recording, *ignore_failure)
        .map_err(|how| AttemptError::Ended(Ended { command: launch.line(), how }))?;
    Ok(recorded)
}

/// The command line that links, with its files in the places of [`ORDER`] and [`OUT`].
pub(crate) fn build_line(line: &str, order: &Path, out: Option<&Path>) -> String {
    let order = std::path::absolute(order).unwrap_or_else(|_| order.to_owned());
    let line = line.replace(ORDER, &quoted(&order));
    out.map_or(line.clone(), |out| line.replace(OUT, &quoted(out)))
}

//! `headstart order write`: an order of functions, made of traces, for a linker.

mod empty;
pub mod notes;

use crate::args::{SnippetArgs, choice, linkers};
use crate::commands::trace::traces_of;
use crate::{input, output};
use anyhow::Result;
use clap::builder::TypedValueParser;
use model::{FunctionTrace, OrderReport, text};
use ordering::counted_traces;
use ordering::launched;
use ordering::maps::{self, LinkerMap, MapFormat};
use ordering::plan::{self, FunctionOrderPlan};
use ordering::subject::Subject;
use ordering::trace::proftext;
use ordering::write::{self, InputSections, Linker, OrderFile, Relinker};
use ordering::{Algorithm, summary};
use rayon::prelude::*;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write an order file for a linker, made from traces, and predict its effect
///
/// Orders the functions of the traced program, or of the module that --module names. Traces of
/// several launches and machines can be combined; each counts by its weight. Traces of another
/// build are matched by name.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Traces of headstart trace, or of any recorder that it imports
    #[arg(value_name = "TRACE", required_unless_present = "trace")]
    traces: Vec<PathBuf>,
    /// Another trace
    #[arg(long, value_name = "FILE")]
    trace: Vec<PathBuf>,
    /// The linker that reads the order file
    #[arg(long, value_name = "LINKER", value_parser = written_for(), required = true)]
    linker: WrittenFor,
    /// Write the order file here [default: standard output]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Print one JSON object with the predictions
    #[arg(long, help_heading = "Output", requires = "out")]
    json: bool,
    #[command(flatten)]
    snippet: SnippetArgs,
    /// Algorithm that makes the order
    #[arg(long, value_name = "NAME", default_value = "signature", value_parser = algorithm())]
    algorithm: Algorithm,
    /// Order the functions of this module: a part of its path in the traces. With --image: the
    /// module that is the image
    #[arg(long, value_name = "NAME")]
    module: Option<String>,
    /// The image that is to be relinked [default: the file at the traced path]
    #[arg(long, value_name = "FILE")]
    image: Option<PathBuf>,
    /// The linker's map of the image, for exact input sections, or for names that the image lacks
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// Also predict each launch with an order made from the others
    #[arg(long)]
    held_out: bool,
}

/// Who reads what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WrittenFor {
    Linker(Linker),
    /// LLVM's profile, from which ld.lld makes an order of its own.
    Llvm,
}

impl WrittenFor {
    /// The linker, if it reads an order file.
    fn linker(self) -> Option<Linker> {
        match self {
            WrittenFor::Linker(linker) => Some(linker),
            WrittenFor::Llvm => None,
        }
    }

    /// The linker that places the functions.
    fn places(self) -> Linker {
        self.linker().unwrap_or(Linker::Lld)
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct Printed<'a> {
    #[serde(flatten)]
    report: &'a OrderReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<String>,
}

fn written_for() -> impl TypedValueParser<Value = WrittenFor> {
    linkers::choice([
        ("lld", WrittenFor::Linker(Linker::Lld)),
        ("gold", WrittenFor::Linker(Linker::Gold)),
        ("bfd", WrittenFor::Linker(Linker::Bfd)),
        ("ld-script", WrittenFor::Linker(Linker::Script)),
        ("objcopy", WrittenFor::Linker(Linker::Objcopy)),
        ("ld64", WrittenFor::Linker(Linker::Ld64)),
        ("msvc", WrittenFor::Linker(Linker::Msvc)),
        ("lld-link", WrittenFor::Linker(Linker::LldLink)),
        ("llvm", WrittenFor::Llvm),
    ])
}

fn algorithm() -> impl TypedValueParser<Value = Algorithm> {
    choice([
        ("signature", Algorithm::Signature),
        ("first-call", Algorithm::FirstCall),
        ("call-count", Algorithm::CallCount),
        ("c3", Algorithm::C3),
        ("balanced-partitioning", Algorithm::BalancedPartitioning),
    ])
}

/// Makes the order and writes it.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    arguments.snippet.check(arguments.linker.linker(), arguments.out.as_deref())?;
    arguments.check_out(None)?;
    let (traces, names): (Vec<_>, Vec<_>) = arguments.traces()?.into_iter().unzip();
    let map = arguments.map()?;
    let subject = arguments.subject(&traces, map.as_ref())?;
    arguments.check_out(Some(&PathBuf::from(text::name(&subject.path))))?;
    let sections = summary::input_sections(&subject, map.as_ref());
    let relinker = Relinker { linker: arguments.linker.places(), sections: &sections };
    let plan = plan::plan(&subject, &traces, arguments.algorithm, &relinker);
    let file = arguments.order_file(&subject, &plan, &traces, &sections);
    let mut report = summary::report(&subject, &plan, &file);
    report.notes.extend(ordering::trace::failed(&traces));
    let assumption = summary::assumption(&subject, &plan);
    report.notes.extend(assumption.map(|it| notes::assumed(it, map.is_some())));
    let of_traces = counted_traces::notes(&subject, &plan, &traces, &names);
    report.notes.extend(of_traces.iter().map(notes::of_traces));
    if let Some(map) = &map {
        report.notes.extend(arguments.moved_along(&subject, &plan, map));
        report.notes.extend(other_build(&subject, map));
    }
    if arguments.held_out {
        let held_out = plan::held_out(&subject, &plan.matched, arguments.algorithm, &relinker);
        report.held_out = (!held_out.runs.is_empty()).then(|| held_out.means().into());
        if plan.matched.runs.len() == 1 {
            report.notes.push("there is only one launch, so none can be held out".to_owned());
        }
    }
    empty::check(arguments.out.as_deref(), &mut report, &file)?;
    arguments.print(&mut report, &file)?;
    Ok(ExitCode::SUCCESS)
}

/// Says that a map cannot tell what moves together, as it is of another build.
fn other_build(subject: &Subject, map: &LinkerMap) -> Option<String> {
    let of_no_use = !map.code_sections.is_empty() && !subject.has_sections;
    of_no_use.then(|| {
        "the map is of another build, so the predictions make no use of it; give the map of this build"
            .to_owned()
    })
}

impl Arguments {
    /// Whether the order file can be written, and is no file that is read.
    fn check_out(&self, subject: Option<&PathBuf>) -> Result<()> {
        let Some(out) = &self.out else { return Ok(()) };
        let inputs = self.traces.iter().chain(&self.trace).chain(&self.image).chain(&self.map);
        output::may_be_written_beside(out, inputs.chain(subject).map(PathBuf::as_path))
    }

    /// The traces with what to call them.
    fn traces(&self) -> Result<Vec<(FunctionTrace, String)>> {
        let paths: Vec<&PathBuf> = self.traces.iter().chain(&self.trace).collect();
        let read: Vec<_> = paths.par_iter().map(|path| traces_of(path, None)).collect();
        let mut named = Vec::new();
        // The first file that cannot be read is told, as if they were read one by one.
        for (path, traces) in paths.into_iter().zip(read) {
            let path = output::quoted(path);
            let traces = traces?;
            let is_only = traces.len() == 1;
            named.extend(traces.into_iter().enumerate().map(|(at, trace)| match is_only {
                true => (trace, path.clone()),
                false => (trace, format!("{path} (trace {})", at + 1)),
            }));
        }
        Ok(named)
    }

    fn map(&self) -> Result<Option<LinkerMap>> {
        let Some(path) = &self.map else { return Ok(None) };
        Ok(Some(maps::read(&path.display().to_string(), &input::read(path)?)?))
    }

    /// The image whose functions are ordered: that of `--image`, else the traced file, else what
    /// the map describes. A DLL itself does not have its linker's names, but the map has.
    fn subject(&self, traces: &[FunctionTrace], map: Option<&LinkerMap>) -> Result<Subject> {
        let mut subject = match &self.image {
            Some(image) => Subject {
                module: self.module.as_deref().map(|_| self.traced_module(traces)).transpose()?,
                ..Subject::open(image)?
            },
            None => {
                let traced = self.traced_module(traces)?;
                let path = PathBuf::from(text::name(&traced));
                let is_described =
                    |map: &&LinkerMap| map.format == MapFormat::Msvc || !path.is_file();
                if let Some(map) = map.filter(is_described) {
                    let subject = Subject::of_map(traced, map);
                    return Ok(match self.linker {
                        WrittenFor::Linker(Linker::LldLink) => subject.with_movable_statics(),
                        _ => subject,
                    });
                }
                Subject::open(&path)?
            }
        };
        if let Some(map) = map {
            subject.use_sections(map);
        }
        Ok(subject)
    }

    /// The path of the module in the traces.
    fn traced_module(&self, traces: &[FunctionTrace]) -> Result<String> {
        let found = match &self.module {
            Some(wanted) => launched::named(traces, wanted),
            None => launched::launched(traces),
        };
        Ok(found?)
    }

    fn order_file(
        &self,
        subject: &Subject,
        plan: &FunctionOrderPlan,
        traces: &[FunctionTrace],
        sections: &InputSections,
    ) -> OrderFile {
        let functions = summary::ordered_functions(subject, &plan.order);
        match self.linker {
            WrittenFor::Linker(linker) => {
                let mut file = write::write(linker, &functions, Some(sections));
                if linker == Linker::Msvc {
                    file.left_out.extend(write::statics(subject, &plan.matched));
                }
                file
            }
            WrittenFor::Llvm => {
                let is_it = |trace: &FunctionTrace, call: &model::FirstCall| {
                    let mut each = traces.iter().zip(&plan.matched.traces);
                    let own = each.find(|(other, _)| std::ptr::eq(*other, trace));
                    own.is_some_and(|(_, own)| own.modules.get(call.module.index()) == Some(&true))
                };
                let text = proftext::write(traces, is_it).text;
                let functions = functions.len();
                OrderFile { text, functions, names: functions, left_out: Vec::new() }
            }
        }
    }

    /// What moves although the order does not have it, where the map tells.
    fn moved_along(
        &self,
        subject: &Subject,
        plan: &FunctionOrderPlan,
        map: &LinkerMap,
    ) -> Option<String> {
        let WrittenFor::Linker(linker) = self.linker else { return None };
        let functions = summary::ordered_functions(subject, &plan.order);
        let along = write::moved_along(linker, &functions, map);
        let example = along.example.map_or(String::new(), |name| format!(", such as {name}"));
        let note = match along.functions {
            1 => format!(
                "1 function that no trace contains moves along: it shares an input section or a name \
                 with an ordered function{example}"
            ),
            functions => format!(
                "{functions} functions that no trace contains move along: they share an input section \
                 or a name with an ordered function{example}"
            ),
        };
        (along.functions > 0).then_some(note)
    }

    fn print(&self, report: &mut OrderReport, file: &OrderFile) -> Result<()> {
        let (linker, out) = (self.linker.linker(), self.out.as_deref());
        let below = self.snippet.below(linker, out)?;
        let Some(out) = out else {
            output::print(&file.text)?;
            output::print_aside(&(report::order::view(report, &output::style_aside()) + &below));
            return Ok(());
        };
        output::write_file(out, &file.text)?;
        report.file = Some(text::text(out));
        let snippet = self.snippet.text(linker, Some(out))?;
        output::print_either(self.json, &Printed { report, snippet }, |style| {
            report::order::view(report, style) + &below
        })
    }
}

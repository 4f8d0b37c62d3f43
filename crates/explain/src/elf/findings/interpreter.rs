//! The finding on a program that is an interpreter, which finds, loads and runs its own files.

use super::{Context, Scope, own_code};
use crate::names::base_name;
use model::figures::count;
use model::{Finding, Phase, ProcessReport, Reading};

/// An interpreter's own start is told from this share of the launch.
const SHARE: f64 = 0.2;

/// Interpreters by the beginning of their name, and what makes their start shorter.
const INTERPRETERS: [(&str, &str); 6] = [
    (
        "python",
        "python3 -X importtime lists the time of each import. If the script needs no installed \
         packages, -I ignores the user's settings and -S the site folders.",
    ),
    ("perl", "Load modules on demand (require inside a function), and shorten @INC."),
    ("ruby", "Use --disable=gems if no gem is needed; load on demand (autoload)."),
    (
        "node",
        "Bundle the modules into one file, and keep compiled code (module.enableCompileCache).",
    ),
    ("php", "Keep compiled scripts (opcache.file_cache), and load classes on demand."),
    ("guile", "Keep compiled files where %load-compiled-path finds them."),
];

pub(super) fn find(context: &Context) -> Option<Finding> {
    let (process, remedy) = applies(context)?;
    // Of what is nobody else's, the interpreter's part.
    let cost = context.shares.own * context.scopes.part(process, Phase::Main);
    if !context.worth(cost) {
        return None;
    }
    let name = base_name(process.program());
    let mut evidence = Vec::new();
    if let Some(work) = context.explanation.files.value() {
        evidence.push(format!(
            "{} files opened, {} look-ups failed, {} stats, {} listings read",
            count(work.opens),
            count(work.failed),
            count(work.stats),
            count(work.scans)
        ));
    }
    evidence.extend(own_code::left_out(context));
    Some(Finding {
        id: "interpreter".to_owned(),
        cause: format!("{}: {name} starts up and runs its script", context.of_launch(cost)),
        evidence,
        cost_us: Reading::Value(cost),
        phase: Some(Phase::Main),
        part_of: None,
        remedy: remedy.to_owned(),
    })
}

/// The interpreter that the launch is spent in, and its remedy.
pub(super) fn applies<'a>(context: &'a Context) -> Option<(&'a ProcessReport, &'static str)> {
    let process = context.scopes.program().filter(|_| context.scope == Scope::Program)?;
    let name = base_name(process.program());
    let (_, remedy) = INTERPRETERS.iter().find(|(prefix, _)| name.starts_with(prefix))?;
    (context.share(main_us(process)) >= SHARE).then_some((process, *remedy))
}

fn main_us(process: &ProcessReport) -> f64 {
    process.phases.iter().filter(|time| time.phase == Phase::Main).map(|time| time.us).sum()
}

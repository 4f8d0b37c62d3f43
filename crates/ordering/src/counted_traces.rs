//! Which traces an order is made from, which not, and why.

use crate::plan::FunctionOrderPlan;
use crate::subject::Subject;
use crate::trace::incomplete;
use crate::trace::pairing::{PairedBy, TraceMatch};
use model::FunctionTrace;
use std::collections::BTreeMap;

/// What is to be known of traces that a plan was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceNote {
    /// What the traces are called.
    pub traces: Vec<String>,
    /// What there is to say of each of them.
    pub remark: TraceRemark,
}

/// What there is to say of a trace, as data: only the command line knows how its modules are named.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TraceRemark {
    /// A module of another path is taken for the image.
    Taken {
        /// Its path in the trace.
        path: String,
        /// By what it is known.
        by: PairedBy,
        /// Whether it is the same build.
        build: KnownBuild,
    },
    /// It has the build-id of the image, but other functions at its addresses.
    WrongBuildId,
    /// It is not used: none of its modules is the image.
    Elsewhere {
        /// So many it has.
        modules: usize,
    },
    /// It is not used: it has no calls of the image.
    NoCalls,
    /// It is not used: no function of the image has the name or address of its calls.
    Unmatched {
        /// So many it has.
        calls: usize,
    },
    /// Calls may be missing at its end, and why.
    Incomplete(String),
}

/// What build-ids tell of a module that is taken for the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KnownBuild {
    /// It is the same build.
    Same,
    /// It is another one, so functions are matched by name.
    Other,
    /// Nothing.
    Unknown,
}

/// What is to be known of the traces that a plan was made from; `names` are theirs. Traces of which
/// the same is said are named together.
pub fn notes(
    subject: &Subject,
    plan: &FunctionOrderPlan,
    traces: &[FunctionTrace],
    names: &[String],
) -> Vec<TraceNote> {
    let mut said: BTreeMap<TraceRemark, Vec<String>> = BTreeMap::new();
    for ((matched, trace), name) in plan.matched.traces.iter().zip(traces).zip(names) {
        let wrong_id = matched.has_wrong_id.then_some(TraceRemark::WrongBuildId);
        let missing = incomplete(trace).map(|why| TraceRemark::Incomplete(why.to_owned()));
        // That the build-id is not true says more than that it is the same.
        let found = wrong_id.or_else(|| taken(matched, subject));
        let of_it = [found, dropped(matched, trace), missing];
        for remark in of_it.into_iter().flatten() {
            said.entry(remark).or_default().push(name.clone());
        }
    }
    said.into_iter().map(|(remark, traces)| TraceNote { traces, remark }).collect()
}

/// How the image was found in a trace, unless it is there at the same path.
fn taken(matched: &TraceMatch, subject: &Subject) -> Option<TraceRemark> {
    let (by, path) = matched.paired.as_ref()?;
    match by {
        PairedBy::BuildId if *path == subject.path => return None,
        PairedBy::NamesOnly => return None,
        _ => {}
    }
    let build = match (matched.paired_by_build(), matched.is_other_build) {
        (true, _) => KnownBuild::Same,
        (false, true) => KnownBuild::Other,
        (false, false) => KnownBuild::Unknown,
    };
    Some(TraceRemark::Taken { path: path.clone(), by: *by, build })
}

/// Why a trace counts for nothing.
fn dropped(matched: &TraceMatch, trace: &FunctionTrace) -> Option<TraceRemark> {
    if matched.matched > 0 {
        return None;
    }
    Some(match (&matched.paired, matched.calls) {
        (None, _) => TraceRemark::Elsewhere { modules: trace.modules.len() },
        (Some(_), 0) => TraceRemark::NoCalls,
        (Some(_), calls) => TraceRemark::Unmatched { calls },
    })
}

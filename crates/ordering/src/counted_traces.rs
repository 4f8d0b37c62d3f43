//! Which traces an order is made from, which not, and why: in words.

use crate::plan::FunctionOrderPlan;
use crate::subject::Subject;
use crate::trace::incomplete;
use crate::trace::pairing::{PairedBy, TraceMatch};
use model::{FunctionTrace, quoted, text};
use std::collections::BTreeMap;
use std::path::Path;

/// So many traces of which the same is said are named.
const NAMED: usize = 3;

/// What is to be known of the traces that a plan was made from; `names` are theirs.
pub fn notes(
    subject: &Subject,
    plan: &FunctionOrderPlan,
    traces: &[FunctionTrace],
    names: &[String],
) -> Vec<String> {
    let mut said: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for ((matched, trace), name) in plan.matched.traces.iter().zip(traces).zip(names) {
        let of_it = [taken(matched, subject), matched.wrong_id(), dropped(matched, trace)];
        let of_it = of_it.into_iter().flatten();
        for sentence in of_it.chain(incomplete(trace).map(str::to_owned)) {
            said.entry(sentence).or_default().push(name);
        }
    }
    said.into_iter().map(|(sentence, of)| format!("{}: {sentence}", listed(&of))).collect()
}

/// How the image was found in a trace, unless it is there at the same path.
fn taken(matched: &TraceMatch, subject: &Subject) -> Option<String> {
    let (by, path) = matched.paired.as_ref()?;
    let by = match by {
        PairedBy::BuildId if *path == subject.path => return None,
        PairedBy::NamesOnly => return None,
        PairedBy::BuildId => "by the build-id",
        PairedBy::Request => "as --module says",
        PairedBy::Soname => "by the SONAME",
        PairedBy::FileName => "by the file name",
    };
    let build = match (matched.paired_by_build(), matched.is_other_build) {
        (true, _) => "",
        (false, true) => "; it is another build, so functions are matched by name",
        (false, false) => "; no build-id tells whether it is this build",
    };
    Some(format!("{} is taken for the image {by}{build}", quoted(Path::new(&text::name(path)))))
}

/// Why a trace counts for nothing.
fn dropped(matched: &TraceMatch, trace: &FunctionTrace) -> Option<String> {
    if matched.matched > 0 {
        return None;
    }
    let why = match (&matched.paired, matched.calls) {
        (None, _) => format!(
            "none of its modules ({}) is the image by build-id, SONAME or file name; if one is, give \
             both --image and --module",
            trace.modules.len()
        ),
        (Some(_), 0) => "the launch called no function of the image".to_owned(),
        (Some(_), calls) => {
            format!(
                "no function of the image has the name or address of any of its calls ({calls})"
            )
        }
    };
    Some(format!("not used: {why}"))
}

fn listed(names: &[&str]) -> String {
    let shown = names.iter().take(NAMED).copied().collect::<Vec<&str>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

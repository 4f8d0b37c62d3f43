//! What predictions assume and which traces an order is made from, in the words of the command line.

use model::{quoted, text};
use ordering::counted_traces::{KnownBuild, TraceNote, TraceRemark};
use ordering::summary::Assumption;
use ordering::trace::pairing::PairedBy;
use std::path::Path;

/// So many traces of which the same is said are named.
const NAMED: usize = 3;

/// What the predictions assume, and what tells it exactly, unless that was given already.
pub fn assumed(assumption: Assumption, has_map: bool) -> String {
    match assumption {
        Assumption::Alignments(_) => assumption.to_string(),
        Assumption::Sections(_) if has_map => assumption.to_string(),
        Assumption::Sections(_) => format!(
            "{assumption}; the linker's map of this build (order write --map) tells it exactly"
        ),
    }
}

/// A sentence about traces, behind their names.
pub fn of_traces(note: &TraceNote) -> String {
    let shown = note.traces.iter().take(NAMED).cloned().collect::<Vec<String>>().join(", ");
    let listed = match note.traces.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    };
    format!("{listed}: {}", sentence(&note.remark))
}

fn sentence(remark: &TraceRemark) -> String {
    match remark {
        TraceRemark::Taken { path, by, build } => taken(path, *by, *build),
        TraceRemark::WrongBuildId => "it has the build-id of the image, but at its addresses the image \
                                      has functions of other names or sizes: it is of another build, \
                                      and functions are matched by name"
            .to_owned(),
        TraceRemark::Elsewhere { modules } => format!(
            "not used: none of its modules ({modules}) is the image by build-id, SONAME or file name; \
             if one is, give both --image and --module"
        ),
        TraceRemark::NoCalls => "not used: the launch called no function of the image".to_owned(),
        TraceRemark::Unmatched { calls } => format!(
            "not used: no function of the image has the name or address of any of its calls ({calls})"
        ),
        TraceRemark::Incomplete(why) => why.clone(),
    }
}

fn taken(path: &str, by: PairedBy, build: KnownBuild) -> String {
    let by = match by {
        PairedBy::BuildId => "by the build-id",
        PairedBy::Request => "as --module says",
        PairedBy::Soname => "by the SONAME",
        PairedBy::FileName => "by the file name",
        PairedBy::NamesOnly => "as it has only names",
    };
    let build = match build {
        KnownBuild::Same => "",
        KnownBuild::Other => "; it is another build, so functions are matched by name",
        KnownBuild::Unknown => "; no build-id tells whether it is this build",
    };
    format!("{} is taken for the image {by}{build}", quoted(Path::new(&text::name(path))))
}

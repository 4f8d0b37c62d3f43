//! Which modules of a trace are the image whose functions are ordered.

use super::runs::{OrderedImage, file_name};
use model::{FunctionModule, FunctionTrace};

/// How a module is known to be the image, the surest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PairedBy {
    /// They have the same build-id.
    BuildId,
    /// It was asked for.
    Request,
    /// Its file is named after the image's SONAME, as versions of a library are.
    Soname,
    /// Their files have the same name.
    FileName,
    /// The trace has names of functions only.
    NamesOnly,
}

/// What of a trace is of the image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceMatch {
    /// How its modules are known, and the path of the first; `None` where none is the image.
    pub paired: Option<(PairedBy, String)>,
    /// Which of its modules are the image.
    pub modules: Vec<bool>,
    /// Whether the build-ids tell that it is another build.
    pub is_other_build: bool,
    /// Whether it has the build-id of the image, but functions of other names or sizes at its
    /// addresses.
    pub has_wrong_id: bool,
    /// Calls of the image that were matched.
    pub matched: usize,
    /// All calls of the image.
    pub calls: usize,
}

impl TraceMatch {
    /// Whether the build-id tells that it is this build.
    pub fn paired_by_build(&self) -> bool {
        matches!(self.paired, Some((PairedBy::BuildId, _)))
    }
}

/// Which modules of the trace are the image: what is known surest counts.
pub(super) fn pair(trace: &FunctionTrace, image: &OrderedImage<'_>) -> TraceMatch {
    let modules = || trace.modules.iter();
    let known: Vec<Option<PairedBy>> = modules().map(|module| known_by(module, image)).collect();
    let best = known.iter().flatten().min().copied();
    let is_image: Vec<bool> = known.iter().map(|by| best.is_some() && *by == best).collect();
    let first = modules().zip(&is_image).find(|(_, is_image)| **is_image);
    let found = first.map(|(module, _)| module);
    let ids = found.and_then(|module| module.build_id.as_deref()).zip(image.build_id);
    TraceMatch {
        modules: is_image,
        paired: best.zip(found.map(|module| module.path.clone())),
        is_other_build: ids.is_some_and(|(one, other)| one != other),
        ..TraceMatch::default()
    }
}

fn known_by(module: &FunctionModule, image: &OrderedImage<'_>) -> Option<PairedBy> {
    let name = file_name(&module.path);
    let is_version = |soname: &str| {
        let version = name.strip_prefix(soname);
        version.is_some_and(|version| version.is_empty() || version.starts_with('.'))
    };
    let is_asked = |path: &str| path == module.path || file_name(path) == name;
    if module.build_id.is_some() && module.build_id.as_deref() == image.build_id {
        Some(PairedBy::BuildId)
    } else if image.module.is_some_and(is_asked) {
        Some(PairedBy::Request)
    } else if image.soname.is_some_and(is_version) {
        Some(PairedBy::Soname)
    } else if !name.is_empty() && name.eq_ignore_ascii_case(file_name(image.path)) {
        Some(PairedBy::FileName)
    } else {
        (module.names_only && module.path.is_empty()).then_some(PairedBy::NamesOnly)
    }
}

//! Which modules are merged, and which stay outside, and why.

use crate::choose::{bounds, by_processor};
use image::elf::loadable::{Symbol, SymbolKind};
use image::elf::{Loadable, trailing_data};
use loader::Graph;
use loader::graph::Module;
use model::bundle::BundleCheck;
use model::{ModuleId, text};
use std::path::Path;

/// Whether a module is merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Membership {
    /// In the bundle.
    Merged,
    /// A file of its own, with the reason.
    Outside(String),
}

impl Membership {
    /// Whether it is in the bundle.
    pub fn is_merged(&self) -> bool {
        *self == Membership::Merged
    }
}

/// Name of the C library.
pub(crate) const C_LIBRARY: &str = "libc.so.6";
/// Where the C library has `dl_iterate_phdr`, while whose callbacks run the loader's list of libraries stays as it is.
pub(crate) fn iterate(graph: &Graph) -> Option<u64> {
    let c_library = graph.modules.iter().find(|module| name_of(module) == C_LIBRARY)?;
    let mut symbols = c_library.image.symbols().map(|(_, symbol)| symbol);
    let is_meant = |it: &Symbol<'_>| it.defined && it.kind == SymbolKind::Function;
    let found = symbols.find(|it| it.name == b"dl_iterate_phdr" && is_meant(it));
    found.map(|symbol| symbol.value.0)
}

/// Libraries that glibc before 2.34 has beside libc.so.6, with a function of each; later ones have
/// files of these names with nothing in them.
const PARTS: [(&str, &[u8]); 2] = [("libpthread.so.", b"pthread_create"), ("libdl.so.", b"dlopen")];

/// For each module of the graph, whether it is merged. `keep_outside`: names or paths of libraries, or folders,
/// that the user wants to stay outside. `check`: whether the bundle may come to another processor.
pub(crate) fn choose(
    graph: &Graph,
    keep_outside: &[String],
    check: BundleCheck,
) -> Vec<Membership> {
    let here_only =
        |module| (check != BundleCheck::Host).then(|| by_processor::of_library(module))?;
    let mut memberships: Vec<Membership> = graph
        .numbered()
        .map(|(id, module)| {
            let reason = reason(graph, id, module, keep_outside);
            (id, reason.or_else(|| here_only(module)))
        })
        .map(|(id, reason)| match reason {
            Some(reason) if id != ModuleId::PROGRAM => Membership::Outside(reason),
            _ => Membership::Merged,
        })
        .collect();
    close(graph, &mut memberships);
    memberships
}

fn reason(graph: &Graph, id: ModuleId, module: &Module, keep_outside: &[String]) -> Option<String> {
    let name = name_of(module);
    if module.path == graph.interpreter || name.starts_with("ld-linux") {
        return Some("the loader itself".to_owned());
    }
    if name.starts_with("libc.so.") {
        return Some("the C library, which belongs to the loader".to_owned());
    }
    let part = PARTS.iter().find(|(part, _)| name.starts_with(part));
    if part.is_some_and(|(_, function)| defines(&module.image, function)) {
        return Some("a part of the C library before 2.34 that belongs to the loader".to_owned());
    }
    if is_kept_outside(keep_outside, module) {
        return Some("asked for".to_owned());
    }
    if id == ModuleId::PROGRAM {
        return None;
    }
    if module.image.first_initialized {
        return Some("it is initialized before all others (DF_1_INITFIRST)".to_owned());
    }
    cannot_be_merged(&module.image).or_else(|| carries(&module.image))
}

/// Whether the user wants a library to stay outside.
pub(crate) fn is_kept_outside(keep_outside: &[String], module: &Module) -> bool {
    let name = name_of(module);
    keep_outside.iter().any(|wanted| is_meant(wanted, module, &name))
}

/// Why an image cannot be part of another file at all.
pub(crate) fn cannot_be_merged(image: &Loadable) -> Option<String> {
    if image.has_text_relocations() {
        return Some("its code is relocated (DT_TEXTREL); build it with -fPIC".to_owned());
    }
    if image.fixed && image.interpreter.is_none() {
        return Some("its addresses are fixed (ET_EXEC)".to_owned());
    }
    if image.segments().iter().all(|segment| !segment.loads()) {
        return Some("it has no PT_LOAD segment".to_owned());
    }
    bounds::fault(image)
}

/// Why a library may have to be a file of its own: it may find its own name and read there.
fn carries(image: &Loadable) -> Option<String> {
    let payload = trailing_data(image)?;
    Some(format!("it has {payload}, which it may read from its own file"))
}

fn defines(image: &Loadable, name: &[u8]) -> bool {
    image.symbols().any(|(_, symbol)| symbol.defined && symbol.name == name)
}

/// The name by which others need it.
pub(crate) fn name_of(module: &Module) -> String {
    let file = || text::text(module.path.file_name().unwrap_or_default());
    module.image.soname.clone().unwrap_or_else(file)
}

fn is_meant(wanted: &str, module: &Module, name: &str) -> bool {
    if wanted.contains('/') {
        let real = module.path.canonicalize().unwrap_or_else(|_| module.path.clone());
        let wanted = text::name(wanted);
        return module.path.starts_with(&wanted) || real.starts_with(&wanted);
    }
    let file = module.path.file_name().unwrap_or_default();
    // `libfoo` means libfoo.so.1 too.
    let stem = |name: &str| {
        name.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with(".so"))
    };
    stem(name) || stem(&text::text(file))
}

/// What a module outside needs stays outside too: nothing that is loaded with the program may
/// need a file that is in the bundle.
fn close(graph: &Graph, memberships: &mut [Membership]) {
    let outside = graph.numbered().zip(&*memberships).filter(|(_, place)| !place.is_merged());
    let mut left: Vec<ModuleId> = outside.map(|((id, _), _)| id).collect();
    while let Some(user) = left.pop() {
        let user = &graph[user];
        for &needed in &user.dependencies {
            let membership = &mut memberships[needed.index()];
            if needed != ModuleId::PROGRAM && membership.is_merged() {
                *membership = Membership::Outside(format!("{} needs it", file_name(&user.path)));
                left.push(needed);
            }
        }
    }
}

pub(crate) fn file_name(path: &Path) -> String {
    text::text(path.file_name().unwrap_or_default())
}

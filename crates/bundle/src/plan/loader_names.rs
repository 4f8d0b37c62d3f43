//! Names by which the loader is to find merged libraries in the bundle (`struct libname_list` of
//! glibc): their SONAMEs, and the paths of their files, so that a plug-in that needs one of them,
//! or a dlopen by name or by path, gets the bundle and not a second copy.

use crate::choose::members;
use crate::plan::layout::Layout;
use loader::Graph;
use model::{ModuleId, text};
use rustc_hash::FxHashSet;
use std::os::unix::ffi::OsStrExt;

/// Bytes of an entry: address of the name, address of the next entry, and a number.
pub(crate) const NODE: u64 = 24;

/// Each name once, in the order of the libraries.
pub(crate) fn of_merged(graph: &Graph, layout: &Layout<'_>) -> Vec<Vec<u8>> {
    let mut seen: FxHashSet<Vec<u8>> = FxHashSet::default();
    let mut names = Vec::new();
    for member in layout.members.iter().skip(1) {
        let module = member.module;
        let real = module.path.canonicalize().unwrap_or_else(|_| module.path.clone());
        let beside = |path: &std::path::Path| {
            path.with_file_name(text::name(&members::name_of(module)))
                .as_os_str()
                .as_bytes()
                .to_vec()
        };
        let all = [
            bytes(&members::name_of(module)),
            bytes(&members::file_name(&module.path)),
            bytes(&members::file_name(&real)),
            module.path.as_os_str().as_bytes().to_vec(),
            real.as_os_str().as_bytes().to_vec(),
            beside(&real),
        ];
        let all = all.into_iter().chain(needed_as(graph, member.id));
        names.extend(all.filter(|name| seen.insert(name.clone())));
    }
    names
}

/// Of a name as text.
fn bytes(name: &str) -> Vec<u8> {
    text::name(name).as_bytes().to_vec()
}

/// Names by which other modules need this one; a file may have several.
fn needed_as(graph: &Graph, module: ModuleId) -> impl Iterator<Item = Vec<u8>> + '_ {
    let complete =
        graph.modules.iter().filter(|user| user.dependencies.len() == user.image.needed.len());
    complete.flat_map(move |user| {
        let needs = user.dependencies.iter().zip(&user.image.needed);
        needs.filter(move |(need, _)| **need == module).map(|(_, name)| bytes(name))
    })
}

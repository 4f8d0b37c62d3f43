//! Loaders seen from outside: which one it is, and the list of modules that it keeps.

use super::images::{self, Image};
use super::maps;
use super::ptrace::{self, Tid};
use model::{LoadBias, MappedVa};
use std::path::Path;
use std::sync::Arc;

/// RT_CONSISTENT of `r_state` (link.h): no change of the module list is under way.
const CONSISTENT: u64 = 0;
/// More modules than any real program has: a damaged list must end.
const MOST_MODULES: usize = 65_536;

/// The loader of an image.
#[derive(Clone)]
pub enum Loader {
    /// A static program has none.
    None,
    /// glibc's; `state` is the address of its `_r_debug`.
    Glibc {
        /// Where.
        state: MappedVa,
    },
    /// musl's, which is the C library too.
    Musl {
        /// Its facts.
        image: Arc<Image>,
        /// Where it is mapped.
        base: LoadBias,
    },
    /// Another, or one that could not be read.
    Unknown,
}

impl Loader {
    /// The loader with facts `image` mapped at `base`.
    pub fn of(image: &Arc<Image>, base: LoadBias) -> Self {
        match image.loader_state {
            _ if image.is_musl() => Loader::Musl { image: Arc::clone(image), base },
            Some(state) => Loader::Glibc { state: base.mapped(state) },
            None => Loader::Unknown,
        }
    }

    /// The C library of its program, and where that is.
    pub fn c_library(&self, tid: Tid) -> Option<(Arc<Image>, LoadBias)> {
        match self {
            Loader::Glibc { state } => find_libc(tid, *state),
            Loader::Musl { image, base } => Some((Arc::clone(image), *base)),
            Loader::None | Loader::Unknown => None,
        }
    }
}

/// A module in the loader's list (`struct link_map`).
pub struct LinkMap {
    /// What is added to the file's addresses.
    pub bias: LoadBias,
    /// Its path; empty for the program itself.
    pub path: String,
    /// Where its dynamic section is mapped.
    pub dynamic: MappedVa,
}

/// The address of musl's `struct r_debug`, which its loader fills just before it calls its hook.
pub fn musl_state(tid: Tid, image: &Image, base: LoadBias) -> Option<MappedVa> {
    let pointer = base.mapped(image.musl_state?);
    let [state] = ptrace::read_words::<1>(tid, pointer)?;
    (state != 0).then_some(MappedVa(state))
}

/// The hook that glibc's loader calls, `r_brk` of `struct r_debug` at `state`.
pub fn hook(tid: Tid, state: MappedVa) -> Option<MappedVa> {
    // r_version, r_map, r_brk, r_state, r_ldbase
    let [_, _, hook] = ptrace::read_words::<3>(tid, state)?;
    (hook != 0).then_some(MappedVa(hook))
}

/// Whether the loader's list of modules is complete.
pub fn is_consistent(tid: Tid, state: MappedVa) -> bool {
    let words = ptrace::read_words::<4>(tid, state);
    words.is_some_and(|[_, _, _, state]| state & 0xffff_ffff == CONSISTENT)
}

/// Visits the modules until `visit` gives something.
pub fn find_module<T>(
    tid: Tid,
    state: MappedVa,
    mut visit: impl FnMut(LinkMap) -> Option<T>,
) -> Option<T> {
    let [_, mut next] = ptrace::read_words::<2>(tid, state)?;
    for _ in 0..MOST_MODULES {
        if next == 0 {
            break;
        }
        // l_addr, l_name, l_ld, l_next
        let [bias, name, dynamic, following] = ptrace::read_words::<4>(tid, MappedVa(next))?;
        let path = ptrace::read_string(tid, MappedVa(name)).unwrap_or_default();
        let (bias, dynamic) = (LoadBias::new(bias), MappedVa(dynamic));
        if let Some(found) = visit(LinkMap { bias, path, dynamic }) {
            return Some(found);
        }
        next = following;
    }
    None
}

/// The file mapped at `address`: slow, and right without any loader's help.
pub fn mapped_file(tid: Tid, address: MappedVa) -> Option<String> {
    let files = maps::files(tid)?;
    files.into_iter().find(|file| file.memory.contains(&address)).map(|file| file.path)
}

/// glibc's C library among the modules, with what is added to its addresses.
fn find_libc(tid: Tid, state: MappedVa) -> Option<(Arc<Image>, LoadBias)> {
    find_module(tid, state, |module| {
        let name = module.path.rsplit('/').next().unwrap_or_default();
        if !(name.starts_with("libc.so") || name.starts_with("libc-2")) {
            return None;
        }
        let image = images::image(Path::new(&model::text::name(&module.path))).ok()?;
        image.exit.is_some().then_some((image, module.bias))
    })
}

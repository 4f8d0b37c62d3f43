//! Loaders seen from outside: which one it is, and the list of modules that it keeps.

use super::images::{self, Image};
use super::ptrace::{self, Tid};
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
        state: u64,
    },
    /// musl's, which is the C library too.
    Musl {
        /// Its facts.
        image: Arc<Image>,
        /// Where it is mapped.
        base: u64,
    },
    /// Another, or one that could not be read.
    Unknown,
}

impl Loader {
    /// The loader with facts `image` mapped at `base`.
    pub fn of(image: &Arc<Image>, base: u64) -> Self {
        match image.loader_state {
            _ if image.is_musl() => Loader::Musl { image: Arc::clone(image), base },
            Some(state) => Loader::Glibc { state: base.wrapping_add(state) },
            None => Loader::Unknown,
        }
    }
}

/// A module in the loader's list (`struct link_map`).
pub struct LinkMap {
    /// What is added to the file's addresses.
    pub bias: u64,
    /// Its path; empty for the program itself.
    pub path: String,
    /// Where its dynamic section is mapped.
    pub dynamic: u64,
}

/// The address of musl's `struct r_debug`, which its loader fills just before it calls its hook.
pub fn musl_state(tid: Tid, image: &Image, base: u64) -> Option<u64> {
    let pointer = base.wrapping_add(image.musl_state?);
    let [state] = ptrace::read_words::<1>(tid, pointer)?;
    (state != 0).then_some(state)
}

/// The hook that glibc's loader calls, `r_brk` of `struct r_debug` at `state`.
pub fn hook(tid: Tid, state: u64) -> Option<u64> {
    // r_version, r_map, r_brk, r_state, r_ldbase
    let [_, _, hook] = ptrace::read_words::<3>(tid, state)?;
    (hook != 0).then_some(hook)
}

/// Whether the loader's list of modules is complete.
pub fn is_consistent(tid: Tid, state: u64) -> bool {
    let words = ptrace::read_words::<4>(tid, state);
    words.is_some_and(|[_, _, _, state]| state & 0xffff_ffff == CONSISTENT)
}

/// Visits the modules until `visit` gives something.
pub fn find_module<T>(
    tid: Tid,
    state: u64,
    mut visit: impl FnMut(LinkMap) -> Option<T>,
) -> Option<T> {
    let [_, mut next] = ptrace::read_words::<2>(tid, state)?;
    for _ in 0..MOST_MODULES {
        if next == 0 {
            break;
        }
        // l_addr, l_name, l_ld, l_next
        let [bias, name, dynamic, following] = ptrace::read_words::<4>(tid, next)?;
        let path = ptrace::read_string(tid, name).unwrap_or_default();
        if let Some(found) = visit(LinkMap { bias, path, dynamic }) {
            return Some(found);
        }
        next = following;
    }
    None
}

/// The file mapped at `address`, from `/proc/TID/maps`: slow, and right without any loader's help.
pub fn mapped_file(tid: Tid, address: u64) -> Option<String> {
    let maps = std::fs::read_to_string(ptrace::proc_path(tid, "maps")).ok()?;
    let holds = |line: &&str| {
        let (start, rest) = line.split_once('-').unwrap_or_default();
        let end = rest.split(' ').next().unwrap_or_default();
        let parse = |text| u64::from_str_radix(text, 16).unwrap_or(0);
        (parse(start)..parse(end)).contains(&address)
    };
    let line = maps.lines().find(holds)?;
    line.find('/').map(|path| line[path..].to_owned())
}

/// glibc's C library among the modules, with what is added to its addresses.
pub fn find_libc(tid: Tid, state: u64) -> Option<(Arc<Image>, u64)> {
    find_module(tid, state, |module| {
        let name = module.path.rsplit('/').next().unwrap_or_default();
        if !(name.starts_with("libc.so") || name.starts_with("libc-2")) {
            return None;
        }
        let image = images::image(Path::new(&model::text::name(&module.path))).ok()?;
        image.exit.is_some().then_some((image, module.bias))
    })
}

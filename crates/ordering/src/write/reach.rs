//! What a linker moves when it reads an order file, which is more or less than the order has: all
//! functions of a listed name, none whose name the file cannot list.

use super::listing::{is_text, unversioned};
use super::sections::{SHARED, SORTED};
use super::{InputSections, Linker, gold, ld64, lld, msvc, objcopy, script};
use crate::predict::TextPlacement;
use crate::subject::Subject;
use model::FunctionId;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// The section of functions that have none of their own.
const SHARED_BY_ALL: &str = ".text";

/// A linker, and what is known of the sections that it places.
#[derive(Clone, Copy, Debug)]
pub struct Relinker<'a> {
    /// Who reads the order file.
    pub linker: Linker,
    /// In which sections the functions are.
    pub sections: &'a InputSections,
}

impl Relinker<'_> {
    /// The functions that move by an order of these, as they follow each other then.
    pub fn moved(&self, subject: &Subject, order: &[FunctionId]) -> Vec<FunctionId> {
        let mut listed: FxHashMap<Cow<'_, str>, usize> = FxHashMap::default();
        let mut moved: Vec<Vec<FunctionId>> = Vec::new();
        for function in order {
            self.listed_keys(&subject.names[function.index()], |key| {
                listed.entry(key).or_insert_with(|| {
                    moved.push(Vec::new());
                    moved.len() - 1
                });
            });
        }
        for at in 0..subject.functions.len() {
            self.own_keys(subject, at, |key| {
                if let Some(place) = listed.get(&key) {
                    moved[*place].push(FunctionId::at(at));
                }
            });
        }
        let mut seen = vec![false; subject.functions.len()];
        let first = moved.into_iter().flatten();
        let first = first.filter(|id| !std::mem::replace(&mut seen[id.index()], true));
        first.filter(|id| subject.functions[id.index()].is_free()).collect()
    }

    /// The layout after these have moved.
    pub fn placement(&self, subject: &Subject, moved: &[FunctionId]) -> TextPlacement {
        match self.linker {
            Linker::Gold => TextPlacement::reordered_behind(&subject.functions, moved),
            _ => TextPlacement::reordered(&subject.functions, moved),
        }
    }

    /// What the file lists for a function of these names: symbols, sections where they are known,
    /// else names that sections are named after.
    fn listed_keys<'a>(&'a self, names: &'a [String], mut key: impl FnMut(Cow<'a, str>)) {
        let names = names.iter().map(String::as_str).filter(|name| !name.is_empty());
        let Some(is_plain) = self.linker.lists_sections() else {
            return names.filter_map(|name| self.linker.symbol(name)).for_each(key);
        };
        let can_list = |section: &str| is_text(section) && is_plain(section);
        let known = names.clone().filter_map(|name| self.sections.known(name));
        let mut is_known = false;
        for sections in known {
            is_known = true;
            let listed = sections.iter().filter(|section| can_list(section));
            listed.for_each(|section| key(Cow::Borrowed(section)));
        }
        if !is_known {
            let listed = names.map(unversioned).filter(|name| match own_section(name) {
                None => false,
                Some(Cow::Borrowed(plain)) => is_plain(plain),
                Some(Cow::Owned(section)) => can_list(&section),
            });
            listed.for_each(|name| key(Cow::Borrowed(name)));
        }
    }

    /// What moves a function if it is listed.
    fn own_keys<'a>(&'a self, subject: &'a Subject, at: usize, mut key: impl FnMut(Cow<'a, str>)) {
        let names = &subject.names[at];
        match subject.sections.get(at).and_then(Option::as_deref) {
            Some(section)
                if self.linker.lists_sections().is_some() && self.is_real(section, names) =>
            {
                key(Cow::Borrowed(section));
            }
            _ => self.listed_keys(names, key),
        }
    }

    /// Whether a section of the map is that of the object file: it was not renamed, and not cut short
    /// at a blank.
    fn is_real(&self, section: &str, names: &[String]) -> bool {
        let mut known = names.iter().map(|name| self.sections.known(name));
        section == SHARED_BY_ALL || (!section.starts_with(SORTED) && known.any(|it| it.is_some()))
    }
}

/// The section that compilers give to a function of that name, unless it is one of many functions;
/// without its beginning, which no format minds, where the name is ordinary.
fn own_section(name: &str) -> Option<Cow<'_, str>> {
    if SHARED.iter().any(|section| section.strip_prefix(".text.") == Some(name)) {
        return None;
    }
    let is_ordinary = name.bytes().all(|byte| byte.is_ascii_graphic());
    Some(if is_ordinary { Cow::Borrowed(name) } else { Cow::Owned(format!(".text.{name}")) })
}

impl Linker {
    /// Whether its file can list a section, if it lists sections.
    fn lists_sections(self) -> Option<fn(&str) -> bool> {
        match self {
            Linker::Gold => Some(gold::is_plain),
            Linker::Bfd | Linker::Script => Some(script::is_plain),
            Linker::Objcopy => Some(objcopy::is_plain),
            Linker::Lld | Linker::Ld64 | Linker::Msvc | Linker::LldLink => None,
        }
    }

    /// What its file lists for a name, if it lists symbols and can list that.
    fn symbol(self, name: &str) -> Option<Cow<'_, str>> {
        let judged = |judged: Result<(), _>| judged.is_ok().then_some(Cow::Borrowed(name));
        match self {
            Linker::Lld => lld::symbol(name).map(Cow::Borrowed),
            Linker::Ld64 => ld64::symbol(name).map(Cow::Owned),
            Linker::Msvc => judged(msvc::judged_by_msvc(name)),
            Linker::LldLink => judged(msvc::judged_by_lld_link(name)),
            Linker::Gold | Linker::Bfd | Linker::Script | Linker::Objcopy => None,
        }
    }
}

//! Which modules of a program get no private copy, and why.

use crate::order_needed::listing::names_asked;
use image::elf::Loadable;
use loader::Graph;
use model::ModuleId;

/// Why a module stays where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutsideReason {
    /// libc, the loader, and what shares private symbols with them: all of one upgrade.
    PartOfLibc,
    /// It asks where its own file is (dladdr): it may look for others beside itself.
    AsksWhereItIs,
    /// It has no DT_SONAME, or is asked for by other names: only its file tells the loader that
    /// it is loaded already.
    NotKnownByName,
    /// It opens libraries, along a DT_RPATH of those that led to it.
    SearchesForOthers,
    /// It has data that is not part of its program, which it may read from its own file.
    CarriesData,
    /// The user said so.
    AsAsked,
}

impl OutsideReason {
    /// In words, to follow a name.
    pub fn text(self) -> &'static str {
        match self {
            OutsideReason::PartOfLibc => "part of libc",
            OutsideReason::AsksWhereItIs => "asks for its own path (dladdr)",
            OutsideReason::NotKnownByName => "needed under names other than its DT_SONAME",
            OutsideReason::SearchesForOthers => "opens libraries along the DT_RPATH of others",
            OutsideReason::CarriesData => "carries data of its own behind or between its sections",
            OutsideReason::AsAsked => "as requested",
        }
    }
}

/// For each module why it stays outside, if it does. The program itself does not: it is copied
/// in any case, and where it looks for its files is for whoever installs it.
pub fn reasons(graph: &Graph, asked: &[String], wanted: &[String]) -> Vec<Option<OutsideReason>> {
    let each = graph.numbered().map(|(id, module)| {
        let image = &module.image;
        let file = module.path.file_name().map(model::text::text);
        let is = |names: &[String]| {
            names
                .iter()
                .any(|name| image.soname.as_ref() == Some(name) || file.as_ref() == Some(name))
        };
        if id == ModuleId::PROGRAM {
            None
        } else if is(asked) {
            Some(OutsideReason::AsAsked)
        } else if module.path == graph.interpreter || is_part_of_libc(image) {
            Some(OutsideReason::PartOfLibc)
        } else if !known_by_name(image, names_asked(graph, id)) {
            Some(OutsideReason::NotKnownByName)
        } else if !is(wanted) && image.refers_to(&[b"dladdr", b"dladdr1"]) {
            Some(OutsideReason::AsksWhereItIs)
        } else if image::elf::trailing_data(image).is_some() {
            Some(OutsideReason::CarriesData)
        } else {
            None
        }
    });
    each.collect()
}

/// Whether everybody asks for it by its own name, so that one who asks later gets the copy.
fn known_by_name<'a>(image: &Loadable, mut asked: impl Iterator<Item = &'a str>) -> bool {
    let Some(soname) = image.soname.as_deref().filter(|name| !name.contains(['/', '$'])) else {
        return false;
    };
    asked.all(|name| name == soname)
}

/// Whether it asks libc for symbols that are libc's private affair, or is a part of libc that
/// does not have to.
fn is_part_of_libc(image: &Loadable) -> bool {
    let private = image.versions().any(|version| version.name == b"GLIBC_PRIVATE");
    let name = image.soname.as_deref().and_then(|name| name.split(".so").next());
    private || name.is_some_and(|name| OF_LIBC.contains(&name))
}

/// Libraries of glibc, most of them empty since 2.34.
const OF_LIBC: [&str; 9] =
    ["libc", "libm", "libdl", "libpthread", "librt", "libutil", "libanl", "libresolv", "libmvec"];

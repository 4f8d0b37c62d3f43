//! Why a plug-in stays as it is.

use crate::carry;
use crate::choose::members;
use crate::plan::layout::PAGE;
use crate::tables::dynamic::PREAMBLE_SECTION;
use image::elf::records::ProgramHeader;
use image::elf::{Loadable, sanitizer, spec, trailing_data};
use loader::{Graph, Module};
use model::ModuleId;

/// DF_1_GLOBAL: the library asks to come into the global scope.
const DF_1_GLOBAL: u64 = 2;

/// Why no plug-in of the program is merged.
pub(super) fn all(graph: &Graph, opens: bool) -> Option<String> {
    if !opens {
        return Some("no merged code calls dlopen, so nobody would open a merged file".to_owned());
    }
    if members::iterate(graph).is_none() {
        return Some(
            "the C library has no dl_iterate_phdr, by which the bundle locks what is loaded"
                .to_owned(),
        );
    }
    let inherited = graph.numbered().skip(1).find(|(_, module)| {
        let image = &module.image;
        image.rpath.is_some() && image.runpath.is_none() && calls(image, &[b"dlopen", b"dlmopen"])
    });
    inherited.map(|(_, module)| {
        let name = members::file_name(&module.path);
        format!("{name} calls dlopen, and its search path (DT_RPATH) would hold for what it opens")
    })
}

/// Why a file is no plug-in that can be merged.
pub(super) fn plugin(image: &Loadable, machine: &str) -> Option<String> {
    if image.machine != machine {
        return Some(format!("it is for {}", image.machine));
    }
    if image.interpreter.is_some() && image.soname.is_none() || image.program {
        return Some("it is a program".to_owned());
    }
    if !image.segments().iter().filter(|segment| segment.loads()).all(is_mappable) {
        return Some(
            "the loader cannot map it: the address, file offset or alignment of a segment does not fit the page size".to_owned(),
        );
    }
    if image.needed.iter().chain(&image.soname).any(String::is_empty) {
        return Some(
            "its name (DT_SONAME), or that of a library that it needs (DT_NEEDED), is empty"
                .to_owned(),
        );
    }
    if image.sections().iter().any(|section| section.name == PREAMBLE_SECTION) {
        return Some("headstart has merged it already".to_owned());
    }
    None
}

/// The loader maps pages: an address and its place in the file are the same within a page (`_dl_map_object_from_fd`).
fn is_mappable(segment: &ProgramHeader) -> bool {
    let distance = segment.address.0.wrapping_sub(segment.offset.0);
    distance.is_multiple_of(PAGE) && segment.alignment.is_multiple_of(PAGE)
}

/// Why a module that is opened with a plug-in cannot be merged. `outside`: what the user wants to stay outside.
pub(super) fn module(module: &Module, outside: &[String]) -> Option<String> {
    let image = &module.image;
    let flag =
        |flag: u64| image.dynamic_value(spec::DT_FLAGS_1).is_some_and(|flags| flags & flag != 0);
    let reason = if members::is_kept_outside(outside, module) {
        Some("it was asked for that it stays outside".to_owned())
    } else if let Some(sanitizer) = sanitizer(image) {
        Some(format!("it is built with {sanitizer}"))
    } else if image.first_initialized {
        Some("it is initialized before all others (DF_1_INITFIRST)".to_owned())
    } else if flag(spec::DF_1_NOOPEN) {
        Some("it must not be opened (DF_1_NOOPEN)".to_owned())
    } else if flag(DF_1_GLOBAL) {
        Some("it comes into the global scope by itself (DF_1_GLOBAL)".to_owned())
    } else if image.filters {
        Some("it stands for another library (DT_FILTER)".to_owned())
    } else if by_processor(module) {
        Some("the loader selects a variant of it by processor".to_owned())
    } else if image.rpath.is_some() && image.runpath.is_none() && calls(image, &[b"dlopen"]) {
        Some("its search path (DT_RPATH) would hold for what it opens".to_owned())
    } else {
        members::cannot_be_merged(image).or_else(|| {
            let payload = trailing_data(image)?;
            Some(format!("it has {payload}, which it may read from its own file"))
        })
    };
    reason.map(|reason| format!("{}: {reason}", module.path.display()))
}

/// Whether a library stays a file of its own, as it comes with the C library.
pub(super) fn is_left(module: &Module) -> bool {
    carry::is_of_c_library(&module.path, &members::name_of(module))
}

fn by_processor(module: &Module) -> bool {
    module.path.components().any(|part| part.as_os_str() == "glibc-hwcaps")
}

/// Whether it refers to one of these functions.
pub(super) fn calls(image: &Loadable, names: &[&[u8]]) -> bool {
    image.symbols().any(|(_, symbol)| !symbol.defined && names.contains(&symbol.name))
}

/// A version that a module asks of a library which does not have it: the loader does not load it.
pub(super) fn missing_version(graph: &Graph, module: ModuleId) -> Option<String> {
    let module = &graph[module];
    let needs = module.image.needed.iter().zip(&module.dependencies);
    for (name, &dependency) in needs {
        let library = &graph[dependency].image;
        let mut has = library.versions().filter(|version| version.library.is_none()).peekable();
        if has.peek().is_none() {
            continue;
        }
        let has: Vec<&[u8]> = has.map(|version| version.name.as_slice()).collect();
        let mut asked = module.image.versions().filter(|version| {
            version.library.as_deref().is_some_and(|library| library == name.as_bytes())
        });
        if let Some(version) = asked.find(|it| !has.contains(&it.name.as_slice())) {
            let version = String::from_utf8_lossy(&version.name);
            let path = module.path.display();
            return Some(format!("{path}: {name} does not have the version {version}"));
        }
    }
    None
}

//! ELF images for x86_64 and glibc's loader, written directly.
//!
//! Formats: System V ABI (gABI) chapters 4 and 5, its x86-64 supplement, and the GNU extensions.

mod bodies;
mod bytes;
mod classes;
mod code;
mod dynamic;
mod hash;
mod headers;
mod image;
mod layout;
mod plt;
mod program;
mod shapes;
mod symbols;

pub(crate) use shapes::shape;

use crate::limits;
use crate::{Arch, By, Counts, Dawson, Files, Pietrek, Size, Unsupported, WorkloadError};
use bodies::{Calls, Functions};
use classes::Classes;
use image::{Export, Image, Place};

/// Where libraries are found: beside the file that needs them.
const ORIGIN: &str = "$ORIGIN";
/// Bytes that the loader's tables and the PLT take for an import, and the longest name used.
const IMPORT_BYTES: u128 = 24 + 8 + 24 + 16 + 8 + bodies::CALL_BYTES as u128 + NAME_BYTES;
const EXPORT_BYTES: u128 = 24 + 8 + 16 + NAME_BYTES;
const NAME_BYTES: u128 = 40;
/// Code, slot and relocation of one global.
const GLOBAL_BYTES: u128 = 7 + 8 + 24;

/// The name of Pietrek's library of that number.
fn library_name(number: u32) -> String {
    format!("libLoadTimeDLL_{number}.so")
}

pub(crate) fn pietrek(pietrek: &Pietrek) -> Result<Files, WorkloadError> {
    refuse_arch(pietrek.arch)?;
    if pietrek.by == By::Ordinal {
        return Err(Unsupported::OrdinalsInElf.into());
    }
    limits::number(pietrek.dlls, "libraries", &[Size::Dlls])?;
    let (dlls, functions, globals) =
        (u128::from(pietrek.dlls), u128::from(pietrek.functions), u128::from(pietrek.globals));
    let each = EXPORT_BYTES + GLOBAL_BYTES * globals;
    limits::image(functions, each, "each library", &[Size::Functions, Size::Globals])?;
    limits::image(dlls * functions, IMPORT_BYTES, "the program", &[Size::Dlls, Size::Functions])?;

    let imports = u64::from(pietrek.dlls) * u64::from(pietrek.functions);
    let relocations = imports * (1 + u64::from(pietrek.globals));
    let counts = Counts { relocations, imports, exports: imports };
    let mut files = Files::new("LoadTimeTest", counts);
    for library in 1..=pietrek.dlls {
        let pietrek = pietrek.clone();
        files.add(library_name(library), false, move || pietrek_library(&pietrek, library));
    }
    let pietrek = pietrek.clone();
    files.add("LoadTimeTest", true, move || pietrek_program(&pietrek));
    Ok(files)
}

fn refuse_arch(arch: Arch) -> Result<(), WorkloadError> {
    match arch {
        Arch::X86_64 => Ok(()),
        Arch::I686 => Err(Unsupported::ElfProcessor.into()),
    }
}

fn pietrek_library(pietrek: &Pietrek, library: u32) -> Vec<u8> {
    let names = (1..=pietrek.functions).map(|function| Pietrek::function(library, function));
    let first = pietrek.identity(library, 1);
    library_of(
        library_name(library),
        names,
        Functions { count: pietrek.functions, globals: pietrek.globals, first },
        Image { lazy: pietrek.lazy, ..Image::default() },
    )
}

/// A library that exports `functions` by these names; `image` says what else it has.
fn library_of(
    soname: String,
    names: impl Iterator<Item = String>,
    functions: Functions,
    image: Image,
) -> Vec<u8> {
    let each = functions.each();
    let exports = (0..).zip(names).map(|(index, name)| Export {
        name,
        place: Place::Code(index * each),
        size: each,
    });
    let exports = exports.chain(image.exports).collect();
    Image { soname: Some(soname), exports, ..image }.emit(&functions)
}

fn pietrek_program(pietrek: &Pietrek) -> Vec<u8> {
    let of_library =
        |library| (1..=pietrek.functions).map(move |function| Pietrek::function(library, function));
    let image = Image {
        program: true,
        needed: (1..=pietrek.dlls).map(library_name).collect(),
        runpath: Some(ORIGIN.to_owned()),
        imports: (1..=pietrek.dlls).flat_map(of_library).collect(),
        lazy: pietrek.lazy,
        ..Image::default()
    };
    image.emit(&Calls { imports: pietrek.dlls * pietrek.functions })
}

pub(crate) fn dawson(dawson: &Dawson) -> Result<Files, WorkloadError> {
    refuse_arch(dawson.arch)?;
    limits::number(dawson.sources, "source files", &[Size::Sources])?;
    limits::number(dawson.classes, "classes in each source file", &[Size::Classes])?;
    let sizes = &[Size::Sources, Size::Classes, Size::Functions];
    // Of a class: type information, name, object, relocations; of a function: code, slot,
    // relocation.
    let each = 16 + 16 + 32 + 8 + 4 * 24 + (16 + 8 + 24) * u128::from(dawson.functions);
    limits::image(dawson.all_classes().into(), each, "the program", sizes)?;

    let relocations = dawson.all_classes() * Classes::new(dawson).relatives_each();
    let mut files = Files::new("main", Counts { relocations, ..Counts::default() });
    let dawson = dawson.clone();
    files.add("main", true, move || {
        Image { program: true, ..Image::default() }.emit(&Classes::new(&dawson))
    });
    Ok(files)
}

//! Programs and libraries that depend on each other in a given shape.

use super::bodies::{Calls, Functions, Opens};
use super::image::{Export, Image, Place};
use super::{EXPORT_BYTES, IMPORT_BYTES, ORIGIN, library_of};
use crate::shape::{Kind, Shape, folder, function, library, variable};
use crate::{Counts, Files, Size, WorkloadError, limits};

const PROGRAM: &str = "main";

pub(crate) fn shape(shape: &Shape) -> Result<Files, WorkloadError> {
    let n = shape.n;
    if shape.kind == Kind::Symbols {
        limits::image(n.into(), EXPORT_BYTES + IMPORT_BYTES, "the images", &[Size::N])?;
    } else {
        let many = if shape.kind == Kind::SearchPath { "folders" } else { "libraries" };
        limits::number(n, many, &[Size::N])?;
    }
    let mut files = Files::new(PROGRAM, counts(shape));
    match shape.kind {
        Kind::Star | Kind::Chain | Kind::ReverseChain | Kind::Dense | Kind::Tls | Kind::Dlopen => {
            let kind = shape.kind;
            for number in 1..=n {
                files.add(library(number), false, move || numbered(kind, number, n));
            }
        }
        Kind::Symbols => files.add(library(1), false, move || one_library(n)),
        Kind::SearchPath => {
            for number in 1..=n {
                files.add_folder(folder(number));
            }
            let path = if n == 0 { library(1) } else { format!("{}/{}", folder(n), library(1)) };
            files.add(path, false, || one_library(1));
        }
    }
    let shape = *shape;
    files.add(PROGRAM, true, move || program(&shape));
    Ok(files)
}

/// One import is one relocation; there are no others.
fn counts(shape: &Shape) -> Counts {
    let n = shape.n.into();
    let (imports, exports) = match shape.kind {
        Kind::Star | Kind::Chain | Kind::ReverseChain | Kind::Dense => (0, n),
        Kind::Tls => (0, 2 * n),
        Kind::Symbols => (n, n),
        Kind::SearchPath => (1, 1),
        Kind::Dlopen => (1, n),
    };
    Counts { relocations: imports, imports, exports }
}

/// A library of a shape that has n of them: one function, and what it needs.
fn numbered(kind: Kind, number: u32, n: u32) -> Vec<u8> {
    let last = match kind {
        Kind::Chain | Kind::ReverseChain => n.min(number + 1),
        Kind::Dense => n,
        _ => number,
    };
    let needed: Vec<String> = (number + 1..=last).map(library).collect();
    let mut image = Image {
        runpath: (!needed.is_empty()).then(|| ORIGIN.to_owned()),
        needed,
        ..Image::default()
    };
    if kind == Kind::Tls {
        image.tls = u64::from(number).to_le_bytes().to_vec();
        image.exports = vec![Export { name: variable(number), place: Place::Tls(0), size: 8 }];
    }
    let functions = Functions { count: 1, globals: 0, first: number };
    library_of(library(number), [function(number)].into_iter(), functions, image)
}

fn one_library(functions: u32) -> Vec<u8> {
    let names = (1..=functions).map(function);
    let body = Functions { count: functions, globals: 0, first: 1 };
    library_of(library(1), names, body, Image::default())
}

fn program(shape: &Shape) -> Vec<u8> {
    let n = shape.n;
    let origin = Some(ORIGIN.to_owned());
    let base = Image { program: true, runpath: origin, ..Image::default() };
    let image = match shape.kind {
        Kind::Star | Kind::Dense | Kind::Tls => {
            Image { needed: (1..=n).map(library).collect(), ..base }
        }
        Kind::ReverseChain => Image { needed: (1..=n).rev().map(library).collect(), ..base },
        Kind::Chain => Image { needed: (1..=n.min(1)).map(library).collect(), ..base },
        Kind::Symbols => {
            Image { needed: vec![library(1)], imports: (1..=n).map(function).collect(), ..base }
        }
        Kind::SearchPath => searching(n, base),
        Kind::Dlopen => {
            let needed = vec!["libc.so.6".to_owned()];
            let image = Image { needed, imports: vec!["dlopen".to_owned()], ..base };
            return image.emit(&Opens { names: (1..=n).map(library).collect() });
        }
    };
    image.emit(&Calls { imports: image.imports.len() as u32 })
}

/// Without folders the library is named by its path, which is not searched for.
fn searching(folders: u32, base: Image) -> Image {
    let paths: Vec<_> = (1..=folders).map(|n| format!("{ORIGIN}/{}", folder(n))).collect();
    let (needed, runpath) = match folders {
        0 => (format!("{ORIGIN}/{}", library(1)), None),
        _ => (library(1), Some(paths.join(":"))),
    };
    Image { needed: vec![needed], runpath, imports: vec![function(1)], ..base }
}

//! `clang -cc1`, the compiler proper, of the static archives in Debian's packages: 86 MB of code in
//! some 176,000 functions.

use super::{Recipe, Task, arguments};
use std::path::Path;

/// How clang is made and launched.
pub const RECIPE: Recipe = Recipe {
    name: "clang",
    about: "clang -cc1, linked from the static archives of Debian's libclang-19-dev and llvm-19-dev",
    prepare: include_str!("clang/prepare.sh"),
    link: include_str!("clang/link.sh"),
    files: &[
        ("main.cpp", include_str!("clang/main.cpp")),
        ("hello.c", include_str!("clang/hello.c")),
        ("sort.c", include_str!("clang/sort.c")),
        ("shapes.cpp", include_str!("clang/shapes.cpp")),
    ],
    launches,
    held_out,
};

const C: &str = "-x c";
const CPP: &str = "-x c++ -fcxx-exceptions -fexceptions";

/// One run of the compiler on a source that needs no headers.
fn compiles(folder: &Path, title: &str, options: &str, source: &str) -> Task {
    let mut all = arguments("-cc1 -triple x86_64-linux-gnu -o /dev/null");
    all.extend(arguments(options));
    all.push(folder.join(source).into());
    Task { title: title.to_owned(), arguments: all }
}

fn launches(folder: &Path) -> Vec<Task> {
    let task = |title, options: &str, language: &str, source| {
        compiles(folder, title, &format!("{options} {language}"), source)
    };
    vec![
        task("C, -O2", "-emit-obj -O2", C, "hello.c"),
        task("C++, -O0", "-emit-obj -O0", CPP, "shapes.cpp"),
        task("C to assembly", "-S -O2 -vectorize-loops -vectorize-slp", C, "sort.c"),
        task("C++ to LLVM's form", "-emit-llvm -O1", CPP, "shapes.cpp"),
    ]
}

fn held_out(folder: &Path) -> Vec<Task> {
    let debug = format!("-emit-obj -O2 -debug-info-kind=constructor -dwarf-version=5 {C}");
    vec![
        compiles(folder, "C, -O2 -g", &debug, "sort.c"),
        compiles(folder, "preprocessing", &format!("-E {C}"), "hello.c"),
    ]
}

use crate::cases::{Case, Image, shows};

pub const CASES: &[Case] = &[Case::new(
    "names",
    "libraries without SONAME, of two names, at an absolute path, found by another's RUNPATH",
    images,
)
.arguments(&[
    "libnameless.so",
    "libtwice-1.so",
    "libtwice-2.so",
    "libouter.so.1",
    "libdeep.so",
    "{folder}/elsewhere/libabsolute.so",
    "{folder}/lib/../lib/libnameless.so",
    "libouter.so.1.2.3",
])
.prints(
    "
    nameless 1 twice 1 absolute 1 outer 1 deep 1
    name 1 is loaded 1
    name 2 is loaded 1
    name 3 is loaded 1
    name 4 is loaded 1
    name 5 is loaded 1
    name 6 is loaded 1
    name 7 is loaded 1
    name 8 is loaded 1
",
)
.evidence(&[
    shows("program", "-dW", "[libnameless.so]"),
    shows("program", "-dW", "[libtwice-1.so]"),
    shows("program", "-dW", "[libtwice-2.so]"),
    shows("program", "-dW", "[libouter.so.1]"),
    shows("program", "-dW", "/elsewhere/libabsolute.so]"),
    shows("lib/libouter.so.1.2.3", "-dW", "[$ORIGIN/private]"),
])];

fn images() -> Vec<Image> {
    let define = |name: &str| format!("-DNAME={name}");
    let library = |file: &str, name: &str| {
        Image::library(file, &["library.c"]).compile(&[&define(name)]).without_soname()
    };
    let elsewhere = |path: &str, name: &str| {
        Image::library_at(path, &["library.c"]).compile(&[&define(name)]).without_soname()
    };
    let wanted = [
        "-Llib",
        "-l:libnameless.so",
        "-l:libtwice-1.so",
        "-l:libtwice-2.so",
        "{folder}/elsewhere/libabsolute.so",
        "-l:libouter.so",
        "-Wl,-rpath-link,lib/private",
    ];
    let after = ["lib/libtwice-2.so", "lib/libouter.so", "lib/libouter.so.1"];
    let after = ["lib/libnameless.so", "elsewhere/libabsolute.so"].into_iter().chain(after);
    vec![
        library("libnameless.so", "nameless"),
        // One file, two names: it is loaded once.
        library("libtwice-1.so", "twice"),
        Image::alias("lib/libtwice-2.so", "libtwice-1.so").after(&["lib/libtwice-1.so"]),
        elsewhere("elsewhere/libabsolute.so", "absolute"),
        elsewhere("lib/private/libdeep.so", "deep").soname("libdeep.so"),
        // As libraries are installed: a file, its SONAME, and the name to link by.
        library("libouter.so.1.2.3", "outer")
            .compile(&["-DDEEPER"])
            .soname("libouter.so.1")
            .runpath("$ORIGIN/private")
            .needs(&["lib/private/libdeep.so"]),
        Image::alias("lib/libouter.so.1", "libouter.so.1.2.3").after(&["lib/libouter.so.1.2.3"]),
        Image::alias("lib/libouter.so", "libouter.so.1").after(&["lib/libouter.so.1"]),
        Image::program(&["main.c"]).link(&wanted).after(&after.collect::<Vec<_>>()),
    ]
}

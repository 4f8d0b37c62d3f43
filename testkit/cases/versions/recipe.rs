use crate::cases::{Case, Image, Linker, shows};

pub const CASES: &[Case] = &[Case::new(
    "versions",
    "one name in three versions of one library and a fourth of another: merged, all stay apart",
    images,
)
.prints(
    "
    program 3 stays 10 other 50 odd 9
    first 1 100 retired 7
    second 2 200
    dlvsym LIBVERSIONS_1.0 1
    dlvsym LIBVERSIONS_2.0 2
    dlvsym LIBVERSIONS_3.0 3
    dlvsym OTHER_1 50
    dlvsym NONE -1
    hidden version 7
    by handle 50
",
)
.evidence(&[
    shows("lib/libversions.so", "-W --dyn-syms", "foo@@LIBVERSIONS_3.0"),
    shows("lib/libfirst.so", "-VW", "Name: LIBVERSIONS_1.0"),
    shows("lib/libsecond.so", "-VW", "Name: LIBVERSIONS_2.0"),
    shows("program", "-VW", "Name: libodd-1.0.so.0").only_linked_by(Linker::Bfd),
])];

fn images() -> Vec<Image> {
    let script = |name: &str| format!("-Wl,--version-script,{{source}}/{name}.map");
    let old = |folder: &str, map: &str| {
        Image::link_only(&format!("{folder}/libversions.so"), &["stub.c"]).link(&[&script(map)])
    };
    let client = |name: &str, needs: &str| {
        let define = format!("-DNAME={name}");
        Image::library(&format!("lib{name}.so"), &["client.c"]).compile(&[&define]).needs(&[needs])
    };
    vec![
        Image::library("libversions.so", &["library.c"]).link(&[&script("versions")]),
        Image::library("libother.so", &["other.c"]).link(&[&script("other")]),
        old("1", "first"),
        old("2", "second"),
        // Its version is its own name, of characters that a version script cannot have.
        Image::library("libodd-1.0.so.0", &["odd.c"])
            .link_by(Linker::Bfd, &["-Wl,--default-symver"]),
        // Without a version script: its users ask for no version.
        Image::link_only("0/libversions.so", &["stub.c"]),
        client("first", "link/1/libversions.so").compile(&["-DRETIRED"]),
        client("second", "link/2/libversions.so"),
        client("plain", "link/0/libversions.so"),
        Image::program(&["main.c"]).needs(&[
            "lib/libversions.so",
            "lib/libodd-1.0.so.0",
            "lib/libother.so",
            "lib/libfirst.so",
            "lib/libsecond.so",
            "lib/libplain.so",
        ]),
    ]
}

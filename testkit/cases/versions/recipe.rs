use crate::cases::{Case, Image, Linker, shows};

pub const CASES: &[Case] = &[VERSIONS, PLUGINS];

/// Plug-ins ask for versions of a library that the program has already.
const PLUGINS: Case = Case::new(
    "versions-plugin",
    "plug-ins need old versions of the program's library: what stands for it must have them all",
    plugin_images,
)
.sources("versions")
.arguments(&[
    "{folder}/plugins/first.so",
    "{folder}/plugins/second.so",
    "{folder}/plugins/plain.so",
    "{folder}/plugins/third.so",
])
.prints(
    "
    program 3 9
    plug-in 1: 1 -1 -1 -1
    plug-in 2: -1 2 -1 -1
    plug-in 3: -1 -1 1 -1
    plug-in 4: -1 -1 -1 9
",
)
.evidence(&[
    shows("plugins/first.so", "-VW", "Name: LIBVERSIONS_1.0"),
    shows("plugins/third.so", "-VW", "Name: libodd-1.0.so.0").only_linked_by(Linker::Bfd),
]);

const VERSIONS: Case = Case::new(
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
]);

fn images() -> Vec<Image> {
    let client = |name: &str, needs: &str| {
        let define = format!("-DNAME={name}");
        Image::library(&format!("lib{name}.so"), &["client.c"]).compile(&[&define]).needs(&[needs])
    };
    let mut images = libraries();
    images.extend([
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
    ]);
    images
}

fn plugin_images() -> Vec<Image> {
    let client = |name: &str, needs: &str| {
        let define = format!("-DNAME={name}");
        Image::plugin(&format!("{name}.so"), &["client.c"]).compile(&[&define]).needs(&[needs])
    };
    let mut images = libraries();
    images.extend([
        client("first", "link/1/libversions.so"),
        client("second", "link/2/libversions.so"),
        client("plain", "link/0/libversions.so"),
        Image::plugin("third.so", &["third.c"]).needs(&["lib/libodd-1.0.so.0"]),
        Image::program(&["host.c"]).needs(&["lib/libversions.so", "lib/libodd-1.0.so.0"]),
    ]);
    images
}

/// The libraries, and what they were when their old users were linked.
fn libraries() -> Vec<Image> {
    let script = |name: &str| format!("-Wl,--version-script,{{source}}/{name}.map");
    let old = |folder: &str, map: &str| {
        Image::link_only(&format!("{folder}/libversions.so"), &["stub.c"]).link(&[&script(map)])
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
    ]
}

use crate::cases::{Case, Image, shows};

pub const CASES: &[Case] = &[
    Case::new("preload-not", "the control of the others: nothing is set", || images(program()))
        .sources("preload")
        .prints("library 1\nprogram: answer 1 ask 1\nLD_PRELOAD 0 LD_LIBRARY_PATH 0"),
    Case::new(
        "preload",
        "LD_PRELOAD replaces a function of a library: also of a merged one",
        || images(program()),
    )
    .environment(&[("LD_PRELOAD", "{folder}/preload/override.so")])
    .prints("library 1\npreloaded\nprogram: answer 3 ask 3\nLD_PRELOAD 1 LD_LIBRARY_PATH 0"),
    Case::new(
        "library-path",
        "LD_LIBRARY_PATH leads to another library: also for a merged one",
        || images(program()),
    )
    .sources("preload")
    .environment(&[("LD_LIBRARY_PATH", "{folder}/other")])
    .prints("library 2\nprogram: answer 2 ask 2\nLD_PRELOAD 0 LD_LIBRARY_PATH 1")
    .evidence(&[shows("program", "-dW", "(RUNPATH)")]),
    Case::new(
        "library-path-rpath",
        "DT_RPATH comes before LD_LIBRARY_PATH, which therefore changes nothing",
        || images(Image::program(&["main.c"]).rpath("$ORIGIN/lib")),
    )
    .sources("preload")
    .environment(&[("LD_LIBRARY_PATH", "{folder}/other")])
    .prints("library 1\nprogram: answer 1 ask 1\nLD_PRELOAD 0 LD_LIBRARY_PATH 1")
    .evidence(&[shows("program", "-dW", "(RPATH)")]),
];

fn program() -> Image {
    Image::program(&["main.c"])
}

fn images(program: Image) -> Vec<Image> {
    vec![
        Image::library("libanswer.so", &["library.c"]).compile(&["-DVALUE=1"]),
        Image::helper("other/libanswer.so", &["library.c"])
            .compile(&["-DVALUE=2"])
            .soname("libanswer.so"),
        Image::helper("preload/override.so", &["override.c"]),
        program.needs(&["lib/libanswer.so"]),
    ]
}

use crate::cases::{Case, Image, shows};

pub const CASES: &[Case] = &[
    Case::new(
        "weak",
        "of weak and strong definitions the first in loading order wins; absent weak ones stay null",
        || images(&["lib/libfirst.so", "lib/libsecond.so"]),
    )
    .prints(
        "
        program: chosen 1 number 10 kept 1000 replaced 4000 absent 0 0 0 weak 400
        first: chosen 1 number 10 overridden 200 kept 1000 replaced 4000 concealed 5
        first: absent 0 0 given 300
        second: chosen 1 number 10 kept 1000 concealed 6
    ",
    )
    .evidence(&[
        shows("lib/libfirst.so", "-W --dyn-syms", "FUNC WEAK DEFAULT"),
        shows("lib/libfirst.so", "-W --dyn-syms", "FUNC GLOBAL PROTECTED"),
        shows("lib/libfirst.so", "-W --dyn-syms", "NOTYPE WEAK DEFAULT UND absent"),
    ]),
    Case::new(
        "weak-second-first",
        "as weak, with the libraries in the other order: the other definitions win",
        || images(&["lib/libsecond.so", "lib/libfirst.so"]),
    )
    .sources("weak")
    .prints(
        "
        program: chosen 2 number 20 kept 3000 replaced 4000 absent 0 0 0 weak 400
        first: chosen 2 number 20 overridden 200 kept 1000 replaced 4000 concealed 5
        first: absent 0 0 given 300
        second: chosen 2 number 20 kept 3000 concealed 6
    ",
    ),
];

fn images(order: &[&str]) -> Vec<Image> {
    vec![
        Image::library("libfirst.so", &["first.c"]),
        Image::library("libsecond.so", &["second.c"]),
        Image::program(&["main.c"]).compile(&["-DREPLACES"]).link(&["-rdynamic"]).needs(order),
    ]
}

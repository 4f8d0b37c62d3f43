use crate::cases::{Case, Image, Linker, shows};

pub const CASES: &[Case] = &[
    Case::new(
        "interposition",
        "a program and a first library replace functions of later ones, of libc and of libstdc++",
        || images(&[], &["lib/libuser.so", "lib/libearlier.so"]),
    )
    .prints(
        "
        program: helper 20
        library: allocate 2 helper 20 symbolic 330 choice 3
        program: new 1 delete 1 malloc 1
    ",
    )
    .evidence(&[
        shows("lib/libsymbolic.so", "-dW", "SYMBOLIC").only_linked_by(Linker::Bfd),
        shows("program", "-W --dyn-syms", "malloc"),
    ]),
    Case::new(
        "interpose",
        "a library needed last says that it comes first (DF_1_INTERPOSE), which glibc ignores",
        || images(&["-Wl,-z,interpose"], &["lib/libuser.so", "lib/libsymbolic.so"]),
    )
    .sources("interposition")
    .prints(
        "
        program: helper 30
        library: allocate 2 helper 30 symbolic 330 choice 3
        program: new 1 delete 1 malloc 1
    ",
    )
    .evidence(&[shows("lib/libearlier.so", "-dW", "INTERPOSE")]),
];

fn images(earlier: &[&str], order: &[&str]) -> Vec<Image> {
    vec![
        Image::library("libbase.so", &["base.c"]),
        Image::library("libearlier.so", &["earlier.c"]).link(earlier),
        Image::library("libsymbolic.so", &["symbolic.c"]).link(&["-Wl,-Bsymbolic"]),
        Image::library("libuser.so", &["user.cc"])
            .compile(&["-fno-builtin"])
            .needs(&["lib/libbase.so", "lib/libsymbolic.so"]),
        Image::program(&["main.cc"]).link(&["-rdynamic"]).needs(order).needs(&[
            "lib/libbase.so",
            "lib/libsymbolic.so",
            "lib/libearlier.so",
        ]),
    ]
}

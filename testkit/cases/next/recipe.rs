use crate::cases::{Case, Image, shows};

pub const CASES: &[Case] = &[Case::new(
    "next",
    "RTLD_NEXT in a library finds the definition of a later one: merged, there is no next",
    || {
        vec![
            Image::library("libbase.so", &["base.c"]),
            Image::library("libwrap.so", &["wrap.c"]),
            Image::program(&["main.c"])
                .compile(&["-fno-builtin"])
                .link(&["-rdynamic"])
                .needs(&["lib/libwrap.so", "lib/libbase.so"]),
        ]
    },
)
.prints(
    "
    fetch 102 twice 203 wrapped 3
    wrapped: text
    next 3 first 30
    nothing next 1
",
)
.evidence(&[shows("lib/libwrap.so", "-W --dyn-syms", "dlsym@GLIBC")])];

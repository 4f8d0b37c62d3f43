use crate::cases::{Case, Image, shows};

pub const CASES: &[Case] = &[
    Case::new(
        "beside",
        "a program that finds its data beside itself must be where it was, or believe that it is",
        images,
    )
    .prints(
        "
        /proc/self/exe named program: the data
        argv[0] named program: the data
        realpath named program: the data
        AT_EXECFN named program: the data
        program_invocation_name named program: the data
        short name program
        comm program
        same 1
    ",
    )
    .evidence(&[shows("program", "-W --dyn-syms", "readlink@GLIBC")]),
    Case::new("beside-library", "a library that finds its data beside itself, by dladdr", images)
        .sources("beside")
        .arguments(&["library"])
        .prints("library data 1")
        .evidence(&[shows("lib/libbeside.so", "-W --dyn-syms", "dladdr@GLIBC")]),
];

fn images() -> Vec<Image> {
    vec![
        Image::data("data.txt", "the data\n"),
        Image::data("lib/library-data.txt", "the library's data\n"),
        Image::library("libbeside.so", &["library.c"]),
        Image::program(&["main.c"]).needs(&["lib/libbeside.so"]),
    ]
}

use crate::cases::{Case, Image, shows};

pub const CASES: &[Case] = &[
    Case::new(
        "sections",
        "symbols that linkers define, common, absolute and without size, in program and library",
        images,
    )
    .prints(
        "
        text 1 data 1 zeroes 1 last 1
        same 1 1 1
        start 1 brk 1
        absolute 0x1234 0x5678 0x5678
        things 1 only_of_program 1
        library: things 2 first_of_library 1 second_of_library 1
        library: common 6 7 sizeless 8 1
        library: own header 1 own dynamic 1
        common is one 1 1
        sizeless 8 magic 1 table 1
    ",
    )
    .evidence(&[shows("lib/libsections.so", "-W --dyn-syms", "ABS library_absolute")]),
    Case::new(
        "own-headers",
        "a program that compares its own headers with the kernel's: only moving them changes it",
        images,
    )
    .sources("sections")
    .arguments(&["headers"])
    .prints(
        "
        own headers 1 of 1
        own dynamic 1
        own entry 1
        own debugger's entry 1
    ",
    ),
];

fn images() -> Vec<Image> {
    vec![
        Image::library("libsections.so", &["library.c"])
            .compile(&["-fcommon"])
            .link(&["-Wl,--defsym=library_absolute=0x5678"]),
        Image::program(&["main.c"])
            .compile(&["-fcommon"])
            .link(&["-rdynamic", "-Wl,--defsym=program_absolute=0x1234"])
            .needs(&["lib/libsections.so"]),
    ]
}

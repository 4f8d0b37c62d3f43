use crate::cases::{Case, Image, shows};

pub const CASES: &[Case] = &[
    Case::new(
        "tls",
        "thread-local variables of all models in four libraries and the program become one block",
        || images(Image::program(&["main.c"])),
    )
    .prints(LINES)
    .evidence(&[
        shows("lib/libgeneral.so", "-rW", "R_X86_64_DTPMOD64"),
        shows("lib/libgeneral.so", "-rW", "R_X86_64_DTPOFF64"),
        shows("lib/libdescriptor.so", "-rW", "R_X86_64_TLSDESC"),
        shows("lib/libinitial.so", "-rW", "R_X86_64_TPOFF64"),
        shows("lib/libinitial.so", "-dW", "STATIC_TLS"),
        shows("lib/liblocal.so", "-rW", "R_X86_64_DTPMOD64"),
        shows("program", "-rW", "R_X86_64_TPOFF64"),
    ]),
    Case::new("tls-fixed", "as tls, in a program at fixed addresses", || {
        images(Image::program(&["main.c"]).at_fixed_addresses())
    })
    .sources("tls")
    .prints(LINES)
    .evidence(&[shows("program", "-hW", "EXEC")]),
    Case::new(
        "tls-plugin",
        "a plug-in has thread-local variables and uses those of a library that the program needs",
        plugin_images,
    )
    .sources("tls")
    .arguments(&["{folder}/plugins/late.so"])
    .prints(
        "
        by dlsym 1
        plugin: general 1005 50 own 71 71 program 1001
        program: general 1006 52
        plugin: general 1001 50 own 71 71 program 1001
        program: general 1002 52
        plugin: general 1001 50 own 71 71 program 1001
        program: general 1002 52
    ",
    )
    .evidence(&[shows("plugins/late.so", "-rW", "general_value + 0")]),
];

const LINES: &str = "
    general: value 12 target 101 line 2 aligned 1 hidden 5 5 own pointer 1 program 1001
    descriptor: value 13 target 201 line 2 aligned 1 hidden 6 6 own pointer 1 program 1001
    program: value 1001 zero 1001 target 6 aligned 1 same line 2 initial target 301
    general: value 12 target 102 line 2 aligned 1 hidden 5 5 own pointer 1 program 1002
    local: value 15 target 404 line 2 aligned 1 hidden 8 8 own pointer 1 program -1
    initial: value 25 target 305 line 4 aligned 1 hidden 10 17 own pointer 1 program 1006
    program: value 1006 zero 2007 target 10 aligned 1 same line 4 initial target 305
";

fn module(name: &str, number: u32, option: &str) -> Image {
    let defines = [format!("-DNAME={name}"), format!("-DNUMBER={number}"), option.to_owned()];
    Image::library(&format!("lib{name}.so"), &["module.c"])
        .compile(&defines.each_ref().map(String::as_str))
}

fn plugin_images() -> Vec<Image> {
    vec![
        module("general", 1, "-ftls-model=global-dynamic"),
        Image::plugin("late.so", &["plugin.c"]).needs(&["lib/libgeneral.so"]),
        Image::program(&["host.c"]).link(&["-rdynamic", "-pthread"]).needs(&["lib/libgeneral.so"]),
    ]
}

fn images(program: Image) -> Vec<Image> {
    vec![
        module("general", 1, "-ftls-model=global-dynamic"),
        module("descriptor", 2, "-mtls-dialect=gnu2"),
        module("initial", 3, "-ftls-model=initial-exec"),
        module("local", 4, "-ftls-model=local-dynamic").compile(&["-DLOCAL"]),
        program.link(&["-rdynamic", "-pthread"]).needs(&[
            "lib/libgeneral.so",
            "lib/libdescriptor.so",
            "lib/libinitial.so",
            "lib/liblocal.so",
        ]),
    ]
}

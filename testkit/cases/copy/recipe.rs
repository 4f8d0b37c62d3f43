use crate::cases::{Case, Compiler, Image, shows};

pub const CASES: &[Case] = &[
    Case::new(
        "copy",
        "COPY relocations: the library's own uses, pointers inside and other names go to the copy",
        || {
            let direct = &["-fdirect-access-external-data"];
            images(Image::program(&["main.c"]).compile_by(Compiler::Clang, direct))
        },
    )
    .arguments(&["-a", "first", "-a", "second"])
    .prints(LINES)
    .evidence(&[
        shows("program", "-rW", "R_X86_64_COPY"),
        shows("program", "-rW", "stdout@GLIBC"),
        shows("program", "-hW", "DYN"),
    ]),
    Case::new("copy-fixed", "as copy, in a program at fixed addresses", || {
        images(Image::program(&["main.c"]).at_fixed_addresses())
    })
    .sources("copy")
    .arguments(&["-a", "first", "-a", "second"])
    .prints(LINES)
    .evidence(&[shows("program", "-rW", "R_X86_64_COPY"), shows("program", "-hW", "EXEC")]),
];

const LINES: &str = "
    library sees 1 shared 8 self 1 other 1 small 11 alias 11 protected 77 pointer 1
    program sees 1 shared 10 self 1 other 1 small 11 alias 11
    library sees 111 shared 8 self 1 other 1 small 1021 alias 1021 protected 78 pointer 1
    program sees 111 small 1021 alias 1021
    addresses 1 1 1
    functions 1
    dlsym 1
    protected 1 1
    option first index 3
    option second index 5
    environ 1 1
    stdout 1
";

fn images(program: Image) -> Vec<Image> {
    vec![Image::library("libdata.so", &["library.c"]), program.needs(&["lib/libdata.so"])]
}

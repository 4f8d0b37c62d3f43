use crate::cases::{Case, Image, shows};

pub const CASES: &[Case] = &[
    Case::new(
        "dladdr",
        "dladdr names the file and the symbol of an address: merged, one file",
        images,
    )
    .sources("introspection")
    .arguments(&["dladdr"])
    .prints(
        "
            own in program as own
            library in libseen.so as visible
            libc in libc.so.6 as one of its own
            library place 0: libseen.so visible
            library place 1: libseen.so visible_data
            library place 2: libseen.so no symbol
        ",
    )
    .evidence(&[shows("program", "-W --dyn-syms", "dladdr@GLIBC")]),
    Case::new("modules", "dl_iterate_phdr counts modules and those that hold an address", images)
        .sources("introspection")
        .arguments(&["modules"])
        .prints(
            "
            held by 1 of 5: ''
            held by 1 of 5: 'libseen.so'
            held by 1 of 5: 'libseen.so'
        ",
        )
        .evidence(&[shows("program", "-W --dyn-syms", "dl_iterate_phdr@GLIBC")]),
    Case::new("dlinfo", "dlinfo and the list of a debugger tell of every module by name", images)
        .sources("introspection")
        .arguments(&["handles"])
        .prints(
            "
            dlinfo 1 libseen.so origin 1 lib
            search path 1 1
            debugger sees 5 modules, libseen.so 1 times
        ",
        )
        .evidence(&[shows("program", "-W --dyn-syms", "dlinfo@GLIBC")]),
];

fn images() -> Vec<Image> {
    vec![
        Image::library("libseen.so", &["library.c"]),
        Image::program(&["main.c"]).link(&["-rdynamic"]).needs(&["lib/libseen.so"]),
    ]
}

use crate::cases::{Case, Image, shows};

pub const CASES: &[Case] = &[
    Case::new(
        "unwind",
        "frames of a library are found and named; handlers at exit belong to the library",
        || images(Image::program(&["main.cc"])),
    )
    .prints(LINES)
    .evidence(&[shows("lib/libunwound.so", "-lW", "GNU_EH_FRAME")]),
    Case::new("unwind-fixed", "as unwind, in a program at fixed addresses", || {
        images(Image::program(&["main.cc"]).at_fixed_addresses())
    })
    .sources("unwind")
    .prints(LINES)
    .evidence(&[shows("program", "-hW", "EXEC")]),
];

const LINES: &str = "
    handles differ 1
    backtrace: leaf through_library main
    symbols name the library's function 1 times
    through 4
    caught 5 through the library
    unwound from a signal through the library 1
    library: after fork
    library: at_quick_exit
    child 4
    library: after fork
    child 6
    library: on exit text
    library: on_exit 0
    library: second atexit
    library: first atexit
    library: static object destroyed
";

fn images(program: Image) -> Vec<Image> {
    let option = &["-fno-optimize-sibling-calls", "-fnon-call-exceptions"];
    vec![
        Image::library("libunwound.so", &["library.cc"]).compile(option),
        program.compile(option).link(&["-rdynamic"]).needs(&["lib/libunwound.so"]),
    ]
}

use crate::cases::{Case, Image, shows};

pub const CASES: &[Case] = &[
    Case::new("execstack", "a program that asks for an executable stack and needs it", || {
        images(Image::program(&["main.c"]).link(&["-Wl,-z,execstack"]), &[])
    })
    .prints(RUNS)
    .evidence(&[shows("program", "-lW", " RWE ")]),
    Case::new(
        "execstack-library",
        "only a library asks for an executable stack: whatever holds it must ask, too",
        || images(Image::program(&["main.c"]), &["-Wl,-z,execstack"]),
    )
    .sources("execstack")
    .prints(RUNS)
    .evidence(&[shows("lib/libstack.so", "-lW", " RWE ")]),
    Case::new(
        "execstack-not",
        "nothing asks for an executable stack, so there must be none",
        || images(Image::program(&["main.c"]).compile(&["-DONLY_LOOKS"]), &[]),
    )
    .sources("execstack")
    .prints("stack is executable 0")
    .evidence(&[shows("program", "-lW", "GNU_STACK")]),
];

const RUNS: &str = "
    stack is executable 1
    main 42
    thread 43
";

fn images(program: Image, library: &[&str]) -> Vec<Image> {
    vec![
        Image::library("libstack.so", &["library.c"]).link(library),
        program.link(&["-pthread"]).needs(&["lib/libstack.so"]),
    ]
}

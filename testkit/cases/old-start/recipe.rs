use crate::cases::{Case, Image, shows};

pub const CASES: &[Case] = &[
    Case::new(
        "old-start",
        "a program from before glibc 2.34 runs its own arrays: they must run once, after libraries",
        || images(Image::program(&["start.S", "init.c", "main.c"])),
    )
    .arguments(&["argument"])
    .prints(LINES)
    .evidence(&[shows("program", "-W --dyn-syms", "__libc_start_main@GLIBC_2.2.5")]),
    Case::new("old-start-fixed", "as old-start, in a program at fixed addresses", || {
        images(Image::program(&["start.S", "init.c", "main.c"]).at_fixed_addresses())
    })
    .sources("old-start")
    .arguments(&["argument"])
    .prints(LINES)
    .evidence(&[shows("program", "-hW", "EXEC")]),
];

const LINES: &str = "
    library: constructor
    own __libc_csu_init: 1
    program: constructor 2 1
    main 2 argument constructed 1 library 5
    program: atexit
    program: destructor
    library: destructor
";

fn images(program: Image) -> Vec<Image> {
    vec![
        Image::library("libvalue.so", &["library.c"]),
        program.link(&["-nostartfiles"]).needs(&["lib/libvalue.so"]),
    ]
}

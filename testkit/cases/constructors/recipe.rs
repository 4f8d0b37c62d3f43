use crate::cases::{Case, Image, shows};

pub const CASES: &[Case] = &[
    Case::new(
        "constructors",
        "order of constructors and destructors: priorities, DT_INIT, preinit, dependencies",
        || {
            vec![
                module("base", &[]).compile(&["-DINIT"]).link(&["-Wl,-init,at_init,-fini,at_fini"]),
                module("left", &["lib/libbase.so"]),
                module("right", &["lib/libbase.so", "lib/libleft.so"]),
                // Needed first, but initialized after what it needs.
                Image::program(&["main.c"]).needs(&[
                    "lib/libright.so",
                    "lib/libbase.so",
                    "lib/libleft.so",
                ]),
            ]
        },
    )
    .arguments(&["four"])
    .prints(LINES)
    .evidence(&[
        shows("program", "-dW", "(PREINIT_ARRAY)"),
        shows("lib/libbase.so", "-dW", "(INIT)"),
        shows("lib/libbase.so", "-dW", "(FINI)"),
    ]),
    Case::new(
        "constructors-cycle",
        "two libraries that need each other are initialized in an order of the loader's own",
        || {
            vec![
                Image::link_only("libleft.so", &["module.c"]).compile(&["-DNAME=left"]),
                module("right", &["link/libleft.so"]),
                module("left", &["lib/libright.so"]),
                module("other", &["lib/libleft.so"]),
                Image::program(&["main.c"]).needs(&["lib/libother.so", "lib/libright.so"]),
            ]
        },
    )
    .sources("constructors")
    .arguments(&["four"])
    .prints(
        "
        program: preinit 2 1
        other: constructor 200
        program: main 4
    ",
    )
    .evidence(&[
        shows("lib/libright.so", "-dW", "[libleft.so]"),
        shows("lib/libleft.so", "-dW", "[libright.so]"),
    ]),
];

const LINES: &str = "
    program: preinit 2 1
    base: DT_INIT
    base: constructor 200
    base: constructor 300
    base: constructor
    left: constructor 200
    left: constructor
    right: constructor 200
    right: constructor
    program: constructor 150
    program: constructor 2 four
    program: main 4
    program: second atexit
    program: first atexit
    program: destructor
    right: destructor
    right: destructor 200
    left: destructor
    left: destructor 200
    base: destructor
    base: destructor 200
    base: DT_FINI
";

fn module(name: &str, needs: &[&str]) -> Image {
    let define = format!("-DNAME={name}");
    Image::library(&format!("lib{name}.so"), &["module.c"]).compile(&[&define]).needs(needs)
}

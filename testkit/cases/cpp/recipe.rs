use crate::cases::{Case, Compiler, Image, Linker, shows};

pub const CASES: &[Case] = &[
    Case::new(
        "cpp",
        "exceptions, types, inline and template statics are one across program, libraries, plug-in",
        || images(Image::program(&["main.cc"])),
    )
    .arguments(&["{folder}/plugins/plugin.so"])
    .prints(LINES)
    .evidence(&[
        shows("lib/libsecond.so", "-W --dyn-syms", "_ZN7Counter5countE"),
        // clang makes weak symbols instead; readelf knows the word of GNU ld's files only.
        shows("lib/libsecond.so", "-W --dyn-syms", "UNIQUE DEFAULT")
            .only_compiled_by(Compiler::Gcc)
            .only_linked_by(Linker::Bfd),
    ]),
    Case::new("cpp-fixed", "as cpp, in a program at fixed addresses", || {
        images(Image::program(&["main.cc"]).at_fixed_addresses())
    })
    .sources("cpp")
    .arguments(&["{folder}/plugins/plugin.so"])
    .prints(LINES)
    .evidence(&[shows("program", "-hW", "EXEC")]),
];

const LINES: &str = "
    base library: constructed
    second library: 2 words
    program: constructed after 2
    program caught fault of the base library
    second library caught fault of the base library 42
    second library caught a logic error: range of the base library
    second library caught 7
    caught 7021
    derived inline
    casts 110
    types 111
    function 11
    second library: thread-local destroyed after 2
    plug-in caught fault of the base library
    plug-in casts 1 types 1 catches 1
    program caught fault of the plug-in 43
    shared 4 111 1003
    second library: thread-local destroyed after 1
    base library: destroyed
";

fn images(program: Image) -> Vec<Image> {
    vec![
        Image::library("libbase.so", &["base.cc"]),
        Image::library("libsecond.so", &["second.cc"]).needs(&["lib/libbase.so"]),
        Image::plugin("plugin.so", &["plugin.cc"]).needs(&["lib/libsecond.so", "lib/libbase.so"]),
        program.link(&["-rdynamic", "-pthread"]).needs(&["lib/libsecond.so", "lib/libbase.so"]),
    ]
}

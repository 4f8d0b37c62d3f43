use crate::cases::{Case, Image, shows};

pub const CASES: &[Case] = &[
    Case::new(
        "plugin",
        "plug-ins use symbols of the program and of its library, which must not be loaded again",
        || images(program(), |plugin| plugin),
    )
    .arguments(&["plugins", "{folder}"])
    .prints(PLUGINS)
    .evidence(&[
        shows("plugins/absolute.so", "-dW", "(RUNPATH)"),
        shows("plugins/absolute.so", "-dW", "[libstate.so]"),
    ]),
    Case::new(
        "plugin-rpath",
        "as plugin, where the plug-ins have no search path and the program has DT_RPATH",
        || {
            let program = Image::program(&["main.c"]).rpath("$ORIGIN/lib:$ORIGIN/plugins");
            images(program, Image::without_search_path)
        },
    )
    .sources("plugin")
    .arguments(&["plugins", "{folder}"])
    .prints(PLUGINS)
    .evidence(&[shows("program", "-dW", "(RPATH)")]),
    Case::new(
        "plugin-fixed",
        "as plugin, in a program at fixed addresses, which has a copy of the library's data",
        || images(program().at_fixed_addresses(), |plugin| plugin),
    )
    .sources("plugin")
    .arguments(&["plugins", "{folder}"])
    .prints(PLUGINS)
    .evidence(&[shows("program", "-rW", "R_X86_64_COPY")]),
    Case::new(
        "dlopen-soname",
        "a library that the program needs is opened again by its name: the same one",
        || images(program(), |plugin| plugin),
    )
    .sources("plugin")
    .arguments(&["soname"])
    .prints(
        "
        state: constructed
        library not loaded again: 1 same 1
        library by name: 1 same 1
        library the program: 1 same 1
        default 1
        state 2 constructed 1 count 0
        state: destroyed at 2
    ",
    ),
    Case::new(
        "dlopen-path",
        "a library that the program needs is opened again by its path: the same file, the same one",
        || images(program(), |plugin| plugin),
    )
    .sources("plugin")
    .arguments(&["path", "{folder}"])
    .prints(
        "
        state: constructed
        library by path: 1 same 1
        library relative: 1 same 1
        state 2 constructed 1 count 0
        state: destroyed at 2
    ",
    ),
];

const PLUGINS: &str = "
    state: constructed
    absolute: constructed
    host: absolute runs
    absolute: state 12 of 12 constructed 1 same 1 provided 0
    absolute.so: loaded 1 ran 10
    named.so: loaded 1 ran 20
    origin.so: loaded 1 ran 30
    local is hidden 1
    provider.so: loaded 1 ran 40
    global is seen 1
    asker: state 152 of 152 constructed 1 same 1 provided 77
    absolute: destroyed
    closed 0
    state 152 constructed 1 count 150
    state: destroyed at 152
";

fn program() -> Image {
    Image::program(&["main.c"]).runpath("$ORIGIN/lib:$ORIGIN/plugins")
}

fn images(program: Image, changed: fn(Image) -> Image) -> Vec<Image> {
    let plugin = |name: &str, amount: u32| {
        let defines = [format!("-DNAME={name}"), format!("-DAMOUNT={amount}")];
        let plugin = Image::plugin(&format!("{name}.so"), &["plugin.c"]);
        let plugin = plugin.compile(&defines.each_ref().map(String::as_str));
        changed(plugin.needs(&["lib/libstate.so"]))
    };
    vec![
        Image::library("libstate.so", &["state.c"]),
        plugin("absolute", 10),
        plugin("named", 20),
        plugin("origin", 30),
        plugin("provider", 40).compile(&["-DPROVIDES"]),
        plugin("asker", 50).compile(&["-DASKS"]),
        program.link(&["-rdynamic"]).needs(&["lib/libstate.so"]),
    ]
}

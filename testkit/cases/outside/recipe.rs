use crate::cases::{Case, Image, Linker, Toolchain, shows};

pub const CASES: &[Case] = &[
    Case::new(
        "outside-addresses",
        "an address of libc is one, however a module comes by it: program, libraries, plug-in",
        || addresses(Image::program(ADDRESSES).compile(&["-fPIC"])),
    )
    .sources("outside")
    .arguments(&["{folder}/plugins/plugin.so"])
    .prints(SAME),
    Case::new(
        "outside-addresses-fixed",
        "as outside-addresses, in a program at fixed addresses, which has stubs and copies",
        || addresses(Image::program(ADDRESSES).at_fixed_addresses()),
    )
    .sources("outside")
    .arguments(&["{folder}/plugins/plugin.so"])
    .prints(SAME)
    .evidence(&[shows("program", "-hW", "EXEC")])
    .declining(crashes_by_mold),
    Case::new(
        "outside-addresses-apart",
        "an address with an offset into a function that a resolver selects",
        || addresses(Image::program(ADDRESSES).compile(&["-fPIC"])),
    )
    .sources("outside")
    .arguments(&["{folder}/plugins/plugin.so", "apart"])
    .prints(SAME),
    Case::new(
        "outside-data",
        "what anyone changes of libc's data is seen by all, by each of its names, and by libc",
        || data(Image::program(DATA).compile(&["-fPIC"]), false),
    )
    .sources("outside")
    .arguments(&["{folder}/plugins/plugin.so"])
    .environment(&[("OUTSIDE", "set")])
    .prints(SEEN),
    Case::new(
        "outside-data-fixed",
        "as outside-data, in a program at fixed addresses, which has copies of some",
        || data(Image::program(DATA).at_fixed_addresses(), false),
    )
    .sources("outside")
    .arguments(&["{folder}/plugins/plugin.so"])
    .environment(&[("OUTSIDE", "set")])
    // GNU ld gives only some of the other names of what it copies.
    .prints("first: constructed set 1 1\nplugin: single-threaded 0")
    .evidence(&[shows("program", "-rW", "R_X86_64_COPY")]),
    Case::new(
        "outside-end",
        "handlers of exit and fork, registered at construction and at destruction, run in order",
        || end(Image::program(END), &[]),
    )
    .sources("outside")
    .arguments(&["{folder}/plugins/plugin.so", "return"])
    .prints(
        "
        first: in the child
        plugin: at_quick_exit of at_quick_exit
        program: child by quick 3, 2 times in the parent
        program: on_exit of a constructor 0
        program: destroyed
        program: atexit of an atexit of a destructor
        plugin: destroyed
        plugin: __cxa_atexit of a destructor
        second: atexit of a destructor
        second: atexit of a constructor
        first: child by quick 3, 16 times in the parent
        first: atexit of an atexit of a destructor
        plugin: on_exit of a destructor 0
        first: on_exit of a constructor 0
    ",
    ),
    Case::new(
        "outside-end-close",
        "as outside-end, where the plug-in is closed before: its handlers run then",
        || end(Image::program(END), &["-DCLOSES"]),
    )
    .sources("outside")
    .arguments(&["{folder}/plugins/plugin.so", "close"])
    .prints(
        "
        plugin: destroyed
        plugin: child by quick 3, 10 times in the parent
        plugin: atexit of an atexit of a destructor
        plugin: atexit of a constructor
        closed 0
        program: atexit of a constructor
        first: on_exit of a constructor 0
    ",
    ),
    Case::new(
        "outside-end-again",
        "as outside-end, in a program at fixed addresses where a handler of exit calls exit",
        || end(Image::program(END).at_fixed_addresses(), &[]),
    )
    .sources("outside")
    .arguments(&["{folder}/plugins/plugin.so", "again"])
    .prints(
        "
        exit within exit
        registered before the second exit
        program: atexit of a constructor
        program: destroyed
        first: on_exit of a constructor 0
    ",
    ),
    Case::new(
        "outside-calls",
        "calls of libc, back from it and out of it, bound late, at once, and without a PLT",
        || calls(Image::program(CALLS)),
    )
    .sources("outside")
    .arguments(&["{folder}/plugins/plugin.so"])
    .prints(CALLED),
    Case::new("outside-calls-fixed", "as outside-calls, in a program at fixed addresses", || {
        calls(Image::program(CALLS).at_fixed_addresses())
    })
    .sources("outside")
    .arguments(&["{folder}/plugins/plugin.so"])
    .prints(CALLED),
    Case::new(
        "outside-steps",
        "unwinding leads to the caller from every instruction of a call of libc",
        || {
            let steps = |image: Image, name: &str| {
                let options = &["-fno-plt", "-fno-optimize-sibling-calls", "-fexceptions"];
                image.compile(options).compile(&[&format!("-DNAME={name}")])
            };
            let program = Image::program(&["steps-main.c", "steps.c"]).link(&["-rdynamic"]);
            vec![
                steps(Image::library("libfirst.so", &["steps.c"]), "first"),
                steps(program, "program").needs(&["lib/libfirst.so"]),
            ]
        },
    )
    .sources("outside")
    .prints("program: sum 16 steps 1 lost 0\nfirst: sum 16 steps 1 lost 0"),
    Case::new(
        "outside-versions",
        "old and new versions of a function of libc are two, for modules that name either",
        || versions(Image::program(VERSIONS).compile(&["-fPIC"])),
    )
    .sources("outside")
    .arguments(OF_VERSIONS)
    .prints(BY_VERSION)
    .declining(crashes_by_mold),
    Case::new(
        "outside-versions-none",
        "a plug-in that names no versions gets the oldest, though other modules use others",
        || versions(Image::program(VERSIONS).compile(&["-fPIC"])),
    )
    .sources("outside")
    .arguments(&[
        "{folder}/plugins/oldplugin.so",
        "{folder}/plugins/newplugin.so",
        "{folder}/plugins/without.so",
    ])
    .prints("plug-in without: oldold oldold oldold oldold oldold")
    .declining(crashes_by_mold),
    Case::new(
        "outside-versions-fixed",
        "as outside-versions, in a program at fixed addresses, which has stubs of its own",
        || versions(Image::program(VERSIONS).at_fixed_addresses()),
    )
    .sources("outside")
    .arguments(OF_VERSIONS)
    .prints("new: heeds 1 copied axyzefgh\nplug-in old: heeds 0 copied axyzefgh")
    .declining(crashes_by_mold),
    Case::new(
        "outside-files-fixed",
        "as outside-files, in a program at fixed addresses, which has stubs of its own",
        || more(Image::program(MORE).at_fixed_addresses()),
    )
    .sources("outside")
    .arguments(&["{folder}/plugins/plugin.so", "default", "files"])
    .prints("plugin: files: all the same 1")
    .declining(crashes_by_mold),
    Case::new("outside-throw", "exceptions leave functions that libc called", || {
        let named = |image: Image, name: &str| image.compile(&[&format!("-DNAME={name}")]);
        vec![
            named(Image::library("libfirst.so", &["throw.cc"]), "first").compile(&["-fno-plt"]),
            named(Image::program(&["throw-main.cc", "throw.cc"]), "program")
                .needs(&["lib/libfirst.so"]),
        ]
    })
    .sources("outside")
    .prints("first: bsearch: caught 'first compares'\nfirst: pthread_once: caught 5"),
    Case::new("outside-start", "functions of libc are constructors and destructors", || {
        let named = |image: Image, name: &str| image.compile(&[&format!("-DNAME={name}")]);
        vec![
            named(Image::library("libfirst.so", &["start.c"]), "first"),
            named(Image::program(&["start.c"]), "program")
                .compile(&["-DMAIN"])
                .needs(&["lib/libfirst.so"]),
        ]
    })
    .sources("outside")
    .environment(&[("TZ", "BEGIN5")])
    .prints(
        "
        first: constructed, zone BEGIN of BEGIN5
        program: constructed, zone first of first-2
        program: destroyed, zone END of END0
        first: destroyed, zone END of END0
    ",
    ),
    Case::new(
        "outside-deepbind",
        "as outside-data, where the plug-in (RTLD_DEEPBIND) prefers libc to the program",
        || data(Image::program(DATA).compile(&["-fPIC"]), true),
    )
    .sources("outside")
    .arguments(&["{folder}/plugins/plugin.so", "deep"])
    .environment(&[("OUTSIDE", "set")])
    .prints(SEEN),
    Case::new(
        "outside-handle-libc",
        "an address of libc is also that which its own handle leads to",
        || more(Image::program(MORE).compile(&["-fPIC"])),
    )
    .sources("outside")
    .arguments(&["{folder}/plugins/plugin.so", "libc", "libc-functions", "libc-data"])
    .prints("plugin: libc-functions: all the same 1\nplugin: libc-data: all the same 1"),
    Case::new(
        "outside-handle-plugin",
        "an address of libc is also that which the handle of a plug-in that needs it leads to",
        || more(Image::program(MORE).compile(&["-fPIC"])),
    )
    .sources("outside")
    .arguments(&["{folder}/plugins/plugin.so", "plug-in", "libc-functions", "libc-data"])
    .prints("plugin: libc-functions: all the same 1\nplugin: libc-data: all the same 1"),
    Case::new(
        "outside-handle-next",
        "an address of libc is also that which RTLD_NEXT leads to",
        || more(Image::program(MORE).compile(&["-fPIC"])),
    )
    .sources("outside")
    .arguments(&["{folder}/plugins/plugin.so", "next", "libc-functions", "libc-data"])
    .prints("plugin: libc-functions: all the same 1\nplugin: libc-data: all the same 1"),
    Case::new(
        "outside-files",
        "addresses of the functions of libc that know of files and modules are one, too",
        || more(Image::program(MORE)),
    )
    .sources("outside")
    .arguments(&["{folder}/plugins/plugin.so", "default", "files"])
    .prints("plugin: files: all the same 1"),
    Case::new("outside-synonyms", "two names of one function of libc have one address", || {
        more(Image::program(MORE))
    })
    .sources("outside")
    .arguments(&["{folder}/plugins/plugin.so", "default", "synonyms"])
    .prints("plugin: strtol strtoll 1"),
    Case::new(
        "outside-dladdr",
        "dladdr tells of a function of libc that it is libc's, and where it begins",
        || more(Image::program(MORE)),
    )
    .sources("outside")
    .arguments(&["{folder}/plugins/plugin.so", "default", "dladdr"])
    .prints("plugin: malloc: in libc.so.6, named 1, at its start 1"),
];

const VERSIONS: &[&str] = &["versions-main.c", "versions.c"];
const OF_VERSIONS: &[&str] = &["{folder}/plugins/oldplugin.so", "{folder}/plugins/newplugin.so"];
const BY_VERSION: &str = "
    differ 1 1 1 1 1
    default 1 1 1 1 1
    program old: oldold oldold oldold oldold oldold
    program new: NEWNEW NEWNEW NEWNEW NEWNEW NEWNEW
    old: oldold oldold oldold oldold oldold
    old: heeds 0 copied axyzefgh
    new: NEWNEW NEWNEW NEWNEW NEWNEW NEWNEW
    new: heeds 1 copied axyzefgh
    plug-in old: oldold oldold oldold oldold oldold
    plug-in new: NEWNEW NEWNEW NEWNEW NEWNEW NEWNEW
";

fn versions(program: Image) -> Vec<Image> {
    let named = |image: Image, name: &str| image.compile(&[&format!("-DNAME={name}")]);
    let plugin = |name: &str| named(Image::plugin(&format!("{name}.so"), &["versions.c"]), name);
    vec![
        named(Image::library("libold.so", &["versions.c"]), "old").compile(&["-DOLD"]),
        named(Image::library("libnew.so", &["versions.c"]), "new").compile(&["-DNEW"]),
        plugin("oldplugin").compile(&["-DOLD"]),
        plugin("newplugin").compile(&["-DNEW"]),
        plugin("without").link(&["-nostdlib"]),
        named(program, "program")
            .compile(&["-DOLD", "-DNEW"])
            .needs(&["lib/libold.so", "lib/libnew.so"]),
    ]
}

const MORE: &[&str] = &["more-main.c", "more.c"];

fn more(program: Image) -> Vec<Image> {
    let needs = &["lib/libown.so"];
    let named = |image: Image, name: &str| {
        image.compile(&[&format!("-DNAME={name}")]).needs(needs).link(&["-lm"])
    };
    vec![
        Image::library("libown.so", &["own.c"]),
        named(Image::library("libfirst.so", &["more.c"]), "first"),
        named(Image::library("libsecond.so", &["more.c"]), "second").compile(&["-fno-plt"]),
        Image::plugin("plugin.so", &["more.c"]).compile(&["-DNAME=plugin"]),
        named(program.needs(&["lib/libfirst.so", "lib/libsecond.so"]), "program"),
    ]
}

const END: &[&str] = &["end-main.c", "end.c"];
const CALLED: &str = "
    program: sorted 1 2 3, called by program_compares program_sorts program_calls
    lazy: sorted 1 2 3, called by lazy_compares lazy_sorts lazy_calls
    lazy: ticks in most 1 wrong 0
    now: cancelled 1
    now: result within qsort
    now: vfork 3
    direct: longjmp 6
    direct: contexts 111
    direct: libc's handler 1
    direct: jumped out of libc 1
    direct: constants wrong 0 protected 1
    direct: variables wrong 0 stdout 1
    direct: replaced 1
    plugin: replaced 1
";
const CALLS: &[&str] = &["calls-main.c", "calls.c"];

fn end(program: Image, of_plugin: &[&str]) -> Vec<Image> {
    let named = |image: Image, name: &str| image.compile(&[&format!("-DNAME={name}")]);
    vec![
        named(Image::library("libfirst.so", &["end.c"]), "first"),
        named(Image::library("libsecond.so", &["end.c"]), "second").needs(&["lib/libfirst.so"]),
        named(Image::plugin("plugin.so", &["end.c"]), "plugin")
            .compile(of_plugin)
            .needs(&["lib/libsecond.so"]),
        named(program, "program").needs(&["lib/libsecond.so", "lib/libfirst.so"]),
    ]
}

fn calls(program: Image) -> Vec<Image> {
    let options = &["-fno-optimize-sibling-calls", "-fexceptions"];
    let named =
        |image: Image, name: &str| image.compile(options).compile(&[&format!("-DNAME={name}")]);
    vec![
        named(Image::library("liblazy.so", &["calls.c"]), "lazy").link(&["-Wl,-z,lazy"]),
        named(Image::library("libnow.so", &["calls.c"]), "now").link(&["-Wl,-z,now"]),
        named(Image::library("libdirect.so", &["calls.c"]), "direct").compile(&["-fno-plt"]),
        named(Image::plugin("plugin.so", &["calls.c"]), "plugin").link(&["-Wl,-z,lazy"]),
        named(program, "program").link(&["-rdynamic"]).needs(&[
            "lib/liblazy.so",
            "lib/libnow.so",
            "lib/libdirect.so",
        ]),
    ]
}

const DATA: &[&str] = &["data-main.c", "data.c"];

const SEEN: &str = "
    first: constructed set 1 1
    plugin: constructed set 1 1
    second set: plugin sees second 1 asked second
    replaced: plugin sees only (none) asked only
    child: only more
    spawned: only more
    executed: only more
    cleared: plugin sees (none) empty 1
    [plugin: this by printf
    complaint: No such file or directory
    plugin: complains 1
    read 6566
    program: option 97 'one' index 3 3
    first: option 63 '' index 4 4
    second: option 98 'two' index 6 6
    full2: fault of plugin: No such file or directory
    who: file:5: once
    plugin: named full3 short3, 106 errors, one per line 1, by its own 1
    plugin: any 1 loopback 1 last 1
    plugin: syntax 1 date 1 domain libc sign -1
    version of the program
    program: unrecognized option '--wrong'
    parser 1
    program: XST XDT XDT 18000 1
    plugin: AAA AAA AAA 10800 0
    plugin: single-threaded 1
    plugin: single-threaded 0
    second: destroyed back
";

/// `alone`: with a plug-in that needs nothing but libc.
fn data(program: Image, alone: bool) -> Vec<Image> {
    let library = |name: &str, variant: u32, file| {
        let defines = [format!("-DNAME={name}"), format!("-DVARIANT={variant}")];
        let library = if name == "plugin" { Image::plugin } else { Image::library };
        let library = library(file, &["data.c"]);
        library.compile(&defines.each_ref().map(String::as_str))
    };
    vec![
        library("first", 1, "libfirst.so"),
        library("second", 2, "libsecond.so").needs(&["lib/libfirst.so"]),
        if alone {
            library("plugin", 2, "plugin.so").compile(&["-DALONE"])
        } else {
            library("plugin", 2, "plugin.so").needs(&["lib/libsecond.so"])
        },
        program
            .compile(&["-DNAME=program", "-DVARIANT=3"])
            .link(&["-lm"])
            .needs(&["lib/libsecond.so", "lib/libfirst.so"]),
    ]
}

fn crashes_by_mold(toolchain: Toolchain) -> Option<&'static str> {
    let broken = toolchain.linker == Linker::Mold;
    broken.then_some("mold 1.10 links it into a program that crashes")
}

const ADDRESSES: &[&str] = &["addresses-main.c", "addresses.c", "weak.c"];

const SAME: &str = "
    plug-in 1
    program: the same 10 of 10
    first: the same 10 of 10
    second: the same 10 of 10
    plug-in: the same 10 of 10
    thread: program: the same 10 of 10
    thread: first: the same 10 of 10
    thread: second: the same 10 of 10
    thread: plug-in: the same 10 of 10
    environ 1 1
    names 1 1
    time 1 1 1
    own 1
    qsort 1 stderr 1
    memcpy 1 1
";

fn addresses(program: Image) -> Vec<Image> {
    let all = &["addresses.c", "weak.c"];
    let needs = &["lib/libown.so"];
    vec![
        Image::library("libown.so", &["own.c"]),
        Image::library("libfirst.so", all).compile(&["-DNAME=first"]).needs(needs).link(&["-lm"]),
        Image::library("libsecond.so", all)
            .compile(&["-DNAME=second", "-fno-plt"])
            .needs(needs)
            .link(&["-lm", "-Wl,-z,now"]),
        Image::plugin("plugin.so", all).compile(&["-DNAME=plugin"]).needs(needs).link(&["-lm"]),
        program.compile(&["-DNAME=program"]).link(&["-lm"]).needs(&[
            "lib/libfirst.so",
            "lib/libsecond.so",
            "lib/libown.so",
        ]),
    ]
}

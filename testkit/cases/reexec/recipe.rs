use crate::cases::{Case, Image};

pub const CASES: &[Case] = &[Case::new(
    "reexec",
    "a program starts itself, by several names, and others: children see what they always saw",
    || {
        vec![
            Image::library("libshared.so", &["library.c"]),
            Image::helper("preload/override.so", &["override.c"]),
            Image::helper("helper", &["helper.c"]).needs(&["lib/libshared.so"]),
            Image::program(&["main.c"]).needs(&["lib/libshared.so"]),
        ]
    },
)
.arguments(&["{folder}/helper", "{folder}/preload/override.so"])
.prints(
    "
    child by /proc/self/exe: library 8 overridden 1 LD_PRELOAD unset LD_LIBRARY_PATH unset
    child by /proc/self/exe: other LD_ variables 0
    /proc/self/exe ended with 0
    child by argv[0]: library 8 overridden 1 LD_PRELOAD unset LD_LIBRARY_PATH unset
    argv[0] ended with 0
    child by posix_spawn: library 8 overridden 1 LD_PRELOAD unset LD_LIBRARY_PATH unset
    helper helper library 8
    child by argv[0] with LD_PRELOAD: library 8 overridden 2 LD_PRELOAD set LD_LIBRARY_PATH unset
    helper helper with LD_PRELOAD library 8
    /proc/self/exe with LD_LIBRARY_PATH ended with 0
    argv[0] without environment ended with 0
    child by exec: library 8 overridden 1 LD_PRELOAD unset LD_LIBRARY_PATH unset
    child by exec: other LD_ variables 0
",
)];

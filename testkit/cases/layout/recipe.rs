use crate::cases::{Case, Compiler, Image, Linker, Toolchain, shows};

/// Each way of laying out files: how the linker is asked for it.
pub const CASES: &[Case] = &[
    Case::new("layout", "as linkers lay programs out by default", || {
        images(Image::program(&["main.c"]), |image| image)
    })
    .prints(LINES),
    Case::new(
        "layout-noseparate",
        "code shares pages with data that is only read (-z noseparate-code)",
        || images(Image::program(&["main.c"]), |image| image.link(&["-Wl,-z,noseparate-code"])),
    )
    .sources("layout")
    .prints(LINES)
    .declining(one_compiler),
    Case::new("layout-separate", "code has pages of its own (-z separate-code)", || {
        images(Image::program(&["main.c"]), |image| image.link(&["-Wl,-z,separate-code"]))
    })
    .sources("layout")
    .prints(LINES)
    .declining(one_compiler),
    Case::new("layout-2m", "segments are aligned to 2 MiB (-z max-page-size)", || {
        images(Image::program(&["main.c"]), |image| image.link(&["-Wl,-z,max-page-size=0x200000"]))
    })
    .sources("layout")
    .prints(LINES)
    .evidence(&[shows("lib/libfirst.so", "-lW", "0x200000")])
    .declining(one_compiler),
    Case::new("layout-relr", "relative relocations are packed (DT_RELR)", || {
        images(Image::program(&["main.c"]), packed)
    })
    .sources("layout")
    .prints(LINES)
    .evidence(&[shows("lib/libfirst.so", "-dW", "(RELR)")])
    .declining(packing),
    Case::new("layout-sysv-hash", "symbols are found by DT_HASH alone", || {
        images(Image::program(&["main.c"]), |image| image.link(&["-Wl,--hash-style=sysv"]))
    })
    .sources("layout")
    .prints(LINES)
    .evidence(&[shows("lib/libfirst.so", "-dW", "(HASH)")])
    .declining(one_compiler),
    Case::new("layout-gnu-hash", "symbols are found by DT_GNU_HASH alone", || {
        images(Image::program(&["main.c"]), |image| image.link(&["-Wl,--hash-style=gnu"]))
    })
    .sources("layout")
    .prints(LINES)
    .evidence(&[shows("lib/libfirst.so", "-dW", "(GNU_HASH)")])
    .declining(one_compiler),
    Case::new("layout-both-hashes", "symbols are in both kinds of hash table", || {
        images(Image::program(&["main.c"]), |image| image.link(&["-Wl,--hash-style=both"]))
    })
    .sources("layout")
    .prints(LINES)
    .evidence(&[shows("lib/libfirst.so", "-dW", "(HASH)")])
    .declining(one_compiler),
    Case::new("layout-norelro", "nothing becomes read-only after relocation (-z norelro)", || {
        images(Image::program(&["main.c"]), |image| image.link(&["-Wl,-z,norelro"]))
    })
    .sources("layout")
    .prints(LINES)
    .declining(one_compiler),
    Case::new("layout-now", "everything is bound at once (DF_BIND_NOW)", || {
        images(Image::program(&["main.c"]), |image| image.link(&["-Wl,-z,now"]))
    })
    .sources("layout")
    .prints(LINES)
    .evidence(&[shows("program", "-dW", "NOW")])
    .declining(one_compiler),
    Case::new("layout-lazy", "functions are bound on their first call", || {
        images(Image::program(&["main.c"]), |image| image.link(&["-Wl,-z,lazy"]))
    })
    .sources("layout")
    .prints(LINES)
    .evidence(&[shows("program", "-rW", "R_X86_64_JUMP_SLO")])
    .declining(one_compiler),
    Case::new(
        "layout-fixed-lazy",
        "at fixed addresses a function's address is the program's own entry for it",
        || {
            images(Image::program(&["main.c"]).at_fixed_addresses(), |image| {
                image.link(&["-Wl,-z,lazy"])
            })
        },
    )
    .sources("layout")
    .prints(LINES)
    .evidence(&[shows("program", "-hW", "EXEC")]),
    Case::new("layout-fixed-now", "as layout-fixed-lazy, bound at once", || {
        images(Image::program(&["main.c"]).at_fixed_addresses(), |image| {
            image.link(&["-Wl,-z,now"])
        })
    })
    .sources("layout")
    .prints(LINES)
    .evidence(&[shows("program", "-hW", "EXEC")])
    .declining(one_compiler),
];

const LINES: &str = "
    library 52 second 1
    addresses 1 1 1 1
    dlsym 1
    calls 2 0 0
    written 53 0
";

fn one_compiler(toolchain: Toolchain) -> Option<&'static str> {
    let second = toolchain.compiler == Compiler::Clang;
    second.then_some("the layout is the linker's work, whatever the compiler")
}

fn packing(toolchain: Toolchain) -> Option<&'static str> {
    let without = toolchain.linker == Linker::Mold;
    let reason = "mold 1.10 packs, but does not need GLIBC_ABI_DT_RELR: glibc refuses such files";
    if without { Some(reason) } else { one_compiler(toolchain) }
}

fn packed(image: Image) -> Image {
    image.link(&["-Wl,-z,pack-relative-relocs"])
}

fn images(program: Image, changed: fn(Image) -> Image) -> Vec<Image> {
    vec![
        changed(Image::library("libfirst.so", &["library.c"])),
        changed(Image::library("libsecond.so", &["second.c"]).needs(&["lib/libfirst.so"])),
        changed(program.needs(&["lib/libsecond.so", "lib/libfirst.so"])),
    ]
}

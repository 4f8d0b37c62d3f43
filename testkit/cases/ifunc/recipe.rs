use crate::cases::{Case, Image, Linker, shows};

pub const CASES: &[Case] = &[
    Case::new(
        "ifunc",
        "resolvers read relocated data, so they must run after it is; addresses stay one",
        || images(Image::program(&["main.c"])),
    )
    .prints(LINES)
    .evidence(&[
        shows("lib/libpick.so", "-rW", "R_X86_64_IRELATIV"),
        shows("lib/libpick.so", "-rW", "pick() pick + 0"),
        shows("program", "-rW", "R_X86_64_IRELATIV"),
    ]),
    Case::new("ifunc-fixed", "as ifunc, in a program at fixed addresses", || {
        images(Image::program(&["main.c"]).at_fixed_addresses())
    })
    .sources("ifunc")
    .prints(LINES)
    .evidence(&[shows("program", "-hW", "EXEC")])
    .declining(|toolchain| {
        let broken = toolchain.linker == Linker::Mold;
        broken.then_some("mold 1.10 links it into a program that crashes")
    }),
];

const LINES: &str = "
    called 2 4 4 21
    through pointers 2 4 4
    in program and library: same
    in data of both: same
    own in code and data: same
    dlsym calls 2
    length 4
";

fn images(program: Image) -> Vec<Image> {
    vec![Image::library("libpick.so", &["library.c"]), program.needs(&["lib/libpick.so"])]
}

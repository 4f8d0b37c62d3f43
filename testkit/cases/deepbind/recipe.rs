use crate::cases::{Case, Image, Linker, shows};

pub const CASES: &[Case] = &[Case::new(
    "deepbind",
    "RTLD_DEEPBIND and -Bsymbolic plug-ins prefer their own definitions to those of the program",
    || {
        let plugin = |name| Image::plugin(name, &["plugin.c"]).needs(&["lib/libshared.so"]);
        vec![
            Image::library("libshared.so", &["library.c"]),
            plugin("usual.so"),
            plugin("deep.so"),
            plugin("symbolic.so").link(&["-Wl,-Bsymbolic"]),
            Image::program(&["main.c"])
                .runpath("$ORIGIN/lib:$ORIGIN/plugins")
                .needs(&["lib/libshared.so"]),
        ]
    },
)
.prints(
    "
    program: shared 1 number 10 library 1
    usual: own calls 1 number 10 library 1 by handle 2
    deep: own calls 2 number 20 library 1 by handle 2
    symbolic: own calls 2 number 20 library 1 by handle 2
    program: shared 1 number 10 library 1
",
)
.evidence(&[shows("plugins/symbolic.so", "-dW", "SYMBOLIC").only_linked_by(Linker::Bfd)])];

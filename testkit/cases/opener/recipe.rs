use crate::cases::{Case, Image, shows};

pub const CASES: &[Case] = &[Case::new(
    "opener",
    "dlopen in a library searches by that library's RUNPATH and folder: merged, by the program's",
    || {
        let inner = |name: &str, amount: u32| {
            let define = format!("-DAMOUNT={amount}");
            Image::plugin_at(&format!("lib/private/{name}.so"), &["inner.c"])
                .compile(&[&define])
                .runpath("$ORIGIN/..")
                .needs(&["lib/libopener.so"])
        };
        vec![
            Image::library("libopener.so", &["library.c"]).runpath("$ORIGIN/private"),
            inner("early", 1),
            inner("late", 10),
            inner("origin", 100),
            inner("never", 1000),
            Image::program(&["main.c"]).needs(&["lib/libopener.so"]),
        ]
    },
)
.prints(
    "
    library: from its constructor 2
    library: by name 12
    library: by $ORIGIN 112
    library: not there -1
    program: by name 0
    program: state 112
",
)
.evidence(&[
    shows("lib/libopener.so", "-dW", "[$ORIGIN/private]"),
    shows("program", "-dW", "[$ORIGIN/lib]"),
])];

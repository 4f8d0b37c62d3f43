use crate::cases::{Case, Image, shows};

pub const CASES: &[Case] = &[Case::new(
    "handle",
    "handlers of a module that another one has registered with its handle come when it is finalized",
    || {
        vec![
            Image::library("libregistry.so", &["registry.c"]),
            Image::library("libuser.so", &["user.c"]).needs(&["lib/libregistry.so"]),
            Image::program(&["main.c"]).link(&["-Wl,--no-as-needed"]).needs(&["lib/libuser.so"]),
        ]
    },
)
.prints(
    "
    program
    user: destructor
    user: second registered, usable 1
    user: first registered, usable 1
    registry: gone
",
)
.evidence(&[shows("lib/libuser.so", "-dW", "(FINI_ARRAY)")])];

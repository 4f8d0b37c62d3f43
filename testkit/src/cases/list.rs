//! Every case.

use super::Case;
use std::sync::LazyLock;

#[path = "../../cases/constructors/recipe.rs"]
mod constructors;
#[path = "../../cases/copy/recipe.rs"]
mod copy;
#[path = "../../cases/cpp/recipe.rs"]
mod cpp;
#[path = "../../cases/deepbind/recipe.rs"]
mod deepbind;
#[path = "../../cases/ifunc/recipe.rs"]
mod ifunc;
#[path = "../../cases/interposition/recipe.rs"]
mod interposition;
#[path = "../../cases/introspection/recipe.rs"]
mod introspection;
#[path = "../../cases/next/recipe.rs"]
mod next;
#[path = "../../cases/plugin/recipe.rs"]
mod plugin;
#[path = "../../cases/tls/recipe.rs"]
mod tls;
#[path = "../../cases/versions/recipe.rs"]
mod versions;
#[path = "../../cases/weak/recipe.rs"]
mod weak;

static ALL: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let recipes = [
        tls::CASES,
        ifunc::CASES,
        copy::CASES,
        constructors::CASES,
        versions::CASES,
        cpp::CASES,
        weak::CASES,
        plugin::CASES,
        next::CASES,
        deepbind::CASES,
        introspection::CASES,
        interposition::CASES,
    ];
    recipes.concat()
});

/// Every case, in the order of the list.
pub fn all() -> &'static [Case] {
    &ALL
}

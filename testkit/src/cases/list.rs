//! Every case.

use super::Case;
use std::sync::LazyLock;

#[path = "../../cases/beside/recipe.rs"]
mod beside;
#[path = "../../cases/constructors/recipe.rs"]
mod constructors;
#[path = "../../cases/copy/recipe.rs"]
mod copy;
#[path = "../../cases/cpp/recipe.rs"]
mod cpp;
#[path = "../../cases/deepbind/recipe.rs"]
mod deepbind;
#[path = "../../cases/execstack/recipe.rs"]
mod execstack;
#[path = "../../cases/handle/recipe.rs"]
mod handle;
#[path = "../../cases/ifunc/recipe.rs"]
mod ifunc;
#[path = "../../cases/interposition/recipe.rs"]
mod interposition;
#[path = "../../cases/introspection/recipe.rs"]
mod introspection;
#[path = "../../cases/layout/recipe.rs"]
mod layout;
#[path = "../../cases/many/recipe.rs"]
mod many;
#[path = "../../cases/names/recipe.rs"]
mod names;
#[path = "../../cases/next/recipe.rs"]
mod next;
#[path = "../../cases/old-start/recipe.rs"]
mod old_start;
#[path = "../../cases/opener/recipe.rs"]
mod opener;
#[path = "../../cases/outside/recipe.rs"]
mod outside;
#[path = "../../cases/plugin/recipe.rs"]
mod plugin;
#[path = "../../cases/preload/recipe.rs"]
mod preload;
#[path = "../../cases/reexec/recipe.rs"]
mod reexec;
#[path = "../../cases/sections/recipe.rs"]
mod sections;
#[path = "../../cases/tls/recipe.rs"]
mod tls;
#[path = "../../cases/unwind/recipe.rs"]
mod unwind;
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
        opener::CASES,
        next::CASES,
        deepbind::CASES,
        introspection::CASES,
        interposition::CASES,
        old_start::CASES,
        execstack::CASES,
        many::CASES,
        layout::CASES,
        beside::CASES,
        reexec::CASES,
        names::CASES,
        unwind::CASES,
        sections::CASES,
        preload::CASES,
        outside::CASES,
        handle::CASES,
    ];
    recipes.concat()
});

/// Every case, in the order of the list.
pub fn all() -> &'static [Case] {
    &ALL
}

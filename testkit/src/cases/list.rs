//! Every case.

use super::Case;
use std::sync::LazyLock;

#[path = "../../cases/constructors/recipe.rs"]
mod constructors;
#[path = "../../cases/copy/recipe.rs"]
mod copy;
#[path = "../../cases/ifunc/recipe.rs"]
mod ifunc;
#[path = "../../cases/tls/recipe.rs"]
mod tls;

static ALL: LazyLock<Vec<Case>> =
    LazyLock::new(|| [tls::CASES, ifunc::CASES, copy::CASES, constructors::CASES].concat());

/// Every case, in the order of the list.
pub fn all() -> &'static [Case] {
    &ALL
}

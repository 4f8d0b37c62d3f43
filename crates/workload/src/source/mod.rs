//! Equivalent C sources, and the `build.sh` that makes the same images of them by gcc.

mod dawson;
mod main_c;
mod pietrek;
mod script;
mod shape;

pub(crate) use dawson::dawson;
pub(crate) use pietrek::pietrek;
pub(crate) use shape::shape;
